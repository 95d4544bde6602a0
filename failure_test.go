package agl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

func TestAFailureKeepsItsTypeWhenADeadlineHasPassed(t *testing.T) {
	t.Parallel()
	limit := &agl.LimitError{Reset: time.Unix(5, 0).UTC(), Message: "m"}
	for name, c := range map[string]struct {
		cause    func(ctx context.Context) error
		kind     agl.Kind
		limit    *agl.LimitError
		deadline bool // it is one
	}{
		"the deadline itself": {func(ctx context.Context) error { return ctx.Err() }, agl.Unexpected, nil, true},
		"no kind":             {func(context.Context) error { return errors.New("broken pipe") }, agl.Unexpected, nil, true},
		"cut off":             {func(context.Context) error { return ports.Unexpected.Errorf("", "cut off") }, agl.Unexpected, nil, true},
		"a limit":             {func(context.Context) error { return limit }, agl.Unavailable, limit, false},
		"a refusal":           {func(context.Context) error { return ports.Denied.Errorf("", "no") }, agl.Denied, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // so that time passes only while the agent waits
				w := newWorld(t, func(tn *turn) (any, error) {
					<-tn.ctx.Done()
					return nil, c.cause(tn.ctx)
				})
				var seen []error
				wf := script(func(ctx context.Context, run *agl.Run) error {
					short, cancel := context.WithTimeout(ctx, time.Millisecond)
					defer cancel()
					seen = append(seen, run.Step(short, reader))
					return nil
				})
				require.NoError(t, w.start(job(wf)))
				require.NoError(t, w.resume(wf))
				require.Len(t, w.agents(), 1)
				require.Len(t, seen, 2)
				for _, err := range seen {
					require.Equal(t, c.kind, agl.KindOf(err), "%v", err)
					require.Equal(t, c.deadline, errors.Is(err, context.DeadlineExceeded), "%v", err)
					var got *agl.LimitError
					require.Equal(t, c.limit != nil, errors.As(err, &got), "%v", err)
					require.Equal(t, c.limit, got)
				}
			})
		})
	}
}

func TestADeadlineThatPassesBetweenTwoStepsIsUnexpected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, twoRounds)
		wf := script(func(ctx context.Context, run *agl.Run) error {
			if err := run.Step(ctx, reader); err != nil {
				return err
			}
			<-ctx.Done()
			return run.Step(ctx, reader, agl.In("n", 2))
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		e, err := agl.New(w.set, nil)
		require.NoError(t, err)
		err = e.Start(ctx, "job", job(wf), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 6, agl.ExitCode(err), "%v", err)
		require.Equal(t, []string{"reader#1"}, w.agents(), "the second did not begin")
		require.NoError(t, e.Close())
	})
}

func TestAnAgentsErrorWithoutAKindIsUnexpected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*turn) (any, error) { return nil, errors.New("connection reset") })
	err := w.start(fix(1).With(params{Request: "x"}))
	require.ErrorIs(t, err, agl.Unexpected)
	require.ErrorContains(t, err, "connection reset")
	require.Equal(t, 6, agl.ExitCode(err))
}

func TestACancellationWithACauseIsNoFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	for name, answer := range map[string]func(tn *turn) error{
		"the context's error": func(tn *turn) error { return tn.ctx.Err() },
		"the cause":           func(tn *turn) error { return context.Cause(tn.ctx) },
		"another":             func(*turn) error { return errors.New("killed") },
	} {
		w := newWorld(t, func(tn *turn) (any, error) {
			cancel(errors.New("the service shuts down"))
			<-tn.ctx.Done()
			return nil, answer(tn)
		})
		err := w.engine().Start(ctx, "job", fix(1).With(params{Request: "x"}), nil)
		require.ErrorIs(t, err, context.Canceled, name)
		require.Empty(t, agl.KindOf(err), name)
		require.Empty(t, w.journal(), name)
		require.Equal(t, agl.StateInterrupted, w.info().State, name)
		ctx, cancel = context.WithCancelCause(t.Context())
	}
	cancel(nil)
}

func TestACancelledResumeOfAFailedRunTriesNothingAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*turn) (any, error) { return nil, ports.Unavailable.Errorf("", "no") })
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
	require.Error(t, w.start(job(wf)))
	before := w.outcome()
	w.agents()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.engine().Resume(ctx, "job", wf, nil), context.Canceled)
	require.Empty(t, w.agents())
	require.Equal(t, before, w.outcome())
}

// failsFirst refuses the first step of a reader.
func failsFirst(tn *turn) (any, error) {
	switch {
	case tn.Role == "reader" && tn.n == 1:
		return nil, ports.Unavailable.Errorf("", "refused")
	case tn.Role == "reader":
		return findings{}, nil
	}
	tn.write("f", fmt.Sprint(tn.Ordinal))
	return patch{}, nil
}

func TestAStandingFailureInAJoinSaysHowItIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, failsFirst)
	wf := script(func(ctx context.Context, run *agl.Run) error {
		return errors.Join(run.Step(ctx, reader), run.Step(ctx, reader, agl.In("n", 2)))
	})
	require.Error(t, w.start(job(wf)))
	err := w.resume(wf)
	require.ErrorIs(t, err, agl.Unavailable)
	leaves := ports.Leaves(err)
	require.Len(t, leaves, 1)
	require.Contains(t, leaves[0].Error(), "--retry")
	require.NoError(t, w.resume(wf, agl.ResumeOptions{Retry: true}))
	require.Equal(t, []string{"reader#1", "reader#2", "reader#1", "reader#2"}, w.agents())
}

// The run ended in a failure, so there is nothing to lose: what was wrong with
// the step is mended, and it is tried again.
func TestAMendedPromptOfTheStepThatFailedIsItsRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == "reader" && !strings.Contains(tn.Instructions, "mended") {
			return nil, ports.Unavailable.Errorf("", "refused")
		}
		return twoRounds(tn)
	})
	wf := func(prompt string) *agl.Workflow[agl.None] {
		r := reader
		r.Prompt = prompt
		return script(func(ctx context.Context, run *agl.Run) error {
			if err := run.Step(ctx, editor.Commit("m")); err != nil {
				return err
			}
			return run.Step(ctx, r)
		}, editor, r)
	}
	require.ErrorIs(t, w.start(job(wf("first"))), agl.Unavailable)
	require.ErrorIs(t, w.resume(wf("second")), agl.Unavailable)
	plan, err := w.engine().Plan(t.Context(), "job", wf("mended"))
	require.NoError(t, err)
	require.False(t, plan.Diverged())
	require.NoError(t, w.resume(wf("mended")))
	require.Equal(t, []string{"editor#1", "reader#1", "reader#1", "reader#1"}, w.agents())
	records := w.journal()
	require.Len(t, records, 2, "the failures are superseded")
	require.Nil(t, records[1].Failure)
	require.Equal(t, agl.StateDone, w.info().State)

	var diverged *agl.DivergedError
	require.ErrorAs(t, w.resume(wf("other")), &diverged, "what has succeeded is another matter")
	require.NoError(t, w.resume(wf("mended")))
	require.Empty(t, w.agents())
}
