package agl_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

// died starts clashing in a process that dies at the call that at finds among
// those of a run which nothing disturbs. It returns the clash after that.
func died(t *testing.T, overGit, after bool, resolve agl.Resolver, mend func(w *clash), at func(calls []string) int) *clash {
	t.Helper()
	run := func(f *faults, overGit bool) (*clash, error) {
		w := newClash(t, overGit)
		mend(w)
		w.verifier.Command = "make"
		plain := w.set
		w.set = f.wrap(plain)
		err := w.start(job(clashing(plainly, resolve)))
		w.set = plain
		return w, err
	}
	probe := &faults{}
	_, err := run(probe, false) // the calls are the same
	require.NoError(t, err)
	call := at(probe.names)
	require.GreaterOrEqual(t, call, 0, "%v", probe.names)
	w, err := run(&faults{at: call + 1, after: after, crash: true}, overGit)
	require.ErrorIs(t, err, errFault)
	w.agents()
	return w
}

// nth finds the n-th call whose name begins with op, from 0.
func nth(op string, n int) func(calls []string) int {
	return func(calls []string) int {
		left := n
		for i, call := range calls {
			if !strings.HasPrefix(call, op) {
				continue
			}
			if left == 0 {
				return i
			}
			left--
		}
		return -1
	}
}

// then finds the call of a name that follows another.
func then(first func(calls []string) int, op string) func(calls []string) int {
	return func(calls []string) int {
		from := first(calls)
		return from + nth(op, 0)(calls[from:])
	}
}

// checkout is the parent's, if it is a real one.
func (c *clash) checkout() string {
	if c.gitDir == "" {
		return ""
	}
	for _, line := range strings.Split(c.git("worktree", "list", "--porcelain"), "\n") {
		if dir, ok := strings.CutPrefix(line, "worktree "); ok && filepath.Base(dir) == "_base" {
			return dir
		}
	}
	c.t.Fatal("there is no checkout")
	return ""
}

// mergeHead is what the parent's checkout holds, if it is a real one.
func (c *clash) mergeHead() string {
	dir := c.checkout()
	if dir == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(c.gitIn(dir, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// The states that a crash leaves of a landing without a conflict: whether it is
// recorded, where the branch is, and whether the checkout holds the merge.
func TestALandingGoesOnFromEveryStateThatACrashLeaves(t *testing.T) {
	t.Parallel()
	merge := nth("merge", 2) // of c: a's and b's come before
	for name, c := range map[string]struct {
		at    func(calls []string) int
		after bool
		held  bool
	}{
		"before the merge":                 {merge, false, false},
		"the merge is held":                {merge, true, true},
		"before the gate":                  {then(merge, "gate"), false, true},
		"after the gate":                   {then(merge, "gate"), true, true},
		"the gate has passed":              {then(then(merge, "gate"), "write records"), true, true},
		"its commit is made":               {then(merge, "commit the merge"), true, true},
		"it is recorded":                   {then(then(merge, "commit the merge"), "write records"), true, true},
		"what was resolved is recorded":    {then(then(nth("merge", 1), "commit the merge"), "write records"), true, true},
		"it is recorded, the branch moved": {then(merge, "move"), true, true},
		"it is concluded":                  {then(merge, "conclude"), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for where, overGit := range map[string]bool{"memory": false, "git": true} {
				t.Run(where, func(t *testing.T) {
					t.Parallel()
					resolve := func(ctx context.Context, at *agl.Conflict) (agl.Resolution, error) {
						return at.Retry(), at.Step(ctx, editor)
					}
					mend := func(w *clash) {
						w.mend = func(tn *turn) (any, error) { tn.write("same.txt", "both\n"); return patch{}, nil }
					}
					w := died(t, overGit, c.after, resolve, mend, c.at)
					if overGit {
						require.Equal(t, c.held, w.mergeHead() != "")
					}
					require.NoError(t, w.resume(clashing(plainly, resolve)))
					require.Empty(t, w.agents())
					if diff := cmp.Diff(map[string]string{
						"base.txt": "of base\n", "same.txt": "both\n", "c.txt": "of c\n", "main.go": "package main\n",
					}, w.landed()); diff != "" {
						t.Errorf("files (-want +got):\n%s", diff)
					}
					require.Empty(t, w.mergeHead())
					salvaged, err := w.engine().Salvaged(t.Context(), "job")
					require.NoError(t, err)
					require.Empty(t, salvaged, "nobody had typed")
					if overGit {
						require.Empty(t, w.gitIn(w.checkout(), "status", "--porcelain"))
						require.Equal(t, w.git("rev-parse", "agl/job"), w.info().Head)
					}
				})
			}
		})
	}
}

// killed starts clashing, with a resolver or a gate that kills its process.
func (c *clash) killed(death *faults, resolve agl.Resolver) {
	c.t.Helper()
	plain := c.set
	c.set = death.wrap(plain)
	err := bounded(c.t, func() error { return c.start(job(clashing(plainly, resolve))) })
	c.set = plain
	require.ErrorIs(c.t, err, errFault)
	c.agents()
}

func TestWhatAPersonHasTypedIsThereAgainWhenTheyAreAskedAgain(t *testing.T) {
	t.Parallel()
	const half, whole = "half of it\n", "half of it\nand the rest\n"
	for name, c := range map[string]struct {
		typed  func(ctx context.Context, w *clash, at *agl.Conflict, death *faults) // in the process that dies
		before int                                                                  // how many conflicts come before that
	}{
		"killed while a person types": {func(_ context.Context, w *clash, at *agl.Conflict, death *faults) {
			w.typed(at, "same.txt", half)
			death.die()
		}, 0},
		"killed while the gate runs on it": {func(_ context.Context, w *clash, at *agl.Conflict, death *faults) {
			w.typed(at, "same.txt", half)
			w.verifier.Find = func(_ context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
				if task.Dir != "" {
					require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "left.o"), []byte("x"), 0o644))
				}
				death.die()
				return ports.Verdict{Passed: true}, nil
			}
		}, 0},
		"killed at the second conflict": {func(_ context.Context, w *clash, at *agl.Conflict, death *faults) {
			if at.Attempt == 2 {
				w.typed(at, "same.txt", half)
				death.die()
			}
		}, 1},
		"killed after an agent": {func(ctx context.Context, w *clash, at *agl.Conflict, death *faults) {
			require.NoError(t, at.Step(ctx, editor))
			w.typed(at, "same.txt", half)
			death.die()
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, func(t *testing.T, w *clash) {
				w.verifier.Command = "make"
				w.mend = func(tn *turn) (any, error) { tn.write("same.txt", "an agent's\n"); return patch{}, nil }
				var asked []string
				death := &faults{}
				w.killed(death, func(ctx context.Context, at *agl.Conflict) (agl.Resolution, error) {
					asked = append(asked, at.Summary())
					c.typed(ctx, w, at, death)
					return at.Retry(), nil
				})
				w.verifier.Find = nil
				for range 2 { // the text survives the next death too
					var again []string
					death = &faults{}
					resolve := func(ctx context.Context, at *agl.Conflict) (agl.Resolution, error) {
						again = append(again, at.Summary())
						if at.Attempt <= c.before {
							return at.Retry(), nil
						}
						if name == "killed after an agent" {
							require.NoError(t, at.Step(ctx, editor))
						}
						require.Equal(t, half, w.there(at, "same.txt"))
						death.die()
						return at.Retry(), nil
					}
					plain := w.set
					w.set = death.wrap(plain)
					require.ErrorIs(t, w.resume(clashing(plainly, resolve)), errFault)
					w.set = plain
					require.Equal(t, asked, again)
				}
				require.NoError(t, w.resume(clashing(plainly, func(ctx context.Context, at *agl.Conflict) (agl.Resolution, error) {
					if at.Attempt > c.before {
						require.Equal(t, half, w.there(at, "same.txt"))
						w.typed(at, "same.txt", whole)
					}
					return at.Retry(), nil
				})))
				require.Equal(t, whole, w.landed()["same.txt"])
				require.NotContains(t, w.landed(), "left.o")
				require.Empty(t, w.agents(), "nothing was bought again")
			})
		})
	}
}

func TestAHoldThatSomebodyReplacedIsKeptAndTheLandingMadeAgain(t *testing.T) {
	t.Parallel()
	w := newClash(t, true)
	death := &faults{}
	w.killed(death, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		death.die()
		return at.Retry(), nil
	})
	dir := w.checkout()
	w.gitIn(dir, "merge", "--abort")
	w.gitIn(dir, "merge", "-q", "--no-ff", "--no-commit", "agl/_work/job/c")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("mine\n"), 0o644))
	require.NoError(t, w.resume(clashing(plainly, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		require.Equal(t, "b: conflicts in same.txt (add/add)", at.Summary())
		require.NoFileExists(t, filepath.Join(at.Dir, "mine.txt"))
		w.typed(at, "same.txt", "both\n")
		return at.Retry(), nil
	})))
	require.Equal(t, "both\n", w.landed()["same.txt"])
	require.NotContains(t, w.landed(), "mine.txt")
	salvaged, err := w.engine().Salvaged(t.Context(), "job")
	require.NoError(t, err)
	require.Len(t, salvaged, 1)
	require.Equal(t, "mine", w.git("show", salvaged[0].Ref+":mine.txt"))
}

func TestABranchThatIsElsewhereAfterACrashOfALandingIsConflicted(t *testing.T) {
	t.Parallel()
	w := newClash(t, true)
	death := &faults{}
	w.killed(death, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		death.die()
		return at.Retry(), nil
	})
	dir, before := w.checkout(), w.git("rev-parse", "agl/job")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "same.txt"), []byte("mine\n"), 0o644))
	w.gitIn(dir, "add", "-A")
	w.gitIn(dir, "commit", "-qm", "mine")
	mine := w.git("rev-parse", "agl/job")
	wf := clashing(plainly, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		w.typed(at, "same.txt", "both\n")
		return at.Retry(), nil
	})
	for range 2 {
		err := w.resume(wf)
		require.ErrorIs(t, err, agl.Conflicted)
		require.ErrorContains(t, err, mine[:12])
		require.ErrorContains(t, err, before[:12])
		require.Equal(t, mine, w.git("rev-parse", "agl/job"))
	}
	w.git("update-ref", "refs/heads/agl/job", before, mine)
	require.NoError(t, w.resume(wf))
	require.Equal(t, "both\n", w.landed()["same.txt"])
}

// An agent, or a person, that ends the merge by itself has failed: the landing
// is not made, what they made is kept, and a resume begins anew.
func TestAMergeThatIsEndedInItsCheckoutIsNotLanded(t *testing.T) {
	t.Parallel()
	commit := func(w *clash, dir string) {
		w.gitIn(dir, "merge", "--abort")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "same.txt"), []byte("mine\n"), 0o644))
		w.gitIn(dir, "add", "-A")
		w.gitIn(dir, "commit", "-qm", "mine")
	}
	for name, c := range map[string]struct {
		resolve func(w *clash) agl.Resolver
		agents  int
	}{
		"by an agent": {func(*clash) agl.Resolver { return agl.ResolveWith(editor, 1, nil) }, 1},
		"by an agent whose error is ignored": {func(*clash) agl.Resolver {
			return func(ctx context.Context, at *agl.Conflict) (agl.Resolution, error) {
				require.ErrorIs(t, at.Step(ctx, editor), agl.Unexpected)
				return at.Retry(), nil
			}
		}, 1},
		"by a person": {func(w *clash) agl.Resolver {
			return func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
				commit(w, at.Dir)
				return at.Retry(), nil
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, true)
			w.mend = func(tn *turn) (any, error) { commit(w, tn.Dir); return patch{}, nil }
			err := w.start(job(clashing(plainly, c.resolve(w))))
			require.ErrorIs(t, err, agl.Unexpected)
			require.ErrorContains(t, err, "ended in its checkout")
			require.Equal(t, agl.StateFailed, w.info().State)
			require.Equal(t, "of c\n", w.landed()["c.txt"], "the next landing goes on")
			require.Equal(t, "of a\n", w.landed()["same.txt"])
			salvaged, err := w.engine().Salvaged(t.Context(), "job")
			require.NoError(t, err)
			require.Len(t, salvaged, 1)
			require.Len(t, salvaged[0].Commits, 1)
			require.Equal(t, "mine", w.git("show", salvaged[0].Commits[0]+":same.txt"))
			require.Len(t, slices.DeleteFunc(w.agents(), func(a string) bool { return !strings.HasPrefix(a, "editor") }), c.agents)

			w.mend = func(tn *turn) (any, error) { tn.write("same.txt", "both\n"); return patch{}, nil }
			require.NoError(t, w.resume(clashing(plainly, agl.ResolveWith(editor, 1, nil))))
			require.Equal(t, "both\n", w.landed()["same.txt"])
		})
	}
}

// A landing that an agent mends, in a process that dies, is gone on with in one
// that dies as well.
func TestASecondCrashWhileALandingIsRecoveredBuysNothingTwice(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) *clash {
		w := newClash(t, false)
		w.verifier.Command = "make"
		w.verifier.Find = func(_ context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
			text, _ := fs.ReadFile(task.Tree, "same.txt")
			return ports.Verdict{Passed: string(text) != "mended 1\n"}, nil
		}
		w.mend = func(tn *turn) (any, error) {
			tn.write("same.txt", fmt.Sprintf("mended %d\n", tn.Ordinal))
			return patch{}, nil
		}
		return w
	}
	resolve := agl.ResolveWith(editor, 2, nil)
	wf, resume := clashing(plainly, resolve), &agl.StartOptions{Resume: true}
	probe := &faults{}
	w := begin(t)
	w.set = probe.wrap(w.set)
	require.NoError(t, w.start(job(wf)))
	want := w.landedOutcome()
	require.Len(t, w.agents(), 6)
	from := nth("merge", 1)(probe.names) // that of b
	require.Positive(t, from)
	for i := 4 * from; i < 4*len(probe.names); i += stride(5) {
		at, after, powerCut := i/4, i%2 == 1, i/2%2 == 1
		t.Run(fmt.Sprintf("%d %s after=%v powercut=%v", at+1, probe.names[at], after, powerCut), func(t *testing.T) {
			t.Parallel()
			pairs(i, func(second *faults) bool {
				w := begin(t)
				plain := w.set
				for _, f := range []*faults{{at: at + 1, after: after, crash: true}, second} {
					w.set = f.wrap(plain)
					err := w.engine().Start(t.Context(), "job", job(wf), resume)
					require.Equal(t, f.failed, err != nil, "%v", err)
					if powerCut {
						w.store.PowerCut()
						w.repo.PowerCut()
					}
				}
				w.set = plain
				require.NoError(t, w.engine().Start(t.Context(), "job", job(wf), resume))
				if diff := cmp.Diff(want, w.landedOutcome()); diff != "" {
					t.Errorf("the second at call %d, after=%v: outcome (-want +got):\n%s", second.at, second.after, diff)
				}
				require.LessOrEqual(t, len(w.agents()), 8, "each death may interrupt one")
				return second.failed
			})
		})
	}
}

// What an earlier process has met is told again where it is met again, and not
// instead of a file that has come in the way since.
func TestAFileThatCameInTheWayAfterACrashIsWhatIsTold(t *testing.T) {
	t.Parallel()
	w := newClash(t, true)
	require.NoError(t, os.WriteFile(filepath.Join(w.gitDir, ".gitignore"), []byte("local.env\n"), 0o644))
	w.git("add", "-A")
	w.git("commit", "-qm", "ignore")
	builds := w.play
	w.play = func(tn *turn) (any, error) {
		if tn.Namespace == "b" {
			tn.write("local.env", "of b\n")
			w.gitIn(tn.Dir, "add", "--force", "local.env")
		}
		return builds(tn)
	}
	death := &faults{}
	w.killed(death, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		death.die()
		return at.Retry(), nil
	})
	mine := filepath.Join(w.checkout(), "local.env")
	w.gitIn(w.checkout(), "merge", "--abort")
	require.NoError(t, os.WriteFile(mine, []byte("mine\n"), 0o644))
	var conflict *agl.ConflictError
	require.ErrorAs(t, w.resume(clashing(plainly, agl.Abandon)), &conflict)
	require.Equal(t, []agl.ConflictPath{{Path: "local.env", Kind: ports.ConflictOverwrite}}, conflict.Paths)
	require.NoError(t, os.Remove(mine))
	require.NoError(t, w.resume(clashing(plainly, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		w.typed(at, "same.txt", "both\n")
		return at.Retry(), nil
	})))
	require.Equal(t, "of b\n", w.landed()["local.env"])
}

// An agent commits in the checkout that holds the conflict, and moves the
// parent's branch by that; its process dies, and so does the next one, wherever
// it is in recovering from that. The run can be resumed then, and cleared.
func TestASecondCrashAfterAnAgentHadCommittedInAConflictLeavesNoRunStuck(t *testing.T) {
	t.Parallel()
	wf := inOrder(agl.ResolveWith(editor, 1, nil))
	first := func(t *testing.T) *clash {
		w := newClash(t, true)
		w.killedIn(func(death *faults) agl.Resolver {
			w.mend = func(tn *turn) (any, error) {
				require.NoError(t, os.WriteFile(filepath.Join(tn.Dir, "same.txt"), []byte("mine\n"), 0o644))
				w.gitIn(tn.Dir, "add", "-A")
				w.gitIn(tn.Dir, "commit", "-qm", "mine")
				death.die()
				return nil, errFault
			}
			return agl.ResolveWith(editor, 1, nil)
		})
		w.mend = mends("both\n")
		return w
	}
	begin := func(t *testing.T, second *faults) *clash {
		w := first(t)
		plain := w.set
		w.set = second.wrap(plain)
		err := w.resume(wf)
		w.set = plain
		require.Equal(t, second.failed, err != nil, "%v", err)
		return w
	}
	clear := func(t *testing.T, w *clash) {
		cleared, err := w.engine().Clear(t.Context(), "job")
		require.NoError(t, err)
		require.Contains(t, cleared.Branches, "agl/job")
	}
	clear(t, first(t))
	probe := &faults{}
	begin(t, probe)
	for i, name := range probe.names[:nth("merge", 0)(probe.names)] { // from there on the landing is made again
		if !strings.HasPrefix(name, "put back") && !strings.HasPrefix(name, "delete notes/b") {
			continue
		}
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s after=%v", i+1, name, after), func(t *testing.T) {
				t.Parallel()
				second := &faults{at: i + 1, after: after, crash: true}
				w := begin(t, second)
				if after {
					clear(t, w)
					return
				}
				require.NoError(t, w.resume(wf))
				require.Equal(t, "both\n", w.landed()["same.txt"])
			})
		}
	}
}
