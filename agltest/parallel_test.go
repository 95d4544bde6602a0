package agltest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/agltest"
)

func TestHarnessesShareNothing(t *testing.T) {
	t.Parallel()
	for i := range 64 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			h := agltest.New(t)
			agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
				var request string
				turn.Input("request", &request)
				turn.WriteFile("request.txt", fmt.Sprint(request, turn.N))
				return patch{request}, nil
			})
			again := make([]findings, i%3+1)
			for n := range i % 3 {
				again[n].Items = []string{fmt.Sprint(i)}
			}
			agltest.Reply(h, reader, again...)
			require.NoError(t, h.Start(fix.With(params{Request: fmt.Sprintf("request %d, round ", i)})))
			require.Equal(t, map[string]string{"request.txt": fmt.Sprintf("request %d, round %d", i, i%3+1)}, h.Files())
			require.Len(t, h.Journal(), 2*(i%3+1))
			require.Len(t, h.Agents(), 2*(i%3+1))
			plan, err := h.Plan(fix)
			require.NoError(t, err)
			require.Nil(t, plan.Namespaces[0].Miss)
			require.NoError(t, h.Resume(fix))
		})
	}
}
