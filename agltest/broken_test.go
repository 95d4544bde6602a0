package agltest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/ports"
)

// A store whose notes are lost: what an agent has come to is bought again.
type forgetful struct{ ports.Store }

func (s forgetful) Write(ctx context.Context, label, name string, doc []byte, d ports.Durability) error {
	if strings.HasSuffix(name, ".ended.json") {
		return nil
	}
	return s.Store.Write(ctx, label, name, doc, d)
}

// A store that syncs nothing.
type unsynced struct{ ports.Store }

func (s unsynced) Write(ctx context.Context, label, name string, doc []byte, _ ports.Durability) error {
	return s.Store.Write(ctx, label, name, doc, ports.Volatile)
}

// Worktrees whose branches stay where they were made.
type stuck struct{ ports.Workspaces }

func (w stuck) Attach(ctx context.Context, label string, lock ports.Lock) (ports.Worktrees, error) {
	trees, err := w.Workspaces.Attach(ctx, label, lock)
	return stuckTrees{trees}, err
}

type stuckTrees struct{ ports.Worktrees }

func (t stuckTrees) Move(ctx context.Context, branch, old, new string) error {
	if old != "" {
		return nil
	}
	return t.Worktrees.Move(ctx, branch, old, new)
}

// A terminal that does not believe the first answer.
type nagging struct{ ports.Terminal }

func (t nagging) Ask(ctx context.Context, q ports.Question) (string, error) {
	if _, err := t.Terminal.Ask(ctx, q); err != nil {
		return "", err
	}
	return t.Terminal.Ask(ctx, q)
}

// Each proof of CrashEverywhere fails on an engine, a store or a workflow that
// deserves it.
func TestCrashEverywhereFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	commits := func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Commit("x")) }
	for _, c := range []struct {
		name   string
		broken func(set ports.Set) ports.Set
		fn     func(ctx context.Context, run *agl.Run) error
		want   string
	}{
		{"notes are lost", func(set ports.Set) ports.Set {
			set.Store = forgetful{set.Store}
			return set
		}, commits, `the process died before "_base step editor #1: write a record": the agent of _base step editor #1 was started 2 times`},
		{"nothing is synced", func(set ports.Set) ports.Set {
			set.Store = unsynced{set.Store}
			return set
		}, func(ctx context.Context, run *agl.Run) error {
			for i := range 2 {
				if err := run.Step(ctx, reader, agl.In("i", i)); err != nil {
					return err
				}
			}
			return nil
		}, `there is no run after it was resumed`},
		{"the branch does not move", func(set ports.Set) ports.Set {
			set.Workspaces = stuck{set.Workspaces}
			return set
		}, commits, `the branch is at`},
		{"a person is asked twice", func(set ports.Set) ports.Set {
			set.Terminal = nagging{set.Terminal}
			return set
		}, func(ctx context.Context, run *agl.Run) error {
			var text string
			return run.Ask(ctx, agl.Text("Why?").Into(&text))
		}, `_base answer Why? #1 asked a person again what had been answered`},
		{"the end tells whether a call was recorded", nil, func(ctx context.Context, run *agl.Run) error {
			ran := false
			err := run.Do(ctx, agl.Func("do", func(context.Context, agl.World) (int, error) { ran = true; return 0, nil }))
			if err != nil {
				return err
			}
			return agl.Stopf("ran: %v", ran)
		}, `ran: false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wf := of(c.fn)
			failures, _ := failing(t, func(t testing.TB) {
				agltest.CrashOneByOne(t, func(t testing.TB) *agltest.Harness {
					h := obliging(t)
					if c.broken != nil {
						h.Break(c.broken)
					}
					return h
				}, wf.With(agl.None{}), wf)
			})
			require.Contains(t, failures, c.want)
		})
	}
}

func TestReplayFindsAnotherEnd(t *testing.T) {
	t.Parallel()
	calls := 0
	wf := of(func(context.Context, *agl.Run) error {
		calls++
		return agl.Stopf("call %d", calls)
	})
	failures, _ := failing(t, func(t testing.TB) {
		h := obliging(t)
		require.ErrorIs(t, h.Start(wf.With(agl.None{})), agl.Stopped)
		h.Replay(wf)
	})
	require.Contains(t, failures, `it ended with "call 3", and the run with "call 1"`)
}

// From the crash on every port refuses, whatever the workflow goes on to do.
func TestAfterACrashNothingChanges(t *testing.T) {
	t.Parallel()
	done := 0
	wf := of(func(ctx context.Context, run *agl.Run) error {
		first := run.Step(ctx, editor.Commit("x"))
		for i := range 3 {
			_ = run.Step(ctx, reader, agl.In("i", i))
			_ = run.Do(ctx, agl.Func("do", func(context.Context, agl.World) (int, error) { done++; return done, nil }), agl.In("i", i))
			_, _ = run.Verify(ctx)
		}
		return first
	})
	h := agltest.New(t)
	agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		turn.WriteFile("x.txt", fmt.Sprint(turn.Attempt))
		if turn.Attempt == 1 {
			turn.Crash()
		}
		return patch{}, nil
	})
	agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) { return findings{}, nil })
	require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
	require.Equal(t, []string{"editor #1"}, h.Agents())
	require.Zero(t, done)
	require.Empty(t, h.Journal())
	require.NoError(t, h.Resume(wf))
	require.Equal(t, 3, done)
}

// The points of one step of each kind, and of a gate, by name.
func TestThePointsOfARunAreNamed(t *testing.T) {
	t.Parallel()
	wf := of(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, editor.Commit("x")); err != nil {
			return err
		}
		_, err := run.Verify(ctx)
		return err
	})
	h := obliging(t)
	require.NoError(t, h.Start(wf.With(agl.None{})))
	require.Equal(t, []string{
		"the run: lock",
		"the run: write run.json",
		"the run: keep base",
		"the run: move",
		"_base step editor #1: open",
		"_base step editor #1: put back",
		"_base step editor #1: note the beginning",
		"_base step editor #1: agent editor",
		"_base step editor #1: agent editor: write work.txt",
		"_base step editor #1: agent editor has ended",
		"_base step editor #1: note the end",
		"_base step editor #1: commit",
		"_base step editor #1: write a record",
		"_base step editor #1: move",
		"_base verdict verify #1: put back",
		"_base verdict verify #1: note the beginning",
		"_base verdict verify #1: gate",
		"_base verdict verify #1: gate has ended",
		"_base verdict verify #1: write a record", // that this tree has passed
		"_base verdict verify #1: note the end",
		"_base verdict verify #1: write a record, time 2",
		"_base verdict verify #1: put back, time 2",
		"the run: write a record",
	}, h.Points())
}

func TestThePointsOfAnOpeningAreNamedForItsWorktree(t *testing.T) {
	t.Parallel()
	wf := of(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "beta")
		if err != nil {
			return err
		}
		_, err = child.Worktree(ctx, "beta-code")
		return err
	})
	h := obliging(t)
	h.CrashAt("beta-code opened: write a record")
	require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
	require.Equal(t, "beta opened: write a record", h.Points()[len(h.Points())-1])
	require.NoError(t, h.Resume(wf))
}
