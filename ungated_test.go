package agl_test

import (
	"context"
	"errors"
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

func TestAResumeWithoutTheBuildCommandLandsNothing(t *testing.T) {
	t.Parallel()
	wf := splitWith(1, agl.Abandon)
	red := true
	w, runs := gated(t, func(ports.VerifyTask, int) (ports.Verdict, error) {
		return ports.Verdict{Passed: !red, Output: "red"}, nil
	})
	jobs := wf.With(chunks{[]string{"a"}})
	require.ErrorIs(t, w.start(jobs), agl.Conflicted)
	require.Equal(t, 1, *runs)
	records := w.store.Documents("job", "records/")

	w.verifier.Command = ""
	const refusal = `run "job" was started with the build command "make", and now there is none: give it again (--build, AGL_BUILD, project.toml), or --build true to land unbuilt`
	for name, resume := range map[string]func() error{
		"Resume":           func() error { return w.resume(wf) },
		"Resume, Retry":    func() error { return w.resume(wf, agl.ResumeOptions{Retry: true}) },
		"Resume, Rebuy":    func() error { return w.resume(wf, agl.ResumeOptions{Rebuy: true}) },
		"Start of the job": func() error { return w.start(jobs, agl.StartOptions{Resume: true}) },
	} {
		err := resume()
		require.ErrorIs(t, err, agl.Conflicted, name)
		require.EqualError(t, err, refusal, name)
		require.Equal(t, records, w.store.Documents("job", "records/"), "%s: nothing is recorded, nor given up", name)
		require.NotContains(t, w.files(), "a.txt", name)
	}
	require.Equal(t, []string{"builder#1"}, w.agents())
	plan, err := w.engine().Plan(t.Context(), "job", wf)
	require.NoError(t, err)
	require.Equal(t, refusal, plan.Refused)

	w.verifier.Command, red = "make all", false
	e := w.engine()
	require.NoError(t, e.Resume(t.Context(), "job", wf, nil))
	require.Contains(t, w.files(), "a.txt")
	require.NoError(t, e.Close(), "all its events are delivered")
	require.Equal(t, 1, w.noted(`the run was started with the build command "make", it goes on with "make all"`))

	w.verifier.Command = ""
	require.NoError(t, w.resume(wf), "everything is recorded: nothing lands")
	plan, err = w.engine().Plan(t.Context(), "job", wf)
	require.NoError(t, err)
	require.Empty(t, plan.Refused)
}

func TestWhatIsVerifiedIsReplayedWithoutTheBuildCommand(t *testing.T) {
	t.Parallel()
	fails := errors.New("not yet")
	wf := script(func(ctx context.Context, run *agl.Run) error {
		_, err := run.Verify(ctx)
		return errors.Join(err, fails)
	})
	w, _ := gated(t, green)
	require.ErrorIs(t, w.start(job(wf)), fails)
	w.verifier.Command, fails = "", nil
	require.NoError(t, w.resume(wf))
}

// noted counts the notes that say text.
func (w *world) noted(text string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if note, ok := e.What.(agl.Noted); ok && note.Text == text {
			n++
		}
	}
	return n
}
