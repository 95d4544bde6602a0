package agl_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
)

// A workflow is called at least twice on a resume, and one Job may be started
// many times.
func TestWhatAWorkflowChangesInItsParametersTheNextCallDoesNotSee(t *testing.T) {
	t.Parallel()
	type params struct{ Seen map[string]int }
	var seen []int
	wf := agl.NewWorkflow(agl.Spec{Name: "greedy", Version: 1, Roles: []agl.Role{editor}},
		func(ctx context.Context, run *agl.Run, p params) error {
			seen = append(seen, p.Seen["calls"])
			p.Seen["calls"]++
			return run.Step(ctx, editor.Commit("change"), agl.In("calls", p.Seen["calls"]))
		})
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(wf.With(params{map[string]int{"calls": 1}})))
	require.NoError(t, w.resume(wf))
	require.Equal(t, []int{1, 1}, seen)
	require.Len(t, w.agents(), 1)
}
