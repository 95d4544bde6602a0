//go:build linux

package killtest_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
)

// TestARunStartedFromAGitHookStaysInItsOwnRepository runs with the variables
// that git gives its hooks, pointing at another repository.
func TestARunStartedFromAGitHookStaysInItsOwnRepository(t *testing.T) {
	takeTurn(t)
	w := fixPlay.uninterrupted(t)
	s := newSandbox(t, fixPlay.script())
	sentinel := gittest.New(t, map[string]string{"sentinel": "untouched\n"})
	before := digest(t, sentinel.Dir, nil)
	operators := s.operators()
	hook := []string{
		"GIT_DIR=" + filepath.Join(sentinel.Dir, ".git"), "GIT_INDEX_FILE=" + filepath.Join(sentinel.Dir, ".git", "index"),
		"GIT_WORK_TREE=" + sentinel.Dir, "GIT_PREFIX=", "GIT_OBJECT_DIRECTORY=" + filepath.Join(sentinel.Dir, ".git", "objects"),
	}
	r := s.start(point{gitCall, w.calls / 2, after}, hook, "agl", fixPlay.run(s)...).wait()
	require.True(t, r.killed, "%s", r)
	s.noteKill()
	r = s.start(point{}, hook, "agl", s.next(fixPlay)...).wait()
	require.Zero(t, r.code, "%s", r)
	s.isDone(w)
	s.leavesNothing(operators)
	if diff := cmp.Diff(before, digest(t, sentinel.Dir, nil)); diff != "" {
		t.Errorf("the sentinel changed (-was +is):\n%s", diff)
	}
	assert.NoFileExists(t, filepath.Join(sentinel.Dir, "hello.go"))
}
