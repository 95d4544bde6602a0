package agl_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

var builder = agl.Editor[patch]{Name: "builder", Model: "fake/one", Prompt: "Build it."}

// each runs do for every name at once, and joins the errors in their order.
func each(names []string, do func(name string) error) error {
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { errs[i] = do(name) })
	}
	group.Wait()
	return errors.Join(errs...)
}

type chunks struct{ Names []string }

// splitWith builds each chunk in a worktree and lands it, then reviews.
func splitWith(version int, resolve agl.Resolver) *agl.Workflow[chunks] {
	return agl.NewWorkflow(agl.Spec{Name: "split", Version: version, Roles: []agl.Role{builder, editor, reader}},
		func(ctx context.Context, run *agl.Run, p chunks) error {
			children := map[string]*agl.Run{}
			for _, name := range p.Names {
				child, err := run.Worktree(ctx, name)
				if err != nil {
					return err
				}
				children[name] = child
			}
			err := each(p.Names, func(name string) error {
				child := children[name]
				if err := child.Step(ctx, builder.Commit("build "+name), agl.In("task", name)); err != nil {
					return err
				}
				return child.Integrate(ctx, resolve)
			})
			if err != nil {
				return err
			}
			return run.Step(ctx, reader)
		})
}

// builds scripts the builder to write a file of its chunk, and the reader to
// have nothing to say.
func builds(h *agltest.Harness, path func(task string) string) {
	agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		var task string
		turn.Input("task", &task)
		turn.WriteFile(path(task), fmt.Sprintf("built by %s\n", task))
		return patch{task}, nil
	})
	agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) { return findings{}, nil })
}

func own(task string) string { return task + ".txt" }

func TestChildrenBuildAtOnceAndLandOneByOne(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f"}
	wf := splitWith(1, agl.Abandon)
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		require.NoError(t, h.Start(wf.With(chunks{names})))
		want := map[string]string{}
		for _, name := range names {
			want[own(name)] = fmt.Sprintf("built by %s\n", name)
		}
		require.Equal(t, want, h.Files())
		landings := 0
		for _, r := range h.Journal() {
			if r.Kind == agl.KindLanding {
				landings++
				require.True(t, r.Landing.Moved())
			}
		}
		require.Equal(t, len(names), landings)
		h.Replay(wf)
		require.Len(t, h.Agents(), len(names)+1)
	})
}

// overBoth runs a test in memory and over git.
func overBoth(t *testing.T, test func(t *testing.T, h *agltest.Harness)) {
	t.Helper()
	for name, opts := range map[string]agltest.Options{"memory": {}, "git": {Git: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, opts.New(t))
		})
	}
}

func TestAChildWithNothingNewLandsNothing(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	builds(h, own)
	wf := script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "child")
		if err != nil {
			return err
		}
		for range 2 {
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
			if err := child.Step(ctx, reader); err != nil {
				return err
			}
		}
		if err := child.Step(ctx, builder.Commit("build"), agl.In("task", "x")); err != nil {
			return err
		}
		for range 2 {
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
		}
		return nil
	}, builder, reader)
	require.NoError(t, h.Start(job(wf)))
	var moved []bool
	for _, r := range h.Journal() {
		if r.Kind == agl.KindLanding {
			moved = append(moved, r.Landing.Moved())
		}
	}
	require.Equal(t, []bool{false, false, true, false}, moved)
	h.Replay(wf)
}

func TestConflictsAreResolvedOrGivenUp(t *testing.T) {
	t.Parallel()
	same := func(string) string { return "same.txt" }
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		overBoth(t, func(t *testing.T, h *agltest.Harness) {
			builds(h, same)
			wf := splitWith(1, agl.Abandon)
			err := h.Start(wf.With(chunks{[]string{"a", "b", "c"}}))
			var conflict *agl.ConflictError
			require.True(t, errors.As(err, &conflict), "%v", err)
			require.ErrorIs(t, err, agl.Conflicted)
			require.Equal(t, "same.txt", conflict.Paths[0].Path)
			failed := slices.DeleteFunc(h.Journal(), func(r agl.Record) bool { return r.Failure == nil })
			require.Len(t, failed, 2, "the others' landings failed, one was made")
		})
	})
	t.Run("by an agent", func(t *testing.T) {
		t.Parallel()
		overBoth(t, func(t *testing.T, h *agltest.Harness) {
			builds(h, same)
			agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
				turn.WriteFile("same.txt", "both\n")
				return patch{"merged"}, nil
			})
			wf := splitWith(1, agl.ResolveWith(editor, 1, nil))
			require.NoError(t, h.Start(wf.With(chunks{[]string{"a", "b"}})))
			require.Equal(t, map[string]string{"same.txt": "both\n"}, h.Files())
			h.Replay(wf)
		})
	})
}

func TestASplitSurvivesEveryCrash(t *testing.T) {
	t.Parallel()
	wf := splitWith(1, agl.ResolveWith(editor, 2, nil))
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness {
		h := agltest.New(t)
		builds(h, func(task string) string {
			if task == "c" {
				return "a.txt"
			}
			return own(task)
		})
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("a.txt", "both\n")
			return patch{"merged"}, nil
		})
		return h
	}, wf.With(chunks{[]string{"a", "b", "c"}}), wf)
}

// nests lands a nested child twice in its parent, and that in the run, beside
// another one that changes the same.
var nests = script(func(ctx context.Context, run *agl.Run) error {
	children, err := opens(ctx, run, "left", "right")
	if err != nil {
		return err
	}
	resolve := agl.ResolveWith(editor, 2, nil)
	err = each([]string{"left", "right"}, func(name string) error {
		if name == "right" {
			if err := build(ctx, children[1], "right"); err != nil {
				return err
			}
			return children[1].Integrate(ctx, resolve)
		}
		nested, err := children[0].Worktree(ctx, "nested")
		if err != nil {
			return err
		}
		for _, task := range []string{"one", "two"} {
			if err := build(ctx, nested, task); err != nil {
				return err
			}
			if err := nested.Integrate(ctx, resolve); err != nil {
				return err
			}
		}
		return children[0].Integrate(ctx, resolve)
	})
	if err != nil {
		return err
	}
	_, err = run.Verify(ctx)
	return err
}, builder, editor)

func TestNestedLandingsSurviveEveryCrash(t *testing.T) {
	t.Parallel()
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness {
		h := agltest.New(t)
		builds(h, own)
		h.Conflicts("left", "one.txt")
		h.Gate(func(tree fs.FS) error {
			text, err := fs.ReadFile(tree, "one.txt")
			if err == nil && string(text) == "mended 1\n" {
				return errors.New("FAIL: mended badly")
			}
			return nil
		})
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("one.txt", fmt.Sprintf("mended %d\n", turn.N))
			return patch{}, nil
		})
		return h
	}, job(nests), nests)
}
