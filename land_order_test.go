package agl_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

// inBubble runs a test in a bubble of synctest: one that waits for ever fails.
func inBubble(t *testing.T, test func(t *testing.T, h *agltest.Harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, agltest.New(t)) })
}

func TestLandingsIntoAParentGoOneAtATimeInTheOrderTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	names := []string{"e", "a", "d", "b", "c"}
	touch := agl.Func("touch", func(context.Context, agl.World) (int, error) { return 1, nil })
	for kind, own := range map[agl.RecordKind]func(ctx context.Context, run *agl.Run) error{
		agl.KindStep: func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) },
		agl.KindCall: func(ctx context.Context, run *agl.Run) error { return run.Do(ctx, touch) },
		agl.KindVerdict: func(ctx context.Context, run *agl.Run) error {
			_, err := run.Verify(ctx)
			return err
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, h *agltest.Harness) {
				builds(h, func(task string) string { return task + ".txt" })
				proceed := make(chan struct{})
				var running, most atomic.Int32
				h.Gate(func(fs.FS) error {
					most.Store(max(most.Load(), running.Add(1)))
					<-proceed
					running.Add(-1)
					return nil
				})
				require.NoError(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
					children, err := opens(ctx, run, names...)
					if err != nil {
						return err
					}
					for i, child := range children {
						if err := build(ctx, child, names[i]); err != nil {
							return err
						}
					}
					errs := make(chan error)
					for i, child := range children {
						go func() { errs <- child.Integrate(ctx, agl.Abandon) }()
						synctest.Wait()
						if i == 2 {
							go func() { errs <- own(ctx, run) }()
							synctest.Wait()
						}
					}
					close(proceed)
					for range len(names) + 1 {
						if err := <-errs; err != nil {
							return err
						}
					}
					return nil
				}, builder, reader))))
				var got []string
				records := h.Journal()
				slices.SortFunc(records, func(a, b agl.Record) int { return a.Seq - b.Seq })
				for _, r := range records {
					switch {
					case r.Kind == agl.KindLanding:
						got = append(got, r.Namespace)
					case r.Namespace == "_base":
						got = append(got, string(r.Kind))
					}
				}
				require.Equal(t, []string{"e", "a", "d", string(kind), "b", "c"}, got)
				require.Equal(t, int32(1), most.Load())
			})
		})
	}
}

func TestALandingWaitsForTheParentsOwnStep(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("x.txt", "x")
			return patch{}, nil
		})
		proceed := make(chan struct{})
		agltest.Handle(h, reader, func(_ context.Context, turn *agltest.Turn) (findings, error) {
			<-proceed
			_, err := fs.Stat(turn.Tree, "x.txt")
			require.ErrorIs(t, err, fs.ErrNotExist)
			return findings{}, nil
		})
		require.NoError(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
			child, err := run.Worktree(ctx, "child")
			if err != nil {
				return err
			}
			if err := build(ctx, child, "x"); err != nil {
				return err
			}
			errs := make(chan error)
			go func() { errs <- run.Step(ctx, reader) }()
			synctest.Wait()
			go func() { errs <- child.Integrate(ctx, agl.Abandon) }()
			synctest.Wait()
			waiting := run.Status()
			require.Equal(t, "_base", waiting.Namespaces[1].Waiting, "%+v", waiting)
			close(proceed)
			if err := <-errs; err != nil {
				return err
			}
			return <-errs
		}, builder, reader))))
		require.Contains(t, h.Files(), "x.txt")
	})
}

func TestLandingsIntoDifferentParentsRunAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		proceed := make(chan struct{})
		var running atomic.Int32
		h.Gate(func(fs.FS) error {
			running.Add(1)
			<-proceed
			return nil
		})
		require.NoError(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
			parents, err := opens(ctx, run, "a", "b")
			if err != nil {
				return err
			}
			errs := make(chan error)
			for i, parent := range parents {
				nested, err := parent.Worktree(ctx, fmt.Sprint("nested", i))
				if err != nil {
					return err
				}
				if err := build(ctx, nested, fmt.Sprint(i)); err != nil {
					return err
				}
				go func() { errs <- nested.Integrate(ctx, agl.Abandon) }()
			}
			synctest.Wait()
			require.Equal(t, int32(2), running.Load())
			close(proceed)
			if err := <-errs; err != nil {
				return err
			}
			return <-errs
		}, builder))))
	})
}

func TestAChildLandsAsOftenAsItHasSomethingNew(t *testing.T) {
	t.Parallel()
	wf := script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		for _, task := range []string{"one", "two", "three"} {
			if err := build(ctx, child, task); err != nil {
				return err
			}
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
			if err := build(ctx, run, "base-"+task); err != nil {
				return err
			}
		}
		return nil
	}, builder)
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		require.NoError(t, h.Start(job(wf)))
		require.Len(t, h.Files(), 6)
		for _, r := range landings(h) {
			require.True(t, r.Landing.Moved())
		}
		h.Replay(wf)
	})
}

func TestALandingOfNothingAndOneThatChangesNothingAreToldApart(t *testing.T) {
	t.Parallel()
	gone := agl.Editor[agl.None]{Name: "gone", Model: "fake/one", Prompt: "Take it away."}
	wf := script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "idle", "undone")
		if err != nil {
			return err
		}
		if err := children[0].Step(ctx, gone.Commit("nothing").AllowEmpty()); err != nil {
			return err
		}
		if err := build(ctx, children[1], "one"); err != nil {
			return err
		}
		if err := children[1].Step(ctx, gone.Commit("undo")); err != nil {
			return err
		}
		for _, child := range children {
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
		}
		return nil
	}, builder, gone)
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		agltest.Handle(h, gone, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
			turn.Remove("one.txt")
			return agl.None{}, nil
		})
		require.NoError(t, h.Start(job(wf)))
		all := landings(h)
		require.Equal(t, []string{"idle", "undone"}, []string{all[0].Namespace, all[1].Namespace})
		require.False(t, all[0].Landing.Moved(), "there is nothing to land")
		require.True(t, all[1].Landing.Moved(), "there are commits to land, whatever they come to")
		require.Len(t, h.Commits(), 3, "two of the child, and their merge")
		h.Replay(wf)
	})
}

func TestCommitsThatAreThereAlreadyAreNotLanded(t *testing.T) {
	t.Parallel()
	var w *world
	w = newWorld(t, func(tn *turn) (any, error) {
		tn.write(tn.Namespace+".txt", "x")
		if tn.Namespace == "_base" {
			w.gitIn(tn.Dir, "merge", "-q", "--no-edit", "agl/_work/job/child")
		}
		return patch{}, nil
	})
	w.overGit()
	err := w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		if err := build(ctx, child, "x"); err != nil {
			return err
		}
		if err := build(ctx, run, "x"); err != nil {
			return err
		}
		return child.Integrate(ctx, agl.Abandon)
	}, builder)))
	require.Equal(t, agl.Unexpected, agl.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "already")
	require.Equal(t, agl.StateFailed, w.info().State)
}

func TestTheMessageOfALandingIsGitsOwn(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, func(string) string { return "same.txt" })
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("same.txt", "both\n")
			return patch{}, nil
		})
		require.NoError(t, h.Start(splitWith(1, agl.ResolveWith(editor, 1, nil)).With(chunks{[]string{"a", "b"}})))
		merges := 0
		for _, c := range h.Commits() {
			if strings.HasPrefix(c.Message, "Merge ") {
				merges++
				require.Regexp(t, `^Merge branch 'agl/_work/test/[ab]' into agl/test\s*$`, c.Message)
			}
		}
		require.Equal(t, 2, merges)
	})
}

// What would wait for itself is refused at once: in a bubble, one that waits
// fails.
func TestAVerbThatWouldWaitForItselfIsInvalid(t *testing.T) {
	t.Parallel()
	touch := agl.Func("touch", func(context.Context, agl.World) (int, error) { return 1, nil })
	for name, verb := range map[string]func(ctx context.Context, run, child, sibling *agl.Run) error{
		"a step of the parent": func(ctx context.Context, run, _, _ *agl.Run) error { return run.Step(ctx, reader) },
		"a call of the parent": func(ctx context.Context, run, _, _ *agl.Run) error { return run.Do(ctx, touch) },
		"a verdict on the parent": func(ctx context.Context, run, _, _ *agl.Run) error {
			_, err := run.Verify(ctx)
			return err
		},
		"a step of the child":            func(ctx context.Context, _, child, _ *agl.Run) error { return child.Step(ctx, reader) },
		"the landing itself":             func(ctx context.Context, _, child, _ *agl.Run) error { return child.Integrate(ctx, agl.Abandon) },
		"a landing of a sibling":         func(ctx context.Context, _, _, sibling *agl.Run) error { return sibling.Integrate(ctx, agl.Abandon) },
		"a landing, in a goroutine":      inGoroutine,
		"a landing of one's own nested":  nestedIn,
		"a landing below a deadline too": belowDeadline,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, h *agltest.Harness) {
				builds(h, func(string) string { return "same.txt" })
				var inside error
				require.ErrorIs(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
					children, err := opens(ctx, run, "a", "b", "c")
					if err != nil {
						return err
					}
					for i, child := range children {
						if err := build(ctx, child, fmt.Sprint(i)); err != nil {
							return err
						}
					}
					if err := children[0].Integrate(ctx, agl.Abandon); err != nil {
						return err
					}
					return children[1].Integrate(ctx, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
						inside = verb(ctx, run, children[1], children[2])
						return c.Abort(), nil
					})
				}, builder, reader))), agl.Conflicted)
				require.Equal(t, agl.Invalid, agl.KindOf(inside), "%v", inside)
			})
		})
	}
}

func inGoroutine(ctx context.Context, _, _, sibling *agl.Run) error {
	errs := make(chan error)
	go func() { errs <- sibling.Integrate(ctx, agl.Abandon) }()
	return <-errs
}

func nestedIn(ctx context.Context, _, child, _ *agl.Run) error {
	nested, err := child.Worktree(ctx, "nested")
	if err != nil {
		return err
	}
	if err := build(ctx, nested, "nested"); err != nil { // it needs nobody's checkout
		return err
	}
	return nested.Integrate(ctx, agl.Abandon)
}

func belowDeadline(ctx context.Context, _, _, sibling *agl.Run) error {
	ctx, cancel := context.WithTimeout(ctx, 1<<40)
	defer cancel()
	return sibling.Integrate(ctx, agl.Abandon)
}

func TestWhatTheParentCallsCannotLandInIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		var inCall error
		require.NoError(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
			child, err := run.Worktree(ctx, "child")
			if err != nil {
				return err
			}
			if err := build(ctx, child, "x"); err != nil {
				return err
			}
			land := agl.Func("land", func(ctx context.Context, _ agl.World) (int, error) {
				inCall = child.Integrate(ctx, agl.Abandon)
				return 1, nil
			})
			if err := run.Do(ctx, land); err != nil {
				return err
			}
			return child.Integrate(ctx, agl.Abandon)
		}, builder))))
		require.Equal(t, agl.Invalid, agl.KindOf(inCall), "%v", inCall)
		require.Contains(t, h.Files(), "x.txt")
	})
}

func TestALandingThatIsNotWaitedForAnyLongerLeavesItsPlace(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		proceed := make(chan struct{})
		var once sync.Once
		h.Gate(func(fs.FS) error {
			once.Do(func() { <-proceed })
			return nil
		})
		require.NoError(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
			names := []string{"a", "b", "c"}
			children, err := opens(ctx, run, names...)
			if err != nil {
				return err
			}
			errs := make([]error, 3)
			var group sync.WaitGroup
			waits, cancel := context.WithCancel(ctx)
			defer cancel()
			for i, child := range children {
				if err := build(ctx, child, names[i]); err != nil {
					return err
				}
			}
			for i, child := range children {
				group.Go(func() {
					under := ctx
					if i == 1 {
						under = waits
					}
					errs[i] = child.Integrate(under, agl.Abandon)
				})
				synctest.Wait()
			}
			cancel()
			synctest.Wait()
			for _, ns := range run.Status().Namespaces {
				require.True(t, ns.Namespace != "b" || ns.Waiting == "", "it does not wait any more")
			}
			close(proceed)
			group.Wait()
			require.ErrorIs(t, errs[1], context.Canceled)
			require.NoError(t, errs[0])
			require.NoError(t, errs[2])
			return children[1].Integrate(ctx, agl.Abandon)
		}, builder))))
		require.Len(t, h.Files(), 3)
	})
}
