package agltest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

var mender = agl.Editor[agl.None]{Name: "mender", Model: "claude/opus", Prompt: "Mend it."}

type chunks struct{ Names []string }

// split has each chunk edited in a worktree, and lands them in order; a mender
// tries twice where that cannot go on.
var split = agl.NewWorkflow(agl.Spec{Name: "split", Version: 1, Roles: []agl.Role{editor, mender}},
	func(ctx context.Context, run *agl.Run, p chunks) error {
		children := make([]*agl.Run, len(p.Names))
		for i, name := range p.Names {
			child, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			children[i] = child
			if err := child.Step(ctx, editor.Commit("build "+name)); err != nil {
				return err
			}
		}
		for _, child := range children {
			if err := child.Integrate(ctx, agl.ResolveWith(mender, 2, agl.Abandon)); err != nil {
				return err
			}
		}
		return nil
	})

// builds scripts the editor to write a file named for its worktree.
func builds(h *agltest.Harness) {
	agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		turn.WriteFile(turn.Namespace+".txt", "of "+turn.Namespace+"\n")
		return patch{}, nil
	})
}

// mends scripts the mender to leave a file as it is at first, and then to take
// theirs. It keeps what it found there.
func mends(h *agltest.Harness, path string, from int) *[]string {
	found := new([]string)
	agltest.Handle(h, mender, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
		text, err := fs.ReadFile(turn.Tree, path)
		if err != nil {
			return agl.None{}, err
		}
		*found = append(*found, string(text))
		if len(*found) >= from {
			_, text, _ = bytes.Cut(text, []byte("=======\n"))
			text, _, _ = bytes.Cut(text, []byte(">>>>>>> "))
			turn.WriteFile(path, string(text)+"mended\n")
		}
		return agl.None{}, nil
	})
	return found
}

func TestALandingMeetsTheConflictThatIsScripted(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		builds(h)
		h.Conflicts("two", "two.txt")
		found := mends(h, "two.txt", 1)
		require.NoError(t, h.Start(split.With(chunks{[]string{"one", "two"}})))
		require.Equal(t, []string{"<<<<<<< HEAD\n=======\nof two\n>>>>>>> agl/_work/test/two\n"}, *found)
		files := h.Files()
		require.Equal(t, "of one\n", files["one.txt"])
		require.Equal(t, "of two\nmended\n", files["two.txt"])
		h.Replay(split)
	})
}

func TestAScriptedConflictHasBothSidesAndMayBeBesideARealOne(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("real.txt", turn.Namespace)
			turn.WriteFile(turn.Namespace+".txt", "x")
			return patch{}, nil
		})
		h.Conflicts("two", "main.go", "real.txt")
		err := h.Start(giveUp.With(chunks{[]string{"one", "two"}}))
		var conflict *agl.ConflictError
		require.True(t, errors.As(err, &conflict), "%v", err)
		require.Equal(t, []string{"main.go content", "real.txt add/add"}, []string{
			conflict.Paths[0].Path + " " + conflict.Paths[0].Kind, conflict.Paths[1].Path + " " + conflict.Paths[1].Kind,
		})
		require.NotContains(t, h.Files(), "two.txt")
	})
}

// giveUp is split without a mender.
var giveUp = agl.NewWorkflow(agl.Spec{Name: "give-up", Version: 1, Roles: []agl.Role{editor}},
	func(ctx context.Context, run *agl.Run, p chunks) error {
		var children []*agl.Run
		for _, name := range p.Names {
			child, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			if err := child.Step(ctx, editor.Commit("build "+name)); err != nil {
				return err
			}
			children = append(children, child)
		}
		for _, child := range children {
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
		}
		return nil
	})

func TestMarkersThatAreLeftAreAConflictAgain(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		builds(h)
		h.Conflicts("one", "main.go")
		found := mends(h, "main.go", 2)
		require.NoError(t, h.Start(split.With(chunks{[]string{"one"}})))
		require.Len(t, *found, 2)
		require.Equal(t, "package main\nmended\n", h.Files()["main.go"])
	})
}

// A landing that was given up is recorded; the one that is made in its place
// is another, which no conflict is scripted for.
func TestAScriptedConflictIsOneLandingsAlone(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		builds(h)
		h.Conflicts("one", "main.go")
		require.ErrorIs(t, h.Start(giveUp.With(chunks{[]string{"one"}})), agl.Conflicted)
		require.NoError(t, h.Resume(giveUp))
		require.Equal(t, "of one\n", h.Files()["one.txt"])
	})
}

func TestAnInterruptedLandingMeetsItsConflictAgain(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		builds(h)
		h.Conflicts("one", "main.go")
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		agltest.Handle(h, mender, func(ctx context.Context, turn *agltest.Turn) (agl.None, error) {
			switch calls++; calls {
			case 1:
				cancel()
				<-ctx.Done()
				return agl.None{}, ctx.Err()
			case 2:
				turn.Crash()
			}
			turn.WriteFile("main.go", "mended\n")
			return agl.None{}, nil
		})
		h.Context = ctx
		require.ErrorIs(t, h.Start(split.With(chunks{[]string{"one"}})), context.Canceled)
		h.Context = nil
		require.ErrorIs(t, h.Resume(split), agltest.ErrCrashed)
		require.NoError(t, h.Resume(split))
		require.Equal(t, 3, calls)
		require.Equal(t, "mended\n", h.Files()["main.go"])
	})
}

// Two changes that are green alone and red together: the second landing meets
// a red gate, whatever git says.
func TestTheGateLooksAtTheTreeThatIsToLand(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		builds(h)
		h.Gate(func(tree fs.FS) error {
			_, one := fs.Stat(tree, "one.txt")
			_, two := fs.Stat(tree, "two.txt")
			_, mended := fs.Stat(tree, "mended.txt")
			if one == nil && two == nil && mended != nil {
				return errors.New("FAIL: one and two")
			}
			return nil
		})
		var outputs []string
		agltest.Handle(h, mender, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
			var output string
			turn.Input("output", &output)
			outputs = append(outputs, output)
			turn.WriteFile("mended.txt", "x")
			return agl.None{}, nil
		})
		require.NoError(t, h.Start(split.With(chunks{[]string{"one", "two"}})))
		require.Equal(t, []string{"FAIL: one and two"}, outputs)
		require.Contains(t, h.Files(), "mended.txt")
		h.Replay(split)
	})
}

func TestAGateThatCannotBeRunIsAnError(t *testing.T) {
	t.Parallel()
	for name, gate := range map[string]func(fs.FS) error{
		"not started": func(fs.FS) error { return fmt.Errorf("no compiler: %w", agl.Unavailable) },
		"panics":      func(fs.FS) error { panic("in the gate") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := agltest.New(t)
			builds(h)
			h.Gate(gate)
			err := h.Start(giveUp.With(chunks{[]string{"one"}}))
			require.Error(t, err)
			require.NotErrorIs(t, err, agl.Conflicted)
			require.NotContains(t, h.Files(), "one.txt")
		})
	}
}

func TestLandingsSurviveCrashes(t *testing.T) {
	t.Parallel()
	build := func(t *testing.T) *agltest.Harness {
		h := agltest.Options{Files: map[string]string{"main.go": "package main\n"}}.New(t)
		builds(h)
		h.Conflicts("one", "main.go")
		h.VerifierFails("FAIL", 1)
		h.Gate(func(tree fs.FS) error {
			_, err := fs.Stat(tree, "two.txt")
			_, mended := fs.Stat(tree, "mended.txt")
			if err == nil && mended != nil {
				return errors.New("FAIL: two")
			}
			return nil
		})
		agltest.Handle(h, mender, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
			turn.WriteFile("main.go", fmt.Sprintf("package main // by mender %d\n", turn.N))
			if turn.N > 1 {
				turn.WriteFile("mended.txt", "x")
			}
			return agl.None{}, nil
		})
		return h
	}
	job := split.With(chunks{[]string{"one", "two"}})
	h := build(t)
	require.NoError(t, h.Start(job))
	h.Replay(split)
	agltest.CrashEverywhere(t, build, job, split)
}

func TestATurnInAConflictSaysWhichLandingItIs(t *testing.T) {
	t.Parallel()
	twice := agl.NewWorkflow(agl.Spec{Name: "twice", Version: 1, Roles: []agl.Role{editor, mender}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			child, err := run.Worktree(ctx, "one")
			if err != nil {
				return err
			}
			for range 2 {
				if err := child.Step(ctx, editor.Commit("x")); err != nil {
					return err
				}
				if err := child.Integrate(ctx, agl.ResolveWith(mender, 2, nil)); err != nil {
					return err
				}
			}
			return nil
		})
	h := agltest.New(t)
	var turns []string
	turned := func(turn *agltest.Turn) {
		turns = append(turns, fmt.Sprintf("%s #%d in landing %d", turn.Role, turn.N, turn.Landing))
		turn.WriteFile(turn.Role+".txt", fmt.Sprint(len(turns)))
	}
	agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		turned(turn)
		h.VerifierFails("red", 3-turn.N) // the first landing needs both tries
		return patch{}, nil
	})
	agltest.Handle(h, mender, func(_ context.Context, turn *agltest.Turn) (agl.None, error) { turned(turn); return agl.None{}, nil })
	require.NoError(t, h.Start(twice.With(agl.None{})))
	require.Equal(t, []string{
		"editor #1 in landing 0", "mender #1 in landing 1", "mender #2 in landing 1",
		"editor #2 in landing 0", "mender #1 in landing 2",
	}, turns)
}
