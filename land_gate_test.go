package agl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// gated returns a world whose builder writes a file named for its task, and
// whose gate finds what find does. The count is of the gate's runs.
func gated(t *testing.T, find func(task ports.VerifyTask, n int) (ports.Verdict, error)) (w *world, runs *int) {
	w = newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == "reader" {
			return findings{}, nil
		}
		tn.write(tn.Namespace+".txt", "by "+tn.Namespace+"\n")
		return patch{}, nil
	})
	var mu sync.Mutex
	runs = new(int)
	w.verifier.Command = "make"
	w.verifier.Find = func(_ context.Context, task ports.VerifyTask, n int) (ports.Verdict, error) {
		mu.Lock()
		defer mu.Unlock()
		*runs++
		return find(task, n)
	}
	return w, runs
}

func green(ports.VerifyTask, int) (ports.Verdict, error) { return ports.Verdict{Passed: true}, nil }

// verified has a child built and verified, and then, if it is to, landed and
// verified again where it landed.
func verified(land bool) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		if err := build(ctx, child, "x"); err != nil {
			return err
		}
		if verdict, err := child.Verify(ctx); err != nil || !verdict.Passed {
			return fmt.Errorf("%v: %w", verdict, err)
		}
		if !land {
			return nil
		}
		if err := child.Integrate(ctx, agl.Abandon); err != nil {
			return err
		}
		_, err = run.Verify(ctx)
		return err
	}, builder)
}

func TestATreeThatHasPassedIsBuiltOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(v *mem.Verifier)
		want   int
	}{
		"the same gate":          {func(*mem.Verifier) {}, 1},
		"another time to run in": {func(v *mem.Verifier) { v.Timeout = time.Hour }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, runs := gated(t, green)
			require.NoError(t, w.start(job(verified(false))))
			c.change(w.verifier)
			require.NoError(t, w.resume(verified(true)), "a landing and a verdict on the tree that the child had")
			require.Equal(t, c.want, *runs)
			require.Contains(t, w.files(), "child.txt")
		})
	}
	t.Run("another command", func(t *testing.T) {
		t.Parallel()
		w, runs := gated(t, green)
		wf := func(more bool) *agl.Workflow[agl.None] {
			return script(func(ctx context.Context, run *agl.Run) error {
				for _, name := range []string{"a", "b"}[:map[bool]int{false: 1, true: 2}[more]] {
					child, err := run.Worktree(ctx, name)
					if err != nil {
						return err
					}
					if err := child.Step(ctx, builder.Commit("x").AllowEmpty()); err != nil {
						return err
					}
					if err := child.Integrate(ctx, agl.Abandon); err != nil {
						return err
					}
				}
				return nil
			}, builder)
		}
		w.play = func(tn *turn) (any, error) { tn.write(fmt.Sprint(tn.n), "x"); return patch{}, nil }
		require.NoError(t, w.start(job(wf(false))))
		w.verifier.Command = "make again"
		require.NoError(t, w.resume(wf(true)))
		require.Equal(t, 2, *runs)
	})
}

func TestARedVerdictIsNeverReused(t *testing.T) {
	t.Parallel()
	w, runs := gated(t, func(_ ports.VerifyTask, n int) (ports.Verdict, error) {
		return ports.Verdict{Passed: n == 5, Output: fmt.Sprint("red ", n)}, nil
	})
	var outputs []string
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		if err := build(ctx, child, "x"); err != nil {
			return err
		}
		for range 2 {
			verdict, err := child.Verify(ctx)
			if err != nil {
				return err
			}
			outputs = append(outputs, verdict.Output)
		}
		return child.Integrate(ctx, func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
			outputs = append(outputs, c.Verdict.Output)
			require.Empty(t, c.Paths)
			return c.Retry(), nil // on the very same tree
		})
	}, builder))))
	require.Equal(t, []string{"red 1", "red 2", "red 3", "red 4"}, outputs)
	require.Equal(t, 5, *runs)
}

func TestALandingWhoseGateCannotRunIsMadeByAResume(t *testing.T) {
	t.Parallel()
	w, _ := gated(t, func(_ ports.VerifyTask, n int) (ports.Verdict, error) {
		if n == 1 {
			return ports.Verdict{}, ports.Unavailable.Errorf("", "no shell")
		}
		return ports.Verdict{Passed: true}, nil
	})
	wf := script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		if err := build(ctx, child, "x"); err != nil {
			return err
		}
		return child.Integrate(ctx, func(context.Context, *agl.Conflict) (agl.Resolution, error) {
			panic("there is nothing to resolve")
		})
	}, builder)
	err := w.start(job(wf))
	require.Equal(t, agl.Unavailable, agl.KindOf(err), "%v", err)
	require.Equal(t, agl.StateFailed, w.info().State)
	records := w.journal()
	require.Equal(t, agl.KindLanding, records[1].Kind)
	require.Equal(t, agl.Unavailable, records[1].Failure.Kind)
	require.NotContains(t, w.files(), "child.txt")

	require.NoError(t, w.resume(wf))
	require.Contains(t, w.files(), "child.txt")
	require.Equal(t, []string{"builder#1"}, w.agents())
}

func TestAGateThatTakesTooLongIsRedAndSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _ := gated(t, green)
		w.verifier.Timeout = time.Minute
		w.verifier.Find = func(ctx context.Context, _ ports.VerifyTask, _ int) (ports.Verdict, error) {
			<-ctx.Done()
			return ports.Verdict{Output: "compiles"}, ctx.Err()
		}
		err := w.start(job(script(func(ctx context.Context, run *agl.Run) error {
			child, err := run.Worktree(ctx, "child")
			if err != nil {
				return err
			}
			if err := build(ctx, child, "x"); err != nil {
				return err
			}
			return child.Integrate(ctx, func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
				require.Equal(t, "compiles", c.Verdict.Output)
				require.Contains(t, c.Verdict.Note, "timeout")
				require.Contains(t, c.Summary(), "timeout")
				return c.Abort(), nil
			})
		}, builder)))
		var conflict *agl.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.False(t, conflict.Verdict.Passed)
		require.Contains(t, conflict.Verdict.Note, "timeout")
	})
}

// pair lands two children, with a mender for what does not go together.
var pair = script(func(ctx context.Context, run *agl.Run) error {
	children, err := opens(ctx, run, "one", "two")
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := build(ctx, child, "x"); err != nil {
			return err
		}
	}
	for _, child := range children {
		if err := child.Integrate(ctx, agl.ResolveWith(editor, 1, nil)); err != nil {
			return err
		}
	}
	return build(ctx, run, "x")
}, builder, editor)

func TestWhatAGateLeavesIsKeptAndGetsIntoNoCommit(t *testing.T) {
	t.Parallel()
	w, _ := gated(t, func(task ports.VerifyTask, n int) (ports.Verdict, error) {
		for name, text := range map[string]string{fmt.Sprintf("left%d.o", n): "object", "one.txt": "formatted\n"} {
			if err := os.WriteFile(filepath.Join(task.Dir, name), []byte(text), 0o644); err != nil {
				return ports.Verdict{}, err
			}
		}
		return ports.Verdict{Passed: n != 2}, nil
	})
	w.overGit()
	builds := w.play
	w.play = func(tn *turn) (any, error) {
		if tn.Role == "editor" {
			for _, name := range []string{"left2.o"} {
				require.NoFileExists(t, filepath.Join(tn.Dir, name), "of the red gate")
			}
			text, err := os.ReadFile(filepath.Join(tn.Dir, "one.txt"))
			require.NoError(t, err)
			require.Equal(t, "by one\n", string(text))
			tn.write("mended.txt", "x")
			return patch{}, nil
		}
		return builds(tn)
	}
	require.NoError(t, w.start(job(pair)))
	require.Equal(t, "_base.txt\nmain.go\nmended.txt\none.txt\ntwo.txt", w.git("ls-tree", "-r", "--name-only", "agl/job"))
	require.Equal(t, "by one", w.git("show", "agl/job:one.txt"))
	salvaged, err := w.engine().Salvaged(t.Context(), "job")
	require.NoError(t, err)
	var kept []string
	for _, s := range salvaged {
		kept = append(kept, strings.Fields(w.git("ls-tree", "-r", "--name-only", s.Ref))...)
	}
	for _, name := range []string{"left1.o", "left2.o", "left3.o"} {
		require.Contains(t, kept, name)
	}
}

// Two changes that are green alone are red together: no commit that has both
// is ever on the run's branch before it has passed.
func TestARedGatePutsNoCommitOnTheParentsBranch(t *testing.T) {
	t.Parallel()
	for name, resolve := range map[string]bool{"given up": false, "mended": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			red := func(dir string) bool {
				found := 0
				for _, name := range []string{"one.txt", "two.txt"} {
					if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
						found++
					}
				}
				_, mended := os.Stat(filepath.Join(dir, "mended.txt"))
				return found == 2 && mended != nil
			}
			w, _ := gated(t, func(task ports.VerifyTask, _ int) (ports.Verdict, error) {
				return ports.Verdict{Passed: !red(task.Dir), Output: "one and two"}, nil
			})
			moved := w.watchMoves()
			w.overGit()
			builds := w.play
			w.play = func(tn *turn) (any, error) {
				if tn.Role == "editor" {
					if !resolve {
						return nil, ports.Unavailable.Errorf("", "no")
					}
					tn.write("mended.txt", "x")
					return patch{}, nil
				}
				return builds(tn)
			}
			err := w.start(job(pair))
			require.Equal(t, resolve, err == nil, "%v", err)
			moves := moved("agl/job")
			require.Len(t, moves, map[bool]int{false: 2, true: 4}[resolve], "it is made, and each landing and step moves it")
			for _, commit := range moves {
				dir := t.TempDir()
				w.git("--work-tree="+dir, "checkout", "-q", commit, "--", ".")
				w.git("reset", "-q", "--hard")
				require.False(t, red(dir), "commit %s", commit)
			}
		})
	}
}

// A build that runs git in the checkout of a landing fails that landing, if it
// has to: it ends neither the run nor the landings after it.
func TestABuildThatEndsTheMergeOrMovesTheBranchFailsItsLandingAlone(t *testing.T) {
	t.Parallel()
	commit := []string{"commit", "-qam", "by the build"}
	for name, c := range map[string]struct {
		passed bool
		git    []string
		fails  string // what one's landing fails with; "" if it is made
	}{
		"a red one that resets":    {false, []string{"reset", "-q", "--hard"}, "ended the merge"},
		"a red one that stashes":   {false, []string{"stash", "-q"}, "ended the merge"},
		"a red one that commits":   {false, commit, "ended the merge"},
		"a green one that resets":  {true, []string{"reset", "-q", "--hard"}, ""},
		"a green one that commits": {true, commit, "was moved while it was built"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			w, _ = gated(t, func(task ports.VerifyTask, n int) (ports.Verdict, error) {
				if n > 1 {
					return ports.Verdict{Passed: true}, nil
				}
				require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "main.go"), []byte("formatted\n"), 0o644))
				w.gitIn(task.Dir, c.git...)
				return ports.Verdict{Passed: c.passed}, nil
			})
			w.overGit()
			wf := script(func(ctx context.Context, run *agl.Run) error {
				children, err := opens(ctx, run, "one", "two")
				if err != nil {
					return err
				}
				var failed error
				for _, child := range children {
					if err := build(ctx, child, "x"); err != nil {
						return err
					}
					failed = errors.Join(failed, child.Integrate(ctx, agl.Abandon))
				}
				return failed
			}, builder)
			err := w.start(job(wf))
			files := "main.go\ntwo.txt"
			if c.fails == "" {
				require.NoError(t, err)
				files = "main.go\none.txt\ntwo.txt"
			} else {
				require.ErrorIs(t, err, agl.Unexpected)
				require.ErrorContains(t, err, c.fails)
			}
			require.Equal(t, files, w.git("ls-tree", "-r", "--name-only", "agl/job"), "the next landing goes on")
			require.Equal(t, "package main", w.git("show", "agl/job:main.go"))
			if c.git[0] == "commit" {
				salvaged, err := w.engine().Salvaged(t.Context(), "job")
				require.NoError(t, err)
				require.Len(t, salvaged, 1)
				require.Len(t, salvaged[0].Commits, 1)
				require.Equal(t, "formatted", w.git("show", salvaged[0].Commits[0]+":main.go"))
			}
			w.agents()
			require.NoError(t, w.resume(wf))
			require.Empty(t, w.agents())
			require.Equal(t, "main.go\none.txt\ntwo.txt", w.git("ls-tree", "-r", "--name-only", "agl/job"))
		})
	}
}

// What a gate plants is found before git runs again, be it green or red.
func TestAGateThatChangesHowGitWorksLandsNothing(t *testing.T) {
	t.Parallel()
	for name, passed := range map[string]bool{"green": true, "red": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, true)
			w.verifier.Command = "make"
			w.verifier.Find = func(context.Context, ports.VerifyTask, int) (ports.Verdict, error) {
				w.git("config", "filter.planted.clean", "cat")
				return ports.Verdict{Passed: passed}, nil
			}
			wf := inOrder(func(context.Context, *agl.Conflict) (agl.Resolution, error) {
				panic("nobody is to be asked")
			})
			require.ErrorContains(t, w.start(job(wf)), "git configuration changed")
			require.Equal(t, agl.StateInterrupted, w.info().State)
			require.NotContains(t, w.landed(), "same.txt")
		})
	}
}
