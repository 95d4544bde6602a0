package agl_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

// opens opens worktrees of a run, in this order.
func opens(ctx context.Context, run *agl.Run, names ...string) ([]*agl.Run, error) {
	children := make([]*agl.Run, len(names))
	for i, name := range names {
		var err error
		if children[i], err = run.Worktree(ctx, name); err != nil {
			return nil, err
		}
	}
	return children, nil
}

// build has a builder do a task in a run.
func build(ctx context.Context, run *agl.Run, task string) error {
	return run.Step(ctx, builder.Commit("build "+task), agl.In("task", task))
}

// landings returns the live landings, in the order in which they were recorded.
func landings(h *agltest.Harness) []agl.Record {
	var all []agl.Record
	for _, r := range h.Journal() {
		if r.Kind == agl.KindLanding {
			all = append(all, r)
		}
	}
	return all
}

func TestANestedChildLandsInItsParentAndThatInTheRun(t *testing.T) {
	t.Parallel()
	wf := script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		if err := build(ctx, child, "one"); err != nil {
			return err
		}
		grand, err := child.Worktree(ctx, "grand")
		if err != nil {
			return err
		}
		if err := build(ctx, grand, "two"); err != nil {
			return err
		}
		if err := grand.Integrate(ctx, agl.Abandon); err != nil {
			return err
		}
		return child.Integrate(ctx, agl.Abandon)
	}, builder)
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		require.NoError(t, h.Start(job(wf)))
		require.Equal(t, map[string]string{"one.txt": "built by one\n", "two.txt": "built by two\n"}, h.Files())
		all := landings(h)
		require.Len(t, all, 2)
		require.Equal(t, "child", all[0].Landing.Into)
		require.Equal(t, "_base", all[1].Landing.Into)
		require.Equal(t, all[0].Landing.After, all[1].Landing.Child, "the child is landed with what was landed in it")
		h.Replay(wf)
	})
}

func TestWorktreesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]agl.Kind{
		"One": agl.Invalid, "one": agl.Invalid, "two": "",
		"_base": agl.Invalid, "_Work": agl.Invalid, "": agl.Invalid, "a/b": agl.Invalid, "..": agl.Invalid, "-x": agl.Invalid,
		"a.lock": agl.Invalid, "con": agl.Invalid, "é": agl.Invalid, "HEAD": agl.Invalid, strings.Repeat("x", 101): agl.Invalid,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := agltest.New(t)
			builds(h, own)
			err := h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
				one, err := run.Worktree(ctx, "one")
				if err != nil {
					return err
				}
				if _, err := one.Worktree(ctx, "nested"); err != nil {
					return err
				}
				_, err = run.Worktree(ctx, name)
				return err
			}, builder)))
			if kind == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, kind, agl.KindOf(err), "%v", err)
		})
	}
}

func TestANestedWorktreeHasNoNameOfAnother(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	err := h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "one", "two")
		if err != nil {
			return err
		}
		_, err = children[0].Worktree(ctx, "TWO")
		return err
	})))
	require.ErrorIs(t, err, agl.Invalid)
	require.ErrorContains(t, err, "there is a worktree two already")
	require.ErrorContains(t, err, "say one-TWO")
}

func TestABranchThatIsNotTheRunsIsInTheWayOfAWorktree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.overGit()
	w.git("branch", "agl/_work/job/child")
	err := w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		_, err := run.Worktree(ctx, "child")
		return err
	})))
	var used *agl.InUseError
	require.ErrorAs(t, err, &used)
	require.Equal(t, "agl/_work/job/child", used.Branch)
	require.Equal(t, agl.StateInterrupted, w.info().State)
	w.git("branch", "-D", "agl/_work/job/child")
	require.NoError(t, w.resume(script(func(ctx context.Context, run *agl.Run) error {
		_, err := run.Worktree(ctx, "child")
		return err
	})))
}

func TestAWorktreeIsOfTheHeadThatItsParentHadWhenItWasCalled(t *testing.T) {
	t.Parallel()
	wf := script(func(ctx context.Context, run *agl.Run) error {
		before, err := run.Worktree(ctx, "before")
		if err != nil {
			return err
		}
		if err := build(ctx, run, "base"); err != nil {
			return err
		}
		after, err := run.Worktree(ctx, "after")
		if err != nil {
			return err
		}
		return each([]string{"before", "after"}, func(name string) error {
			return build(ctx, map[string]*agl.Run{"before": before, "after": after}[name], name)
		})
	}, builder)
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		var mu sync.Mutex
		seen := map[string]bool{}
		agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			_, err := fs.Stat(turn.Tree, "base.txt")
			mu.Lock()
			seen[turn.Namespace] = err == nil
			mu.Unlock()
			var task string
			turn.Input("task", &task)
			turn.WriteFile(task+".txt", task)
			return patch{}, nil
		})
		require.NoError(t, h.Start(job(wf)))
		require.Equal(t, map[string]bool{"_base": false, "before": false, "after": true}, seen)
		h.Replay(wf)
	})
}

func TestTheBaseOfAWorktreeIsDurableBeforeItIsReturned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	opened := 0
	require.ErrorIs(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		if _, err := run.Worktree(ctx, "child"); err != nil {
			return err
		}
		w.store.PowerCut()
		opened = len(w.store.Documents("job", "records/"))
		return agl.Stopf("enough")
	}))), agl.Stopped)
	require.Equal(t, 1, opened)
}

func TestACheckoutIsMadeWhenSomethingFirstWorksThere(t *testing.T) {
	t.Parallel()
	h := agltest.Options{Git: true}.New(t)
	var there []string
	agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		entries, err := os.ReadDir(filepath.Dir(turn.Dir))
		for _, e := range entries {
			if e.IsDir() {
				there = append(there, e.Name())
			}
		}
		turn.WriteFile("x", "x")
		return patch{}, err
	})
	require.NoError(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "one", "two", "three")
		if err != nil {
			return err
		}
		return build(ctx, children[1], "two")
	}, builder))))
	require.Equal(t, []string{"two"}, there)
}

// movedTo opens a nested worktree from one of two parents.
func movedTo(parent int, task string) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "one", "two")
		if err != nil {
			return err
		}
		nested, err := children[parent].Worktree(ctx, "nested")
		if err != nil {
			return err
		}
		deep, err := nested.Worktree(ctx, "deep")
		if err != nil {
			return err
		}
		return build(ctx, deep, task)
	}, builder)
}

func TestAWorktreeOfAnotherParentThanIsRecordedDiverges(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	builds(h, own)
	require.NoError(t, h.Start(job(movedTo(0, "deep"))))
	err := h.Resume(movedTo(1, "deep"))
	var diverged *agl.DivergedError
	require.ErrorAs(t, err, &diverged, "what was bought below it would be lost")
	require.ErrorContains(t, err, "nested")
	require.Equal(t, []string{"deep builder #1"}, h.Agents())
	require.NoError(t, h.Resume(movedTo(1, "deep"), agl.ResumeOptions{Rebuy: true}))
	require.Equal(t, []string{"deep builder #1", "deep builder #1"}, h.Agents())
	h.Replay(movedTo(1, "deep"))
}

func TestAWorktreeIsNotAskedAboutAfterItsParentMissed(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	builds(h, own)
	with := func(more bool) *agl.Workflow[agl.None] {
		return script(func(ctx context.Context, run *agl.Run) error {
			if more {
				if err := run.Step(ctx, reader); err != nil {
					return err
				}
			}
			child, err := run.Worktree(ctx, "child")
			if err != nil {
				return err
			}
			return build(ctx, child, "one")
		}, builder, reader)
	}
	require.NoError(t, h.Start(job(with(false))))
	plan, err := h.Plan(with(true))
	require.NoError(t, err)
	require.False(t, plan.Diverged(), "the new step is at its end, and the child may come after it")
	require.NoError(t, h.Resume(with(true)))
	require.Equal(t, []string{"child builder #1", "_base reader #1"}, []string{h.Agents()[0], "_base " + h.Agents()[1]})
	h.Replay(with(true))
}

func TestAWorktreeThatWasNotOpenedHasNotTakenItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		for range 2 {
			under, cancel := context.WithCancel(ctx)
			cancel()
			_, err := run.Worktree(under, "child")
			require.ErrorIs(t, err, context.Canceled)
			under, cancel = context.WithDeadline(ctx, time.Unix(0, 0))
			_, err = run.Worktree(under, "child")
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, agl.Unexpected, agl.KindOf(err), "as any verb past its deadline")
		}
		_, err := run.Worktree(ctx, "child")
		return err
	}))))
}
