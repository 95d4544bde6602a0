package agl_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

// An agent that committed by itself moved the run's branch; then the process
// died. The branch is not where a record put it, and the run goes on.
func TestABranchThatAnInterruptedStepMovedIsPutBackOnResume(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world) error{
		"resume": func(w *world) error { return w.resume(fix(1)) },
		"clear":  func(w *world) error { _, err := w.engine().Clear(t.Context(), "job"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			f := &faults{}
			w = newWorld(t, func(tn *turn) (any, error) {
				if tn.Role == "editor" && f.at == 0 {
					tn.write("mine.txt", "x")
					w.gitIn(tn.Dir, "add", "mine.txt")
					w.gitIn(tn.Dir, "commit", "-qm", "mine")
					tn.write("more.txt", "y")
					f.mu.Lock()
					f.dead, f.failed = true, true // from here on the process is dead
					f.mu.Unlock()
					f.at = -1
				}
				return twoRounds(tn)
			})
			w.overGit()
			plain := w.set
			w.set = f.wrap(plain)
			require.Error(t, w.start(fix(1).With(params{Request: "x"})))
			w.set = plain
			stray := w.git("rev-parse", "agl/job")
			require.NotEqual(t, w.info().Head, stray)
			require.NoError(t, end(w))
			if name == "resume" {
				require.NotContains(t, w.git("ls-tree", "-r", "--name-only", "agl/job"), "mine.txt")
			}
			salvaged, err := w.engine().Salvaged(t.Context(), "job")
			require.NoError(t, err)
			require.NotEmpty(t, salvaged)
			w.git("merge-base", "--is-ancestor", stray, salvaged[0].Ref)
			require.Equal(t, "y", w.git("show", salvaged[0].Ref+":more.txt"))
		})
	}
}

func TestARedVerdictIsTriedAgainByRetryAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.verifier.Command = "make"
	builds := 0
	w.verifier.Find = func(context.Context, ports.VerifyTask, int) (ports.Verdict, error) {
		builds++
		return ports.Verdict{Passed: builds > 1}, nil
	}
	wf := script(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, reader); err != nil {
			return err
		}
		v, err := run.Verify(ctx)
		if err == nil && !v.Passed {
			return agl.Stopf("the build is red")
		}
		return err
	})
	require.ErrorIs(t, w.start(job(wf)), agl.Stopped)
	require.ErrorIs(t, w.resume(wf), agl.Stopped)
	require.Equal(t, 1, builds)
	w.agents()
	require.NoError(t, w.resume(wf, agl.ResumeOptions{Retry: true}))
	require.Equal(t, 2, builds)
	require.Empty(t, w.agents())
}

func TestAMissingBuildCommandEndsNoRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	wf := script(func(ctx context.Context, run *agl.Run) error { _, err := run.Verify(ctx); return err })
	require.ErrorIs(t, w.start(job(wf)), agl.Invalid)
	require.Equal(t, agl.StateInterrupted, w.info().State)
	w.verifier.Command = "make"
	require.NoError(t, w.resume(wf))
}

func TestAPanicSaysWhereItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	err := w.start(job(script(func(context.Context, *agl.Run) error {
		var none []int
		_ = none[len(none)]
		return nil
	})))
	require.ErrorContains(t, err, "stumble_test.go:")
	w = newWorld(t, twoRounds)
	err = w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		return run.Do(ctx, agl.Func("boom", func(context.Context, agl.World) (int, error) { panic("boom") }))
	})))
	require.ErrorIs(t, err, agl.Internal)
	require.ErrorContains(t, err, "panic: boom (stumble_test.go:")
}

func TestAClosedEngineStartsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	e, err := agl.New(w.set, nil)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	require.ErrorIs(t, e.Start(t.Context(), "job", fix(1).With(params{}), nil), agl.Invalid)
}

func TestAVerdictInARecordIsReadByEncodingJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.verifier.Command = "make"
	wf := script(func(ctx context.Context, run *agl.Run) error { _, err := run.Verify(ctx); return err })
	require.NoError(t, w.start(job(wf)))
	var v agl.Verdict
	require.NoError(t, json.Unmarshal(w.journal()[0].Value, &v))
	require.True(t, v.Passed)
}

func TestAnotherProcessSeesWhatAStepIsDoing(t *testing.T) {
	t.Parallel()
	var w *world
	var seen agl.Status
	w = newWorld(t, func(tn *turn) (any, error) {
		var err error
		other, newErr := agl.New(w.set, nil)
		if newErr != nil {
			return nil, newErr
		}
		seen, err = other.Status(tn.ctx, "job")
		if err != nil {
			return nil, err
		}
		return findings{}, nil
	})
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) }))))
	require.Equal(t, agl.KindStep, seen.Namespaces[0].Verb)
	require.Equal(t, "reader", seen.Namespaces[0].Name)
	require.NotZero(t, seen.Namespaces[0].Since)
}
