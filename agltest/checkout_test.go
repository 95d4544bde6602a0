package agltest_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

func TestACommittingFunctionSurvivesEveryCrash(t *testing.T) {
	t.Parallel()
	notes := agl.Func("notes", func(_ context.Context, w agl.World) (int, error) {
		log, err := fs.ReadFile(w.Tree, "CHANGELOG.md")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		return len(log), errors.Join(
			w.WriteFile("CHANGELOG.md", append(log, "- a change\n"...)),
			w.WriteFile("docs/deep/x.md", []byte("x")),
			w.Remove("old"),
			w.Remove("old"))
	}).Commit("notes")
	wf := agl.NewWorkflow(agl.Spec{Name: "notes", Version: 1, Roles: []agl.Role{}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			if err := run.Do(ctx, notes); err != nil {
				return err
			}
			return run.Do(ctx, notes)
		})
	for name, git := range map[string]bool{"memory": false, "git": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			build := func(t *testing.T) *agltest.Harness {
				return agltest.Options{Git: git, Files: map[string]string{"old/a": "a", "old/b/c": "c", "kept": "k"}}.New(t)
			}
			h := build(t)
			require.NoError(t, h.Start(wf.With(agl.None{})))
			require.Equal(t, map[string]string{"kept": "k", "CHANGELOG.md": "- a change\n- a change\n", "docs/deep/x.md": "x"}, h.Files())
			require.Equal(t, []string{"CHANGELOG.md", "docs/deep/x.md", "old/a", "old/b/c"}, h.Commits()[0].Paths)
			h.Replay(wf)
			agltest.CrashEverywhere(t, build, wf.With(agl.None{}), wf)

			h = build(t)
			h.CrashAt("_base call notes #2: write file CHANGELOG.md")
			require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
			require.Equal(t, "- a change\n", h.Files()["CHANGELOG.md"])
		})
	}
}

func TestInMemoryNothingCanBeDoneInAFolder(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w agl.World) error{
		"writing":    func(w agl.World) error { return os.WriteFile(filepath.Join(w.Dir, "x"), nil, 0o666) },
		"writing up": func(w agl.World) error { return os.WriteFile(filepath.Join(w.Dir, "..", "..", "x"), nil, 0o666) },
		"a folder":   func(w agl.World) error { return os.MkdirAll(filepath.Join(w.Dir, "x", "y"), 0o777) },
		"reading":    func(w agl.World) error { _, err := os.ReadDir(w.Dir); return err },
		"moving in":  func(w agl.World) error { return os.Chdir(w.Dir) },
		"a root":     func(w agl.World) error { _, err := os.OpenRoot(w.Dir); return err },
		"a program": func(w agl.World) error {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Dir = w.Dir
			return cmd.Run()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var called error
			wf := agl.NewWorkflow(agl.Spec{Name: "w", Version: 1, Roles: []agl.Role{}},
				func(ctx context.Context, run *agl.Run, _ agl.None) error {
					return run.Do(ctx, agl.Func("act", func(_ context.Context, w agl.World) (int, error) {
						called = act(w)
						return 1, called
					}).Commit("act"))
				})
			err := agltest.New(t).Start(wf.With(agl.None{}))
			require.Error(t, called)
			require.ErrorContains(t, err, "use World.WriteFile")
			require.ErrorContains(t, err, "agltest.Options.Git")
		})
	}
}

func TestAReadersToolThatWritesIsCaught(t *testing.T) {
	t.Parallel()
	files := map[string]string{"main.go": "package main\n"}
	for name, opts := range map[string]agltest.Options{"memory": {Files: files}, "git": {Git: true, Files: files}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scribble := agl.NewTool("scribble", "Scribbles.", func(_ context.Context, w agl.World, _ agl.None) (agl.None, error) {
				return agl.None{}, w.WriteFile("main.go", nil)
			})
			role := reader.With(scribble)
			wf := agl.NewWorkflow(agl.Spec{Name: "w", Version: 1, Roles: []agl.Role{role}},
				func(ctx context.Context, run *agl.Run, _ agl.None) error { return run.Step(ctx, role) })
			h := opts.New(t)
			agltest.Handle(h, role, func(_ context.Context, turn *agltest.Turn) (findings, error) {
				require.False(t, turn.Call("scribble", agl.None{}).Rejected)
				return findings{}, nil
			})
			err := h.Start(wf.With(agl.None{}))
			require.ErrorIs(t, err, agl.Unexpected)
			require.ErrorContains(t, err, "it is held to reading, and changed main.go")
			require.Equal(t, files, h.Files())
		})
	}
}

func TestAWorldThatNoRunGaveHasNothingToWriteTo(t *testing.T) {
	t.Parallel()
	w := agl.World{Dir: t.TempDir()}
	require.ErrorIs(t, w.WriteFile("x", nil), agl.Invalid)
	require.ErrorIs(t, w.Remove("x"), agl.Invalid)
}
