//go:build linux

package killtest_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents returns the files in a folder of the run's documents.
func (s *sandbox) documents(folder string) []string {
	found, err := filepath.Glob(filepath.Join(s.runDir(), folder, "*.json"))
	require.NoError(s.t, err)
	return found
}

// operators tells what is the operator's and must not change: the files of the
// checkout, its HEAD, its index, and every ref that is not AGL's.
func (s *sandbox) operators() []string {
	s.t.Helper()
	lines := digest(s.t, s.repo, func(name string) bool { return name == ".git" })
	return append(lines, digest(s.t, s.gitDir(), func(name string) bool {
		switch name {
		case ".", "objects", "worktrees", "refs/heads/agl", "refs/agl", "logs/refs/heads/agl", "logs/refs/agl", worktreesLock:
			return true
		}
		return false
	})...)
}

// worktreesLock is the file by which adding worktrees is locked; it stays.
const worktreesLock = "agl-worktrees.lock"

// heldMerge is what git keeps of a merge that is not concluded.
var heldMerge = []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE"}

// leavesNothing checks that the run has left nothing behind but its records,
// its branches and its checkouts.
func (s *sandbox) leavesNothing(operators []string) {
	s.t.Helper()
	if diff := cmp.Diff(operators, s.operators()); diff != "" {
		s.t.Errorf("what is the operator's changed (-was +is):\n%s", diff)
	}
	for _, p := range processes("AGL_RUN=" + s.nonce()) {
		s.t.Errorf("process %d of the run is left: %q", p.Pid, read(filepath.Join("/proc", itoa(p.Pid), "cmdline")))
	}
	walk(s.t, s.gitDir(), func(name, _ string, d fs.DirEntry) bool {
		if strings.HasSuffix(name, ".lock") && name != worktreesLock || slices.Contains(heldMerge, filepath.Base(name)) {
			s.t.Errorf(".git/%s is left", name)
		}
		return false
	})
	walk(s.t, s.runDir(), func(name, _ string, d fs.DirEntry) bool {
		known := name == "run.json" || slices.Contains([]string{"records", "notes"}, filepath.Dir(name)) && strings.HasSuffix(name, ".json")
		if !d.IsDir() && !known {
			s.t.Errorf("%s is left in the run's folder", name)
		}
		return false
	})
	list := s.realGit(s.repo, "worktree", "list", "--porcelain")
	assert.NotContains(s.t, list, "prunable")
	assert.NotContains(s.t, list, "locked")
	assert.Equal(s.t, 2+len(s.chunks), strings.Count(list, "worktree "), "worktrees: %s", list)
	assert.Empty(s.t, s.realGit(s.repo, "fsck", "--full", "--no-dangling", "--no-progress"))
	branches := map[string]string{s.checkout(): "agl/" + label}
	for _, chunk := range s.chunks {
		branches[filepath.Join(filepath.Dir(s.checkout()), chunk)] = "agl/_work/" + label + "/" + chunk
	}
	for dir, branch := range branches {
		assert.Contains(s.t, list, "worktree "+dir+"\n")
		assert.Equal(s.t, "## "+branch, s.realGit(dir, "status", "--porcelain", "--branch"), "the checkout %s", dir)
	}
	assert.True(s.t, s.lockIsFree(), "the run's lock is held")
}

// nonce is what the run's processes carry.
func (s *sandbox) nonce() string {
	s.t.Helper()
	var run struct{ Nonce string }
	require.NoError(s.t, json.Unmarshal([]byte(read(filepath.Join(s.runDir(), "run.json"))), &run))
	require.NotEmpty(s.t, run.Nonce)
	return run.Nonce
}

// lockIsFree reports whether somebody else could have the run's lock at once.
func (s *sandbox) lockIsFree() bool {
	s.t.Helper()
	f, err := os.Open(s.runLock())
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	require.NoError(s.t, err)
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		require.ErrorIs(s.t, err, syscall.EWOULDBLOCK)
	}
	return err == nil
}
