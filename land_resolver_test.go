package agl_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A clash is a world in which children a and b write the same file, and c one
// of its own. A person can type in the parent's checkout.
type clash struct {
	*world
	mend func(tn *turn) (any, error) // what the editor does in a conflict

	mu   sync.Mutex
	base *mem.Workspace // the parent's checkout, if it is in memory
}

func newClash(t *testing.T, overGit bool) *clash {
	c := &clash{}
	c.world = newWorld(t, c.playAll)
	if overGit {
		c.overGit()
	}
	return c
}

func (c *clash) playAll(tn *turn) (any, error) {
	if ws, ok := tn.Workspace.(*mem.Workspace); ok && tn.Namespace == "_base" {
		c.mu.Lock()
		c.base = ws
		c.mu.Unlock()
	}
	switch {
	case tn.Role == "reader":
		return findings{}, nil
	case tn.Role == "editor":
		return c.mend(tn)
	case tn.Namespace == "c":
		tn.write("c.txt", "of c\n")
	case tn.Namespace != "_base":
		tn.write("same.txt", "of "+tn.Namespace+"\n")
	default:
		tn.write("base.txt", "of base\n")
	}
	return patch{"built"}, nil
}

// typed writes a file of the checkout that holds a conflict, as a person would.
func (c *clash) typed(at *agl.Conflict, path, text string) {
	c.t.Helper()
	if at.Dir != "" {
		require.NoError(c.t, os.WriteFile(filepath.Join(at.Dir, path), []byte(text), 0o644))
		return
	}
	require.NoError(c.t, c.base.WriteFile(c.t.Context(), path, []byte(text)))
}

// there returns a file of that checkout.
func (c *clash) there(at *agl.Conflict, path string) string {
	c.t.Helper()
	tree := os.DirFS(at.Dir)
	if at.Dir == "" {
		tree = c.base.Tree()
	}
	text, err := fs.ReadFile(tree, path)
	require.NoError(c.t, err)
	return string(text)
}

// landed returns the files of the run's branch.
func (c *clash) landed() map[string]string {
	if c.gitDir == "" {
		return c.files()
	}
	return gitFiles(c.world, "agl/job")
}

// settled fails the test unless the checkout that held a conflict is as its
// branch says.
func (c *clash) settled(at *agl.Conflict) {
	c.t.Helper()
	if at == nil || at.Dir == "" {
		return
	}
	require.NoFileExists(c.t, filepath.Join(c.gitIn(at.Dir, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD"))
	require.Empty(c.t, c.gitIn(at.Dir, "status", "--porcelain"))
}

// inBoth runs a test of clashes in memory and over git.
func inBoth(t *testing.T, test func(t *testing.T, c *clash)) {
	t.Helper()
	for name, git := range map[string]bool{"memory": false, "git": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newClash(t, git))
		})
	}
}

// clashing builds in base, a, b and c, lands a, then b with resolve under the
// context that with makes, then c; and then b's error is the run's.
func clashing(with func(ctx context.Context) (context.Context, context.CancelFunc), resolve agl.Resolver) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		if err := build(ctx, run, "base"); err != nil {
			return err
		}
		children, err := opens(ctx, run, "a", "b", "c")
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := build(ctx, child, "x"); err != nil {
				return err
			}
		}
		if err := children[0].Integrate(ctx, agl.Abandon); err != nil {
			return err
		}
		under, cancel := with(ctx)
		failed := children[1].Integrate(under, resolve)
		cancel()
		if err := children[2].Integrate(ctx, agl.Abandon); err != nil {
			return err
		}
		return failed
	}, builder, editor, reader)
}

// bounded fails the test if do takes longer than it ever should.
func bounded(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
		return nil
	}
}

func TestWhateverAResolverDoesItsLandingIsSettledAndTheNextGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resolve func(ctx context.Context, cancel func(), c, before *agl.Conflict) (agl.Resolution, error)
		kind    agl.Kind // of the error; "" if it is cancelled
		says    string
	}{
		"gives up": {func(_ context.Context, _ func(), c, _ *agl.Conflict) (agl.Resolution, error) {
			return c.Abort(), nil
		}, agl.Conflicted, "same.txt"},
		"returns an error": {func(_ context.Context, _ func(), c, _ *agl.Conflict) (agl.Resolution, error) {
			return c.Retry(), errors.New("boom")
		}, agl.Conflicted, "boom"},
		"returns an error of a kind": {func(_ context.Context, _ func(), c, _ *agl.Conflict) (agl.Resolution, error) {
			return c.Abort(), ports.Unavailable.Errorf("", "nobody is there")
		}, agl.Unavailable, "nobody is there"},
		"panics": {func(context.Context, func(), *agl.Conflict, *agl.Conflict) (agl.Resolution, error) {
			panic("oh no")
		}, agl.Internal, "oh no"},
		"forgets to decide": {func(context.Context, func(), *agl.Conflict, *agl.Conflict) (agl.Resolution, error) {
			return agl.Resolution{}, nil
		}, agl.Unexpected, "no resolution"},
		"answers another conflict": {func(_ context.Context, _ func(), c, before *agl.Conflict) (agl.Resolution, error) {
			if before == nil {
				return c.Retry(), nil // with its markers, which is a conflict again
			}
			return before.Abort(), nil
		}, agl.Unexpected, "another conflict"},
		"is cancelled": {func(ctx context.Context, cancel func(), c, _ *agl.Conflict) (agl.Resolution, error) {
			cancel()
			<-ctx.Done()
			return c.Abort(), ctx.Err()
		}, "", ""},
		"goes on when it is cancelled": {func(_ context.Context, cancel func(), c, _ *agl.Conflict) (agl.Resolution, error) {
			cancel()
			return c.Retry(), nil
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, func(t *testing.T, w *clash) {
				var cancel func()
				var last *agl.Conflict
				with := func(ctx context.Context) (context.Context, context.CancelFunc) {
					ctx, cancel = context.WithCancel(ctx)
					return ctx, cancel
				}
				wf := clashing(with, func(ctx context.Context, at *agl.Conflict) (agl.Resolution, error) {
					w.typed(at, "notes.txt", "half done\n")
					made, err := c.resolve(ctx, cancel, at, last)
					last = at
					return made, err
				})
				err := bounded(t, func() error { return w.start(job(wf)) })
				w.settled(last)
				failed := 0
				for _, r := range w.journal() {
					if r.Failure != nil {
						failed++
						require.Equal(t, "b", r.Namespace)
					}
				}
				if c.kind == "" {
					require.ErrorIs(t, err, context.Canceled)
					require.Zero(t, failed, "what is cancelled is not recorded")
				} else {
					require.Equal(t, c.kind, agl.KindOf(err), "%v", err)
					require.ErrorContains(t, err, c.says)
					require.Equal(t, 1, failed)
				}
				var conflict *agl.ConflictError
				if c.kind == agl.Conflicted {
					require.ErrorAs(t, err, &conflict)
					require.Equal(t, "same.txt", conflict.Paths[0].Path)
				}
				require.Equal(t, "of a\n", w.landed()["same.txt"])
				require.Equal(t, "of c\n", w.landed()["c.txt"], "the next landing goes on")
				salvaged, err := w.engine().Salvaged(t.Context(), "job")
				require.NoError(t, err)
				require.Len(t, salvaged, 1, "what was typed is kept")
			})
		})
	}
}

func TestAResolversDeadlineIsItsLandingsFailure(t *testing.T) {
	t.Parallel()
	w := newClash(t, false)
	with := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 200*time.Millisecond)
	}
	err := bounded(t, func() error {
		return w.start(job(clashing(with, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
			<-ctx.Done()
			return c.Abort(), ctx.Err()
		})))
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, agl.Unexpected, agl.KindOf(err))
	require.Equal(t, agl.StateFailed, w.info().State)
}

func plainly(ctx context.Context) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func TestAConflictLivesWhileItsResolverRuns(t *testing.T) {
	t.Parallel()
	w := newClash(t, false)
	var kept *agl.Conflict
	summary := ""
	require.ErrorIs(t, w.start(job(clashing(plainly, func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
		kept, summary = c, c.Summary()
		return c.Abort(), nil
	}))), agl.Conflicted)
	require.Equal(t, "b: conflicts in same.txt (add/add)", summary)
	require.Equal(t, summary, kept.Summary())
	err := bounded(t, func() error { return kept.Step(t.Context(), editor) })
	require.ErrorIs(t, err, agl.Invalid)
	require.ErrorContains(t, err, "settled")
}

func TestOneStepAtATimeIsTakenInAConflict(t *testing.T) {
	t.Parallel()
	w := newClash(t, false)
	begun, proceed := make(chan struct{}), make(chan struct{})
	w.mend = func(tn *turn) (any, error) {
		close(begun)
		<-proceed
		tn.write("same.txt", "both\n")
		return patch{}, nil
	}
	require.NoError(t, bounded(t, func() error {
		return w.start(job(clashing(plainly, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
			first := make(chan error)
			go func() { first <- c.Step(ctx, editor) }()
			<-begun
			require.ErrorIs(t, c.Step(ctx, editor), agl.Invalid)
			close(proceed)
			return c.Retry(), <-first
		})))
	}))
	require.Equal(t, "both\n", w.landed()["same.txt"])
}

func TestAStepThatAResolverLeavesRunningEndsWithIt(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, w *clash) {
		begun, ended := make(chan struct{}), make(chan error, 1)
		w.mend = func(tn *turn) (any, error) {
			close(begun)
			<-tn.ctx.Done()
			tn.write("same.txt", "half\n")
			return nil, tn.ctx.Err()
		}
		var at *agl.Conflict
		require.ErrorIs(t, bounded(t, func() error {
			return w.start(job(clashing(plainly, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
				at = c
				go func() { ended <- c.Step(ctx, editor) }()
				<-begun
				return c.Abort(), nil
			})))
		}), agl.Conflicted)
		require.ErrorIs(t, <-ended, context.Canceled)
		w.settled(at)
		require.Equal(t, "of c\n", w.landed()["c.txt"])
	})
}

func TestAResolverMayDoWhatItLikesWithWhatItIsTold(t *testing.T) {
	t.Parallel()
	w := newClash(t, true)
	w.verifier.Command = "make"
	w.verifier.Find = func(_ context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
		text, err := fs.ReadFile(task.Tree, "same.txt")
		return ports.Verdict{Passed: err != nil || string(text) != "red\n", Output: "red"}, nil
	}
	err := w.start(job(clashing(plainly, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		if at.Attempt == 2 {
			at.Verdict.Output, at.Verdict.Passed = "", true
			return at.Abort(), nil
		}
		require.Len(t, at.Paths, 1)
		w.typed(at, "same.txt", "red\n")
		at.Paths = slices.DeleteFunc(at.Paths, func(agl.ConflictPath) bool { return true }) // it clears them
		return at.Retry(), nil
	})))
	var conflict *agl.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, "red", conflict.Verdict.Output)
	require.False(t, conflict.Verdict.Passed)
	require.Empty(t, conflict.Paths, "the second try met the build alone")
}

func TestWhatIsResolvedByHandSurvivesARedGate(t *testing.T) {
	t.Parallel()
	for name, goesOn := range map[string]bool{"retried": true, "given up": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, func(t *testing.T, w *clash) {
				w.verifier.Command = "make"
				w.verifier.Find = func(_ context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
					text, _ := fs.ReadFile(task.Tree, "same.txt")
					return ports.Verdict{Passed: string(text) != "by hand\n"}, nil
				}
				var at *agl.Conflict
				err := w.start(job(clashing(plainly, func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
					at = c
					if c.Attempt == 1 {
						w.typed(c, "same.txt", "by hand\n")
						return c.Retry(), nil
					}
					require.Equal(t, 2, c.Attempt)
					require.Empty(t, c.Paths)
					require.Equal(t, "b: the build gate failed (make)", c.Summary())
					require.Equal(t, "by hand\n", w.there(c, "same.txt"))
					if !goesOn {
						return c.Abort(), nil
					}
					w.typed(c, "same.txt", "by hand, better\n")
					return c.Retry(), nil
				})))
				w.settled(at)
				if goesOn {
					require.NoError(t, err)
					require.Equal(t, "by hand, better\n", w.landed()["same.txt"])
					return
				}
				require.ErrorIs(t, err, agl.Conflicted)
				require.Equal(t, "of a\n", w.landed()["same.txt"])
				salvaged, err := w.engine().Salvaged(t.Context(), "job")
				require.NoError(t, err)
				require.Len(t, salvaged, 1)
				dir := filepath.Join(t.TempDir(), "salvage")
				require.NoError(t, w.engine().WriteSalvage(t.Context(), "job", salvaged[0].N, dir))
				text, err := os.ReadFile(filepath.Join(dir, "same.txt"))
				require.NoError(t, err)
				require.Equal(t, "by hand\n", string(text))
			})
		})
	}
}

func TestMarkersThatAreLeftAreAConflictThatSaysWhere(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, w *clash) {
		require.NoError(t, w.start(job(clashing(plainly, func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
			switch c.Attempt {
			case 1:
				w.typed(c, "same.txt", "resolved\nhere\n"+w.there(c, "same.txt"))
			case 2:
				require.Equal(t, []agl.ConflictPath{{Path: "same.txt", Kind: "markers", Note: "line 3"}}, c.Paths)
				require.Equal(t, "b: conflicts in same.txt (markers, line 3)", c.Summary())
				require.Nil(t, c.Verdict)
				w.typed(c, "same.txt", "resolved\n")
			}
			return c.Retry(), nil
		}))))
		require.Equal(t, "resolved\n", w.landed()["same.txt"])
	})
}

// gitFiles returns what a commit of a real repository holds.
func gitFiles(w *world, commit string) map[string]string {
	files := map[string]string{}
	for _, name := range strings.Fields(w.git("ls-tree", "-r", "--name-only", commit)) {
		files[name] = w.git("show", commit+":"+name) + "\n"
	}
	return files
}

// A goroutine of the workflow that is ended in a resolver, as a test's FailNow
// does, can tell nobody: the run must not be taken for done.
func TestARunOfWhichAGoroutineWasEndedIsNotDone(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, w *clash) {
		wf := func(resolve agl.Resolver) *agl.Workflow[agl.None] {
			return script(func(ctx context.Context, run *agl.Run) error {
				children, err := opens(ctx, run, "a", "b")
				if err != nil {
					return err
				}
				errs := make([]error, len(children))
				for i, child := range children {
					var group sync.WaitGroup
					group.Go(func() {
						if errs[i] = build(ctx, child, "x"); errs[i] == nil {
							errs[i] = child.Integrate(ctx, resolve)
						}
					})
					group.Wait()
				}
				return errors.Join(errs...)
			}, builder)
		}
		err := bounded(t, func() error {
			return w.start(job(wf(func(context.Context, *agl.Conflict) (agl.Resolution, error) {
				runtime.Goexit()
				return agl.Resolution{}, nil
			})))
		})
		require.ErrorIs(t, err, agl.Internal)
		require.ErrorContains(t, err, "landing b")
		require.Equal(t, agl.StateInterrupted, w.info().State)
		w.agents()
		require.ErrorIs(t, w.resume(wf(agl.Abandon)), agl.Conflicted)
		require.Empty(t, w.agents())
		require.Equal(t, agl.StateFailed, w.info().State)
	})
}

func TestAnAgentsStepsInAConflictAreCountedWithoutTheQuestions(t *testing.T) {
	t.Parallel()
	w := newClash(t, false)
	w.mend = func(tn *turn) (any, error) { tn.write("same.txt", "both\n"); return patch{}, nil }
	resolve := func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
		var agent bool
		err := c.Ask(ctx, agl.Choose("Who?", agl.Opt("an agent", true), agl.Opt("I", false)).Unattended(true).Into(&agent))
		if err == nil {
			err = c.Step(ctx, editor)
		}
		return c.Retry(), err
	}
	require.NoError(t, w.start(job(clashing(plainly, resolve))))
	require.Contains(t, w.agents(), "editor#1")
}
