package agl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/ports"
)

// Case A22: work that was not landed stays, and is named.
func TestWhatAChildCommittedAndDidNotLandStaysAndIsNamed(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		wf := script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, "landed", "left", "idle")
			if err != nil {
				return err
			}
			for _, child := range children[:2] {
				if err := build(ctx, child, "x"); err != nil {
					return err
				}
			}
			return children[0].Integrate(ctx, agl.Abandon)
		}, builder)
		require.NoError(t, h.Start(job(wf)))
		left := h.Journal()[1]
		var named []string
		for _, text := range noted(h) {
			if strings.Contains(text, "no landing took") {
				named = append(named, text)
			}
		}
		require.Len(t, named, 1)
		require.Contains(t, named[0], "agl/_work/test/left")
		require.Contains(t, named[0], left.Head[:12])
		require.NoError(t, h.Resume(wf))
		cleared, err := h.Engine().Clear(t.Context(), h.Label)
		require.NoError(t, err)
		require.Contains(t, cleared.Tips, ports.Tip{Branch: "agl/_work/test/left", Commit: left.Head})
	})
}

// Case A23: however a landing fails, the child's branch and checkout stay.
func TestAFailedLandingLeavesTheChildAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resolve agl.Resolver
		find    func(task ports.VerifyTask) (ports.Verdict, error)
	}{
		"given up":         {agl.Abandon, nil},
		"a resolver fails": {func(context.Context, *agl.Conflict) (agl.Resolution, error) { panic("no") }, nil},
		"a red gate":       {agl.Abandon, func(ports.VerifyTask) (ports.Verdict, error) { return ports.Verdict{}, nil }},
		"no gate":          {agl.Abandon, func(ports.VerifyTask) (ports.Verdict, error) { return ports.Verdict{}, errors.New("no shell") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, true)
			w.verifier.Command = "make"
			if c.find != nil {
				w.verifier.Find = func(_ context.Context, task ports.VerifyTask, n int) (ports.Verdict, error) {
					if n == 1 { // of a
						return ports.Verdict{Passed: true}, nil
					}
					return c.find(task)
				}
			}
			w.mend = func(tn *turn) (any, error) { tn.write("same.txt", "both\n"); return patch{}, nil }
			resolve := c.resolve
			if c.find != nil { // of the conflict itself, but not of what the gate finds
				resolve = func(ctx context.Context, at *agl.Conflict) (agl.Resolution, error) {
					if at.Verdict != nil {
						return c.resolve(ctx, at)
					}
					return at.Retry(), at.Step(ctx, editor)
				}
			}
			require.Error(t, w.start(job(clashing(plainly, resolve))))
			head := ""
			for _, r := range w.journal() {
				if r.Namespace == "b" && r.Kind == agl.KindStep {
					head = r.Head
				}
			}
			require.Equal(t, head, w.git("rev-parse", "agl/_work/job/b"))
			dir := filepath.Join(filepath.Dir(w.checkout()), "b")
			require.FileExists(t, filepath.Join(dir, "same.txt"))
			require.Empty(t, w.gitIn(dir, "status", "--porcelain"))
		})
	}
}

// hides has the run ignore local.env, and b commit one.
func (c *clash) hides() {
	play := c.play
	c.play = func(tn *turn) (any, error) {
		switch {
		case tn.Role != "builder":
		case tn.Namespace == "_base":
			tn.write(".gitignore", "*.env\n")
		case tn.Namespace == "b":
			c.gitIn(tn.Dir, "rm", "-q", ".gitignore")
			tn.write("local.env", "of b\n")
		}
		return play(tn)
	}
}

// Cases A29 and A30: a file that is in no commit is not overwritten, be it
// ignored or not. That is no conflict to decide about: it is told as what it is,
// and other landings go on.
func TestAFileInTheWayOfALandingIsNamedAndNoResolverIsAsked(t *testing.T) {
	t.Parallel()
	w := newClash(t, true)
	w.hides()
	var asked []string
	resolve := func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
		asked = append(asked, c.Summary())
		w.typed(c, "same.txt", "both\n")
		return c.Retry(), nil
	}
	ready, errs := false, []error{}
	wf := script(func(ctx context.Context, run *agl.Run) error {
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
		if !ready {
			require.NoError(t, os.WriteFile(filepath.Join(w.checkout(), "local.env"), []byte("secret\n"), 0o644))
			ready = true
		}
		errs = nil
		for _, child := range children {
			errs = append(errs, child.Integrate(ctx, resolve))
		}
		return errors.Join(errs...)
	}, builder)
	err := w.start(job(wf))
	require.ErrorContains(t, err, "b was not landed: local.env in "+w.checkout()+" is in no commit and would be overwritten; move it away and resume")
	var conflict *agl.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, []agl.ConflictPath{{Path: "local.env", Kind: ports.ConflictOverwrite}}, conflict.Paths)
	require.NoError(t, errs[2], "the lease is free")
	require.Empty(t, w.mergeHead())

	file := filepath.Join(w.checkout(), "local.env")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "secret\n", string(text))
	require.Empty(t, asked)
	require.NoError(t, os.Remove(file))
	require.NoError(t, w.resume(wf))
	require.Equal(t, []string{"b: conflicts in same.txt (add/add)"}, asked)
	require.Equal(t, "of b\n", w.landed()["local.env"])
}

// Case A31: a landing of nothing says so.
func TestALandingOfNothingIsNoLanding(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		require.NoError(t, h.Start(job(script(func(ctx context.Context, run *agl.Run) error {
			child, err := run.Worktree(ctx, "child")
			if err != nil {
				return err
			}
			if err := build(ctx, run, "x"); err != nil {
				return err
			}
			return child.Integrate(ctx, agl.Abandon)
		}, builder))))
		all := landings(h)
		require.Len(t, all, 1)
		require.False(t, all[0].Landing.Moved())
		require.Equal(t, all[0].Landing.Before, all[0].Landing.After)
		require.Equal(t, h.Run().Head, all[0].Landing.After)
		require.Len(t, h.Commits(), 1)
	})
}

// Case A47: after each landing the parent's checkout stands where its branch
// does, and what the parent does next undoes nothing.
func TestTheParentsCheckoutIsWhereItsBranchIsAfterALanding(t *testing.T) {
	t.Parallel()
	w := newClash(t, true)
	var seen []string
	w.mend = func(tn *turn) (any, error) {
		require.Empty(t, w.gitIn(tn.Dir, "status", "--porcelain"))
		seen = append(seen, tn.Dir)
		tn.write("closing.txt", "x\n")
		return patch{}, nil
	}
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		if err := build(ctx, run, "base"); err != nil {
			return err
		}
		children, err := opens(ctx, run, "a", "c")
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := build(ctx, child, "x"); err != nil {
				return err
			}
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
			require.Empty(t, w.gitIn(w.checkout(), "status", "--porcelain"))
			require.Equal(t, w.git("rev-parse", "agl/job"), w.gitIn(w.checkout(), "rev-parse", "HEAD"))
		}
		return run.Step(ctx, editor.Commit("close"))
	}, builder, editor))))
	require.Len(t, seen, 1)
	require.Equal(t, "base.txt\nc.txt\nclosing.txt\nmain.go\nsame.txt", w.git("ls-tree", "-r", "--name-only", "agl/job"))
}

func TestAConflictOfAPathThatIsNoTextIsToldAndResolved(t *testing.T) {
	t.Parallel()
	const name = "a\n\xff\xfe"
	for what, resolve := range map[string]agl.Resolver{
		"resolved": func(_ context.Context, c *agl.Conflict) (agl.Resolution, error) {
			return c.Retry(), os.WriteFile(filepath.Join(c.Dir, name), []byte("both\n"), 0o600)
		},
		"given up": agl.Abandon,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := agltest.Options{Git: true}.New(t)
			agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) { return findings{}, nil })
			agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
				return patch{}, os.WriteFile(filepath.Join(turn.Dir, name), []byte(turn.Namespace+"\n"), 0o600)
			})
			var met string
			wf := splitWith(1, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
				met = c.Paths[0].Path
				return resolve(ctx, c)
			})
			err := h.Start(wf.With(chunks{[]string{"a", "b"}}))
			require.Equal(t, "a\n\ufffd\ufffd", met)
			if what == "resolved" {
				require.NoError(t, err)
				require.Equal(t, map[string]string{name: "both\n"}, h.Files())
				h.Replay(wf)
				return
			}
			require.ErrorIs(t, err, agl.Conflicted)
		})
	}
}
