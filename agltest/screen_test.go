package agltest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

// tally shows what its agent does, and in which round.
var tally = agl.NewWorkflow(agl.Spec{Name: "tally", Version: 1, Roles: []agl.Role{reader}},
	func(ctx context.Context, run *agl.Run, _ agl.None) error {
		for i := range 2 {
			run.Show(func(s agl.Status) agl.Screen {
				base := s.Namespaces[0]
				return agl.Screen{Title: s.Run.Workflow, Body: []agl.Block{
					agl.Progress{Label: base.Name + " " + base.Activity, Done: i, Total: 2},
				}}
			})
			if err := run.Step(ctx, reader, agl.In("i", i)); err != nil {
				return err
			}
		}
		return nil
	})

func TestAViewIsSeenDuringTheRunAndWhenItHasEnded(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	var seen []string
	agltest.Handle(h, reader, func(_ context.Context, turn *agltest.Turn) (findings, error) {
		turn.Activity("Read main.go")
		seen = append(seen, fmt.Sprint(h.Screen().Body[0]))
		return findings{}, nil
	})
	require.NoError(t, h.Start(tally.With(agl.None{})))
	require.Equal(t, []string{"{reader Read main.go 0 2}", "{reader Read main.go 1 2}"}, seen)
	want := agl.Screen{Title: "tally", Body: []agl.Block{agl.Progress{Label: " ", Done: 1, Total: 2}}}
	require.True(t, want.Equal(h.Screen()), "%v", h.Screen())
	h.Replay(tally)
	require.True(t, want.Equal(h.Screen()), "%v", h.Screen())
}

func TestAViewIsCalledWhileTheRunGoesOnAndMayPanic(t *testing.T) {
	t.Parallel()
	failures, logs := failing(t, func(t testing.TB) {
		h := agltest.New(t)
		frames := make(chan struct{}, 100)
		agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) {
			<-frames // the view is called while the step goes on
			return findings{}, nil
		})
		wf := of(func(ctx context.Context, run *agl.Run) error {
			run.Show(func(agl.Status) agl.Screen { frames <- struct{}{}; panic("oops") })
			return run.Step(ctx, reader)
		})
		require.NoError(t, h.Start(wf.With(agl.None{})))
		require.Empty(t, frames, "it is not called again")
		h.Screen()
	})
	require.Contains(t, failures, "the workflow shows nothing of its own: it did not call Run.Show, or its view has panicked")
	require.Contains(t, logs, "oops")
}
