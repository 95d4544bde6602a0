package agl_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// Three landings: the first holds the checkout until the others wait, and then
// the last waits for the second.
func TestALandingIsToldForWhomItWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		tn.write(tn.Namespace+".txt", "x")
		return patch{}, nil
	})
	names := []string{"a", "b", "c"}
	queued, waiting := make(chan struct{}), 0
	told := map[string][]string{}
	var order []string
	w.set.Verifier = &mem.Verifier{Command: "make", Find: func(ctx context.Context, _ ports.VerifyTask, _ int) (ports.Verdict, error) {
		select {
		case <-queued:
			return ports.Verdict{Passed: true}, nil
		case <-ctx.Done():
			return ports.Verdict{}, ctx.Err()
		}
	}}
	var status agl.Status
	wf := script(func(ctx context.Context, run *agl.Run) error {
		children := map[string]*agl.Run{}
		for _, name := range names {
			child, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			children[name] = child
		}
		return each(names, func(name string) error {
			if err := children[name].Step(ctx, editor.Commit("build")); err != nil {
				return err
			}
			return children[name].Integrate(ctx, agl.Abandon)
		})
	})
	var engine *agl.Engine
	engine, err := agl.New(w.set, &agl.Options{Events: func(e agl.Event) {
		switch what := e.What.(type) {
		case agl.Began:
			if what.Kind == agl.KindLanding {
				order = append(order, what.Name)
			}
		case agl.Waits:
			told[e.Namespace] = append(told[e.Namespace], what.For)
			if waiting++; waiting == 2 {
				status, _ = engine.Status(t.Context(), "job")
				close(queued)
			}
		}
	}})
	require.NoError(t, err)
	require.NoError(t, engine.Start(t.Context(), "job", job(wf), nil))
	require.NoError(t, engine.Close())

	require.Len(t, order, 3)
	first, second, last := order[0], order[1], order[2]
	require.Equal(t, map[string][]string{second: {first, ""}, last: {first, second, ""}}, told)
	for _, ns := range status.Namespaces {
		want := ""
		if ns.Namespace == second || ns.Namespace == last {
			want = first
		}
		require.Equal(t, want, ns.Waiting, ns.Namespace)
	}
}
