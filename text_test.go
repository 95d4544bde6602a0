package agl_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

// What a command writes, and what a file is called, need not be UTF-8.
func TestAFailureIsRecordedWhateverItsBytes(t *testing.T) {
	t.Parallel()
	const bad = "exit status 1: \xff\x00\x1b[31m"
	play := func(turn *turn) (any, error) {
		if turn.n == 1 {
			return nil, errors.New(bad)
		}
		return ports.Outcome{Stop: ports.StopLimit, Text: bad}, nil
	}
	w := newWorld(t, play)
	wf := agl.NewWorkflow(agl.Spec{Name: "bytes", Version: 1, Roles: []agl.Role{editor, reader}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			failed := errors.Join(
				run.Step(ctx, editor.Commit("x")),
				run.Step(ctx, reader),
				run.Do(ctx, agl.Func("f", func(context.Context, agl.World) (int, error) { return 0, errors.New(bad) })),
				run.Do(ctx, agl.Func("g", func(context.Context, agl.World) (int, error) { panic(bad) })))
			return agl.Stopf("%v", failed)
		})
	err := w.start(wf.With(agl.None{}))
	require.ErrorIs(t, err, agl.Stopped)
	require.ErrorContains(t, err, "exit status 1: \ufffd")
	require.Len(t, w.journal(), 4)
	require.Equal(t, agl.StateStopped, w.info().State)
	require.ErrorIs(t, w.resume(wf), agl.Stopped)
	require.Len(t, w.agents(), 2)
}

func TestACommitsMessageIsCheckedBeforeAnAgentIsPaid(t *testing.T) {
	t.Parallel()
	for _, message := range []string{" \n", "caf\xe9", "nul\x00"} {
		w := newWorld(t, func(*turn) (any, error) { return nil, nil })
		for _, verb := range []func(ctx context.Context, run *agl.Run) error{
			func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Commit(message)) },
			func(ctx context.Context, run *agl.Run) error {
				return run.Do(ctx, agl.Func("f", func(context.Context, agl.World) (int, error) { panic("it is called") }).Commit(message))
			},
		} {
			wf := agl.NewWorkflow(agl.Spec{Name: "message", Version: 1, Roles: []agl.Role{editor}},
				func(ctx context.Context, run *agl.Run, _ agl.None) error {
					err := verb(ctx, run)
					require.ErrorIs(t, err, agl.Invalid)
					require.ErrorContains(t, err, "Commit needs a message")
					return nil
				})
			require.NoError(t, w.start(wf.With(agl.None{})))
			require.Empty(t, w.agents())
			w = newWorld(t, func(*turn) (any, error) { return nil, nil })
		}
	}
}

// The outcome of an agent that failed may say nothing of what was used.
func TestWhatAFailedAgentToldOfItsUsageIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(turn *turn) (any, error) {
		turn.emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: ports.Usage{Input: 70, Output: 7, Complete: true}})
		return ports.Outcome{Stop: ports.StopLimit, Usage: ports.Usage{Complete: true}}, nil
	})
	wf := agl.NewWorkflow(agl.Spec{Name: "usage", Version: 1, Roles: []agl.Role{reader}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error { return run.Step(ctx, reader) })
	require.ErrorIs(t, w.start(wf.With(agl.None{})), agl.Unexpected)
	require.EqualValues(t, 77, w.journal()[0].Usage.Tokens())
}
