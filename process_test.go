package agl_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/git"
	"example.com/agl/internal/gittest"
)

// countGit puts a program before git that leaves a file for each process, and
// returns a function that counts them.
func (w *world) countGit() func() int {
	w.t.Helper()
	dir, calls := w.t.TempDir(), w.t.TempDir()
	real, err := exec.LookPath("git")
	require.NoError(w.t, err)
	shim := fmt.Sprintf("#!/bin/sh\n: >'%s'/$$\nexec '%s' \"$@\"\n", calls, real)
	gittest.Program(w.t, filepath.Join(dir, "git"), shim)
	repo, err := git.Open(w.t.Context(), git.Options{
		Repo: w.gitDir, Trees: w.trees, SalvageDir: w.t.TempDir(),
		Env: append([]string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}, w.gitEnv[1:]...),
	})
	require.NoError(w.t, err)
	w.set.Workspaces, w.set.Integrator, w.set.History = repo, repo.Integrator(), repo
	return func() int {
		entries, err := os.ReadDir(calls)
		require.NoError(w.t, err)
		return len(entries)
	}
}

func TestAReaderThatChangesNothingCostsOneGitProcess(t *testing.T) {
	t.Parallel()
	var count func() int
	var at []int
	w := newWorld(t, func(*turn) (any, error) {
		at = append(at, count())
		return findings{}, nil
	})
	w.overGit()
	count = w.countGit()
	wf := script(func(ctx context.Context, run *agl.Run) error {
		for i := range 3 {
			if err := run.Step(ctx, reader, agl.In("n", i)); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, w.start(job(wf)))
	require.Positive(t, at[0], "git leaves its traces")
	want := 1 // after an agent; that there is nothing to put back before it is seen without git
	if runtime.GOOS != "linux" {
		want = 2
	}
	require.Equal(t, want, at[2]-at[1])
	before := count()
	require.NoError(t, w.resume(wf))
	require.Equal(t, before, count(), "a resume of a finished run reads files and no more")
}
