package agl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

func TestARunThatLandsUnbuiltSaysSoOnce(t *testing.T) {
	t.Parallel()
	fails := true
	wf := script(func(ctx context.Context, run *agl.Run) error {
		for _, name := range []string{"a", "b"} {
			child, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			if err := child.Step(ctx, editor.Commit("build")); err != nil {
				return err
			}
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
		}
		return run.Step(ctx, reader)
	})
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == "reader" {
			if fails {
				return nil, ports.Unavailable.Errorf("", "no")
			}
			return findings{}, nil
		}
		tn.write(tn.Namespace+".txt", "x")
		return patch{}, nil
	})
	// told returns what is told in one process, in order.
	told := func(do func(*agl.Engine) error) (all []string, err error) {
		engine, err := agl.New(w.set, &agl.Options{Events: func(e agl.Event) {
			switch what := e.What.(type) {
			case agl.Opened:
				all = append(all, "opened "+e.Namespace)
			case agl.Hit:
				all = append(all, "hit "+e.Namespace)
			case agl.Noted:
				if strings.Contains(what.Text, "no build command") {
					all = append(all, "noted "+e.Namespace)
				}
			}
		}})
		require.NoError(t, err)
		err = do(engine)
		require.NoError(t, engine.Close())
		return all, err
	}
	start := func(e *agl.Engine) error { return e.Start(t.Context(), "job", job(wf), nil) }
	resume := func(e *agl.Engine) error { return e.Resume(t.Context(), "job", wf, nil) }

	all, err := told(start)
	require.ErrorIs(t, err, agl.Unavailable)
	require.Equal(t, []string{"noted ", "opened a", "opened b"}, all)
	fails = false
	all, err = told(resume)
	require.NoError(t, err)
	require.Equal(t, []string{"noted ", "hit a", "hit a", "hit a", "hit b", "hit b", "hit b"}, all)
	all, err = told(resume)
	require.NoError(t, err)
	require.Empty(t, all, "everything is recorded: nothing lands")
	_, err = told(func(e *agl.Engine) error { _, err := e.Clear(t.Context(), "job"); return err })
	require.NoError(t, err)

	w.verifier.Command = "make"
	all, err = told(start)
	require.NoError(t, err)
	require.Equal(t, []string{"opened a", "opened b"}, all)
}
