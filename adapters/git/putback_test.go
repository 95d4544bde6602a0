package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// kept returns what a salvage of the run holds at path.
func kept(t *testing.T, w *world, salvage *ports.Salvage, path string) string {
	t.Helper()
	require.NotNil(t, salvage)
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, w.repo.WriteSalvage(t.Context(), label, salvage.N, dir))
	return w.read(filepath.Join(dir, path))
}

func TestPuttingBackKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".gitignore": "*.log\n", "a.txt": "one\n", "dir/b.txt": "two\n"})
	ws := w.checkout()
	dir := ws.Dir()
	w.write(filepath.Join(dir, "a.txt"), "edited\r\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "dir/b.txt")))
	w.write(filepath.Join(dir, "new/c.txt"), "new\n")
	w.write(filepath.Join(dir, "staged.txt"), "staged\n")
	w.git(dir, "add", "staged.txt")
	w.write(filepath.Join(dir, "build.log"), "ignored\n")
	w.write(filepath.Join(dir, ".gitignore"), "*.log\nhidden*\n")
	w.write(filepath.Join(dir, "hidden.txt"), "hidden\n")
	w.git(dir, "update-index", "--skip-worktree", "a.txt")

	done, err := ws.PutBack(t.Context(), w.base, "a test")
	require.NoError(t, err)
	whole(t, w, ws, w.base)
	require.Equal(t, "one\n", w.read(filepath.Join(dir, "a.txt")))
	require.Equal(t, "ignored\n", w.read(filepath.Join(dir, "build.log")), "ignored files stay")
	for path, want := range map[string]string{
		"a.txt": "edited\r\n", "new/c.txt": "new\n", "staged.txt": "staged\n", "hidden.txt": "hidden\n", "dir/b.txt": "<absent>",
	} {
		require.Equal(t, want, kept(t, w, done.Salvage, path), path)
	}
	require.Equal(t, "a test", done.Salvage.Reason)
}

func TestPuttingBackACleanCheckoutKeepsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	done, err := w.checkout().PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	require.Equal(t, ports.PutBack{}, done)
}

// A1.
func TestAWorktreeWithinTheCheckoutSurvives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	inner := filepath.Join(ws.Dir(), ".trees", "x", "child")
	w.git(ws.Dir(), "worktree", "add", "-q", "-b", "child", inner)
	w.write(filepath.Join(inner, "work.txt"), "work\n")
	done, err := ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	whole(t, w, ws, w.base)
	require.NotNil(t, done.Salvage)
	require.Len(t, done.Salvage.Nested, 1)
	moved := done.Salvage.Nested[0]
	require.Equal(t, "work\n", w.read(filepath.Join(moved, "work.txt")))
	require.Equal(t, "?? work.txt", w.git(moved, "status", "--porcelain"), "it is still a worktree")
	require.NotContains(t, w.git(w.dir, "worktree", "list", "--porcelain"), "prunable")
}

func TestWithoutTheRunLockNoLockFileIsMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.checkout()
	trees, err := w.repo.Attach(t.Context(), label, nil)
	require.NoError(t, err)
	ws, err := trees.Open(t.Context(), basePlace(), w.base)
	require.NoError(t, err)
	w.write(filepath.Join(ws.Dir(), "a.txt"), "edited\n")
	path := filepath.Join(w.adminDir(ws), "index.lock")
	w.write(path, "")
	_, err = ws.PutBack(t.Context(), w.base, "test")
	require.ErrorIs(t, err, ports.Unavailable)
	require.True(t, w.exists(path))
}

// An agent that attacks the repository: its checkout is put right, and what it
// put in the way is kept.
func TestACheckoutThatAnAgentBrokeIsRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attack   func(t *testing.T, w *world, ws ports.Workspace)
		rejected string // what a commit's refusal names; empty if it can be committed
	}{
		"its .git replaced by a repository": {func(t *testing.T, w *world, ws ports.Workspace) {
			require.NoError(t, os.Remove(filepath.Join(ws.Dir(), ".git")))
			w.git(ws.Dir(), "init", "-q")
			w.git(ws.Dir(), "config", "core.worktree", w.home)
		}, ".git"},
		"its .git sent to another repository": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.write(filepath.Join(ws.Dir(), ".git"), "gitdir: "+filepath.Join(w.dir, ".git")+"\n")
		}, ".git"},
		"its .git a link": {func(t *testing.T, w *world, ws ports.Workspace) {
			require.NoError(t, os.Remove(filepath.Join(ws.Dir(), ".git")))
			require.NoError(t, os.Symlink(filepath.Join(w.dir, ".git"), filepath.Join(ws.Dir(), ".git")))
		}, ".git"},
		"its .git gone": {func(t *testing.T, w *world, ws ports.Workspace) {
			require.NoError(t, os.Remove(filepath.Join(ws.Dir(), ".git")))
		}, ".git"},
		"a link in its place": {func(t *testing.T, w *world, ws ports.Workspace) {
			require.NoError(t, os.Rename(ws.Dir(), ws.Dir()+".moved"))
			require.NoError(t, os.Symlink(w.home, ws.Dir()))
		}, "not a directory"},
		"the whole checkout gone": {func(t *testing.T, w *world, ws ports.Workspace) {
			require.NoError(t, os.RemoveAll(ws.Dir()))
		}, "not a directory"},
		"its folder in the repository gone": {func(t *testing.T, w *world, ws ports.Workspace) {
			require.NoError(t, os.RemoveAll(w.adminDir(ws)))
		}, "commondir"},
		"its folder sent elsewhere": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.adminDir(ws), "commondir"), w.home+"\n")
		}, "commondir"},
		"a link for its folder": {func(t *testing.T, w *world, ws ports.Workspace) {
			admin := w.adminDir(ws)
			require.NoError(t, os.Rename(admin, filepath.Join(w.root, "admin")))
			require.NoError(t, os.Symlink(filepath.Join(w.root, "admin"), admin))
		}, "worktrees/_base"},
		"a link for the branches": {func(t *testing.T, w *world, _ ports.Workspace) {
			agl := filepath.Join(w.dir, ".git/refs/heads/agl")
			require.NoError(t, os.RemoveAll(agl))
			require.NoError(t, os.Symlink(w.home, agl))
		}, "refs/heads/agl is a link"},
		"garbage in HEAD": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.adminDir(ws), "HEAD"), "garbage\n")
		}, "HEAD"},
		"a folder for HEAD": {func(t *testing.T, w *world, ws ports.Workspace) {
			head := filepath.Join(w.adminDir(ws), "HEAD")
			require.NoError(t, os.Remove(head))
			require.NoError(t, os.Mkdir(head, 0o755))
		}, "HEAD"},
		"garbage for an index": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.adminDir(ws), "index"), strings.Repeat("garbage\n", 100))
		}, "index"},
		"a branch at no commit": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.dir, ".git/refs/heads/agl", label), strings.Repeat("ab", 20)+"\n")
		}, "no commit"},
		"HEAD at no commit": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.adminDir(ws), "HEAD"), strings.Repeat("ab", 20)+"\n")
		}, ""},
		"garbage in the branch": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.dir, ".git/refs/heads/agl", label), "garbage\n")
		}, "no commit id"},
		"a pipe for the branch": {func(t *testing.T, w *world, ws ports.Workspace) {
			path := filepath.Join(w.dir, ".git/refs/heads/agl", label)
			require.NoError(t, os.Remove(path))
			require.NoError(t, exec.Command("mkfifo", path).Run())
		}, "no commit id"},
		"a pipe for HEAD": {func(t *testing.T, w *world, ws ports.Workspace) {
			path := filepath.Join(w.adminDir(ws), "HEAD")
			require.NoError(t, os.Remove(path))
			require.NoError(t, exec.Command("mkfifo", path).Run())
		}, "HEAD"},
		"a branch deleted": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.git(w.dir, "update-ref", "-d", "refs/heads/agl/"+label)
		}, ""},
		"a branch of somebody else's checked out": {func(t *testing.T, w *world, ws ports.Workspace) {
			w.git(ws.Dir(), "checkout", "-q", "--ignore-other-worktrees", "main")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			admin := w.adminDir(ws)
			w.write(filepath.Join(ws.Dir(), "work.txt"), "work\n")
			home, operator := snapshot(t, w.home), w.git(w.dir, "status", "--porcelain", "--branch")
			c.attack(t, w, ws)
			if c.rejected != "" {
				_, err := ws.Commit(t.Context(), commitSpec(w.base, "step"))
				var refused *ports.RejectedError
				require.ErrorAs(t, err, &refused)
				require.ErrorContains(t, err, c.rejected)
				changes, err := ws.Inspect(t.Context(), w.base)
				require.NoError(t, err)
				require.Equal(t, ports.Changes{Tracked: []string{".git"}}, changes)
			}
			done, err := ws.PutBack(t.Context(), w.base, "test")
			require.NoError(t, err)
			require.False(t, c.rejected != "" && len(done.Notes) == 0, "what was repaired is not told")
			whole(t, w, ws, w.base)
			require.Equal(t, "gitdir: "+admin+"\n", w.read(filepath.Join(ws.Dir(), ".git")))
			require.Equal(t, home, snapshot(t, w.home), "something outside the checkout changed")
			require.Equal(t, operator, w.git(w.dir, "status", "--porcelain", "--branch"))
			found := ""
			for _, dir := range []string{filepath.Join(w.root, "salvage"), ws.Dir() + ".moved"} {
				_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
					if err == nil && d.Name() == "work.txt" {
						found = path
					}
					return nil
				})
			}
			list, err := w.repo.Salvaged(t.Context(), label)
			require.NoError(t, err)
			for _, s := range list {
				if kept(t, w, &s, "work.txt") == "work\n" {
					found = s.Ref
				}
			}
			if name != "the whole checkout gone" {
				require.NotEmpty(t, found, "the work is lost")
			}
			again, err := ws.PutBack(t.Context(), w.base, "test")
			require.NoError(t, err)
			require.Equal(t, ports.PutBack{}, again)
		})
	}
}

// A48.
func TestFilesThatArriveAfterACommitAreToldByTheNextPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "work.txt"), "work\n")
	made := w.commit(ws, w.base, "step")
	w.write(filepath.Join(ws.Dir(), "late.log"), "late\n")
	done, err := ws.PutBack(t.Context(), made.ID, "what a process left behind")
	require.NoError(t, err)
	require.Equal(t, "late\n", kept(t, w, done.Salvage, "late.log"))
	whole(t, w, ws, made.ID)
}

// A20, A26.
func TestStrayCommitsAreSalvagedBeforeTheBranchIsPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "own.txt"), "own\n")
	w.git(ws.Dir(), "add", "-A")
	w.git(ws.Dir(), "commit", "-q", "-m", "own")
	own := w.git(ws.Dir(), "rev-parse", "HEAD")
	w.git(ws.Dir(), "checkout", "-q", "--detach")
	w.git(ws.Dir(), "commit", "-q", "--allow-empty", "-m", "detached")
	detached := w.git(ws.Dir(), "rev-parse", "HEAD")
	changes, err := ws.Inspect(t.Context(), w.base)
	require.NoError(t, err)
	require.Equal(t, ports.Changes{Head: detached, Detached: true}, changes)
	_, err = ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	whole(t, w, ws, w.base)
	for _, commit := range []string{own, detached} {
		require.NotEmpty(t, w.git(w.dir, "for-each-ref", "--contains", commit, "refs/agl/salvage/"))
	}
}

func TestABranchMovedBehindADetachedHeadIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.git(ws.Dir(), "commit", "-q", "--allow-empty", "-m", "own")
	own := w.git(ws.Dir(), "rev-parse", "HEAD")
	w.git(ws.Dir(), "checkout", "-q", "--detach", w.base)
	changes, err := ws.Inspect(t.Context(), w.base)
	require.NoError(t, err)
	require.Equal(t, ports.Changes{Head: own, Detached: true}, changes)
}

func TestTheTreeHoldsTheFilesAndNothingOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	require.NoError(t, os.Symlink(w.home, filepath.Join(ws.Dir(), "out")))
	var names []string
	require.NoError(t, fsWalk(ws.Tree(), func(name string) { names = append(names, name) }))
	require.Equal(t, []string{"a.txt", "dir/b.txt", "out"}, names)
	for _, name := range []string{"out/gitconfig", ".git"} {
		_, err := ws.Tree().Open(name)
		require.Error(t, err, name)
	}
}

// Some tools leave folders in which nothing can be removed.
func TestFoldersThatAreNotWritableArePutBackAndCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n", ".gitignore": "cache/\n"})
	ws := w.checkout()
	closeFolders := func() {
		for _, dir := range []string{"mod/deep", "mod", "dir", "cache"} {
			w.write(filepath.Join(ws.Dir(), dir, "x.txt"), "x\n")
		}
		for _, dir := range []string{"mod/deep", "mod", "dir", "cache"} {
			require.NoError(t, os.Chmod(filepath.Join(ws.Dir(), dir), 0o555))
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(ws.Dir(), dir), 0o755) })
		}
	}
	closeFolders()
	done, err := ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	require.Equal(t, "x\n", kept(t, w, done.Salvage, "mod/deep/x.txt"))
	whole(t, w, ws, w.base)
	require.NoError(t, os.Chmod(filepath.Join(ws.Dir(), "cache"), 0o755))
	closeFolders()
	_, err = w.attach().Clear(t.Context(), map[string]string{"agl/" + label: w.base})
	require.NoError(t, err)
	require.False(t, w.exists(ws.Dir()))
}

// Git does not tell of the files in a folder that it cannot look into: a build
// that left one would make the commit of the next step fail. (Root can.)
func TestFilesInFoldersThatCannotBeReadAreSalvaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	closeFolder := func(text string) {
		w.write(filepath.Join(ws.Dir(), "closed", "x.txt"), text)
		require.NoError(t, os.Chmod(filepath.Join(ws.Dir(), "closed"), 0))
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(ws.Dir(), "closed"), 0o755) })
	}
	closeFolder("put back\n")
	done, err := ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	require.Equal(t, "put back\n", kept(t, w, done.Salvage, "closed/x.txt"))
	whole(t, w, ws, w.base)
	closeFolder("cleared\n")
	cleared, err := w.attach().Clear(t.Context(), map[string]string{"agl/" + label: w.base})
	require.NoError(t, err)
	last := cleared.Salvage[len(cleared.Salvage)-1]
	require.Equal(t, "cleared\n", kept(t, w, &last, "closed/x.txt"))
}

func TestPuttingBackFollowsNoLinkOutOfTheCheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	outside := filepath.Join(w.root, "outside")
	w.write(filepath.Join(outside, "b.txt"), "outside\n")
	w.write(filepath.Join(outside, "more.txt"), "outside\n")
	require.NoError(t, os.RemoveAll(filepath.Join(ws.Dir(), "dir")))
	require.NoError(t, os.Symlink(outside, filepath.Join(ws.Dir(), "dir")))
	require.NoError(t, os.Symlink(outside, filepath.Join(ws.Dir(), "new")))
	before := snapshot(t, outside)
	_, err := ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	whole(t, w, ws, w.base)
	require.Equal(t, before, snapshot(t, outside))
}

// A file git never gives back unchanged is no reason to stop.
func TestARepositoryWhoseLineEndingsAreNotNormalisedCanBePutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.txt": "one\r\n"})
	w.write(filepath.Join(w.dir, ".gitattributes"), "*.txt text\n")
	w.git(w.dir, "add", ".gitattributes")
	w.git(w.dir, "commit", "-q", "-m", "attributes")
	w.base = w.git(w.dir, "rev-parse", "HEAD")
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "new.txt"), "new\n")
	_, err := ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	require.Equal(t, "one\r\n", w.read(filepath.Join(ws.Dir(), "a.txt")))
	require.False(t, w.exists(filepath.Join(ws.Dir(), "new.txt")))
}

// A reset alone finds the files through the link as they were, and leaves them.
func TestAFolderThatALinkStandsForIsPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.txt": "one\n", "d/b.txt": "two\n", "d/e/c.txt": "three\n"})
	ws := w.checkout()
	moved := filepath.Join(w.root, "moved")
	require.NoError(t, os.Rename(filepath.Join(ws.Dir(), "d"), moved))
	require.NoError(t, os.Symlink(moved, filepath.Join(ws.Dir(), "d")))
	done, err := ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	require.NotNil(t, done.Salvage)
	require.Empty(t, done.Notes)
	whole(t, w, ws, w.base)
	require.Equal(t, "three\n", w.read(filepath.Join(ws.Dir(), "d/e/c.txt")))
	require.Equal(t, "two\n", w.read(filepath.Join(moved, "b.txt")), "what the link leads to is nobody's to clean")
}
