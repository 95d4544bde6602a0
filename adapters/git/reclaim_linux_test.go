package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// A9: a lock that a process holds is respected, and nothing is cleaned.
func TestALockedIndexStopsPuttingBackBeforeAnythingIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "edited\n")
	w.write(filepath.Join(ws.Dir(), "z.txt"), "new\n")
	path := filepath.Join(w.adminDir(ws), "index.lock")
	lock, err := os.Create(path)
	require.NoError(t, err)
	_, err = ws.PutBack(t.Context(), w.base, "test")
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "has been there for")
	require.Equal(t, "edited\n", w.read(filepath.Join(ws.Dir(), "a.txt")))
	require.Equal(t, "new\n", w.read(filepath.Join(ws.Dir(), "z.txt")))
	_, err = ws.Commit(t.Context(), commitSpec(w.base, "step"))
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, path)
	require.True(t, w.exists(path))

	require.NoError(t, lock.Close()) // its holder is gone: now it is moved aside
	_, err = ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	whole(t, w, ws, w.base)
	aside, err := filepath.Glob(filepath.Join(w.root, "salvage", label, "aside", "lock-*"))
	require.NoError(t, err)
	require.Len(t, aside, 1)
}

func TestALockIsNotMovedWhileAGitWorksInTheCheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "edited\n")
	path := filepath.Join(w.adminDir(ws), "index.lock")
	w.write(path, "")
	busy := exec.CommandContext(t.Context(), "git", "cat-file", "--batch")
	busy.Dir, busy.Env = ws.Dir(), w.env
	stdin, err := busy.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, busy.Start())
	_, err = ws.PutBack(t.Context(), w.base, "test")
	require.ErrorIs(t, err, ports.Unavailable)
	require.True(t, w.exists(path))
	require.NoError(t, stdin.Close())
	require.NoError(t, busy.Wait())
	_, err = ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
}

// A10.
func TestALockOnTheRunsBranchIsMovedAsideOnlyIfNobodyHoldsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.checkout()
	w.git(w.dir, "commit", "-q", "--allow-empty", "-m", "second")
	second := w.git(w.dir, "rev-parse", "HEAD")
	path := filepath.Join(w.dir, ".git/refs/heads/agl", label+".lock")
	lock, err := os.Create(path)
	require.NoError(t, err)
	err = w.attach().Move(t.Context(), "agl/"+label, w.base, second)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "has been there for")
	require.NoError(t, lock.Close())
	require.NoError(t, w.attach().Move(t.Context(), "agl/"+label, w.base, second))
	require.False(t, w.exists(path))

	foreign := filepath.Join(w.dir, ".git/refs/heads/agl/other.lock") // another run's
	w.write(foreign, "")
	err = w.attach().Move(t.Context(), "agl/other", "", second)
	require.ErrorIs(t, err, ports.Unavailable)
	require.True(t, w.exists(foreign))
}

// A git that is killed while it deletes several refs leaves a lock for each.
func TestClearingMovesTheLocksOfItsOwnRefsAside(t *testing.T) {
	t.Parallel()
	w, _, _, branches := clearedWorld(t)
	locks := []string{"refs/heads/agl/" + label + ".lock", "refs/agl/keep/" + label + "/base.lock"}
	require.NoError(t, w.attach().Keep(t.Context(), "base", w.base))
	for _, lock := range locks {
		w.write(filepath.Join(w.dir, ".git", lock), "")
	}
	_, err := w.attach().Clear(t.Context(), branches)
	require.NoError(t, err)
	require.Empty(t, w.git(w.dir, "for-each-ref", "refs/heads/agl", "refs/agl/keep"))
	for _, lock := range locks {
		require.False(t, w.exists(filepath.Join(w.dir, ".git", lock)))
	}
}

func TestALockThatSomebodyHoldsKeepsALandingFromBeginning(t *testing.T) {
	t.Parallel()
	l := meet(t, map[string]string{"a.txt": lines}, map[string]string{"a.txt": "o\n"}, map[string]string{"a.txt": "t\n", "t.txt": "t\n"})
	path := filepath.Join(l.adminDir(l.ws), "index.lock")
	lock, err := os.Create(path)
	require.NoError(t, err)
	before := snapshot(t, l.ws.Dir())
	_, err = l.in.Merge(t.Context(), l.ws, l.spec)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, path)
	require.Equal(t, before, snapshot(t, l.ws.Dir()))
	l.held(ports.HoldNone)
	require.NoError(t, lock.Close()) // its holder is gone
	m := l.merge()
	lock, err = os.Create(path)
	require.NoError(t, err)
	l.write(l.path("a.txt"), "both\n")
	_, err = l.in.Resolve(t.Context(), l.ws, l.spec, m.Conflicts)
	require.ErrorIs(t, err, ports.Unavailable)
	l.held(ports.HoldEdited)
	require.NoError(t, lock.Close())
	l.land(l.resolve(m.Conflicts))
}

func TestALandingIsCommittedWhereAKilledOneLeftItsLock(t *testing.T) {
	t.Parallel()
	l := meet(t, nil, map[string]string{"ours": "1\n"}, map[string]string{"theirs": "2\n"})
	m := l.merge()
	lock := filepath.Join(l.dir, ".git", "refs", "agl", "keep", label, "made-_base.lock")
	l.write(lock, m.Tree+"\n")
	_, done := l.land(m)
	require.Nil(t, done.Salvage)
	require.NoFileExists(t, lock)
}
