package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

func TestNestedRepositoriesAreMovedWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "app/main.go": "package main\n", ".gitignore": "vendor/\n"})
	repo := func(p string, commit bool) {
		b.write(p+"/file", "in "+p)
		b.gitIn(filepath.Join(b.dir, p), "init", "-q")
		if commit {
			b.gitIn(filepath.Join(b.dir, p), "add", "-A")
			b.gitIn(filepath.Join(b.dir, p), "commit", "-q", "-m", p)
		}
		b.write(p+"/.gitignore", "*\n")
		b.write(p+"/ignored", "goes with it")
	}
	repo("with commits", true)
	repo("deep/er/without", false)
	repo("app", true) // a folder with tracked files: only its .git is moved
	repo("vendor/lib", true)
	b.write("broken/.git/data", "no repository at all")
	b.write("file/.git", "gitdir: /nowhere")
	b.write("link/.git", "->/etc")
	b.write("odd/.GIT/config", "not for git, but no tree may have it")
	want := filesIn(t, b.dir)
	s := b.keep()
	var moved []string
	for _, p := range []string{"app/.git", "broken", "deep/er/without", "file", "link", "odd/.GIT", "with commits"} {
		moved = append(moved, filepath.Join(b.repo.salvageDir, "job", "1", "nested", p))
		require.NoFileExists(t, filepath.Join(b.dir, p))
	}
	require.Equal(t, moved, s.Nested)
	require.FileExists(t, filepath.Join(b.dir, "vendor/lib/.git/HEAD"), "what head ignores stays")
	for p := range want {
		if len(p) > 7 && p[:7] == "vendor/" {
			delete(want, p)
		}
	}
	require.Equal(t, want, b.written(1), "files and nested repositories together are what was there")
	require.Equal(t, "in with commits", b.filesOf(moved[6], "HEAD")["file"])
	require.Equal(t, *s, b.list()[0])
	b.keep() // app's new files are still there
	require.Len(t, b.list(), 1)
}

func TestASalvageOfNothingButANestedRepositoryIsListedAndDropped(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.gitIn(b.dir, "init", "-q", "app")
	b.agent("config", "--file", "app/.git/config", "core.fsmonitor", "touch ran; false")
	s := b.keep()
	require.Len(t, s.Nested, 1)
	require.Zero(t, s.Paths)
	require.NoFileExists(t, filepath.Join(s.Nested[0], "ran"))
	b.keepNothing()
	require.NoError(t, os.Chmod(filepath.Join(s.Nested[0], ".git"), 0o500))
	require.NoError(t, b.repo.DropSalvage(t.Context(), "job", 1))
	require.NoDirExists(t, s.Nested[0])
	require.Empty(t, b.list())
}

func TestARepositoryInThePlaceOfATrackedFileIsMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"app": "a file", ".gitignore": "app\n"})
	b.remove("app")
	b.gitIn(b.dir, "init", "-q", "app")
	require.Len(t, b.keep().Nested, 1)
}

func TestAStagedNestedRepositoryIsMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.gitIn(b.dir, "init", "-q", "app")
	b.gitIn(filepath.Join(b.dir, "app"), "commit", "-q", "--allow-empty", "-m", "x")
	b.agent("add", "app")
	s := b.keep()
	require.Len(t, s.Nested, 1)
	require.NotEmpty(t, s.Index)
}

func TestASubmodulesGitDirectoryMovesWithIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.agent("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", b.main, "sub")
	sub := filepath.Join(b.dir, "sub")
	require.FileExists(t, filepath.Join(sub, ".git"))
	b.write("sub/a", "2")
	b.gitIn(sub, "commit", "-q", "-am", "only in the submodule")
	id := b.gitIn(sub, "rev-parse", "HEAD")
	s := b.keep()
	require.Equal(t, []string{filepath.Join(b.repo.salvageDir, "job/1/nested/sub")}, s.Nested)
	b.gitIn(b.main, "worktree", "remove", "--force", "--force", b.dir)
	require.Equal(t, id, b.gitIn(s.Nested[0], "rev-parse", "HEAD"))
	require.Empty(t, b.gitIn(s.Nested[0], "status", "--porcelain"))
}

// withSubmodule returns a bench whose head has a submodule, and its folder.
func withSubmodule(t *testing.T) (b *bench, sub string) {
	t.Helper()
	b = newBench(t, map[string]string{"a": "1"})
	b.agent("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", b.main, "sub")
	b.agent("commit", "-q", "-am", "sub")
	b.head = b.agent("rev-parse", "HEAD")
	return b, filepath.Join(b.dir, "sub")
}

func TestASubmoduleAtTheCommitOfHeadStays(t *testing.T) {
	t.Parallel()
	b, sub := withSubmodule(t)
	b.keepNothing()
	b.write("sub/a", "2")
	b.keepNothing()
	require.FileExists(t, filepath.Join(sub, ".git"))
	b.remove("sub")
	b.keepNothing() // as in a fresh checkout
	b.write("sub/file", "without a repository")
	require.Equal(t, "without a repository", b.written(b.keep().N)["sub/file"])
	b.remove("sub")
	b.write("sub", "a file in its place")
	require.Equal(t, "a file in its place", b.written(b.keep().N)["sub"])
}

// Left where it is, the next step would commit the move, or be blamed for it.
func TestASubmoduleAtAnotherCommitIsMovedOutOfTheWay(t *testing.T) {
	t.Parallel()
	b, sub := withSubmodule(t)
	b.write("sub/a", "2")
	b.gitIn(sub, "commit", "-q", "-am", "only in the submodule")
	id := b.gitIn(sub, "rev-parse", "HEAD")
	done, err := b.PutBack(t.Context(), b.head, "test")
	require.NoError(t, err)
	require.Len(t, done.Salvage.Nested, 1)
	require.Equal(t, id, b.gitIn(done.Salvage.Nested[0], "rev-parse", "HEAD"))
	require.Empty(t, done.Notes)
	require.Empty(t, b.agent("status", "--porcelain"))
	made, err := b.Commit(t.Context(), ports.CommitSpec{Head: b.head, Message: "m", Identity: "A <a@localhost>"})
	require.NoError(t, err)
	require.True(t, made.Empty)
}

// Removing a checkout removes the git directories of its submodules.
func TestSubmodulesAreKeptWhenTheCheckoutIsRemoved(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(b *bench, sub string){
		"with commits of its own": func(*bench, string) {},
		"with changes":            func(b *bench, sub string) { b.write("sub/dirty", "dirty") },
		"without its files":       func(b *bench, sub string) { b.agent("submodule", "--quiet", "deinit", "--force", "sub") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, sub := withSubmodule(t)
			b.write("sub/a", "2")
			b.gitIn(sub, "commit", "-q", "-am", "only in the submodule")
			b.agent("commit", "-q", "-am", "step")
			id, head := b.gitIn(sub, "rev-parse", "HEAD"), b.agent("rev-parse", "HEAD")
			leave(b, sub)
			s, err := b.salvageForRemoval(t.Context(), head, "test")
			require.NoError(t, err)
			require.Len(t, s.Nested, 1)
			b.gitIn(b.main, "worktree", "remove", "--force", "--force", b.dir)
			gitDir := filepath.Join(s.Nested[0], ".git")
			if name == "without its files" {
				gitDir = filepath.Join(s.Nested[0], "sub")
			} else {
				require.Equal(t, name == "with changes", b.gitIn(s.Nested[0], "status", "--porcelain") != "")
			}
			require.Equal(t, "2", b.gitIn(b.main, "--git-dir="+gitDir, "show", id+":a"))
		})
	}
}

func TestALinkedWorktreeInTheCheckoutStaysRegistered(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.agent("worktree", "add", "-q", "--detach", "wt")
	b.write("wt/a", "2")
	b.gitIn(filepath.Join(b.dir, "wt"), "commit", "-q", "-am", "detached in there")
	id := b.gitIn(filepath.Join(b.dir, "wt"), "rev-parse", "HEAD")
	s := b.keep()
	require.Equal(t, id, b.gitIn(s.Nested[0], "rev-parse", "HEAD"))
	require.NotContains(t, b.gitIn(b.main, "worktree", "list", "--porcelain"), "prunable")
}

func TestACopyOfTheCheckoutsOwnGitFileIsOnlyAFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	text, err := os.ReadFile(filepath.Join(b.dir, ".git"))
	require.NoError(t, err)
	b.write("trap/.git", string(text))
	b.keep()
	b.agent("status")
	require.FileExists(t, filepath.Join(b.gitDir, "HEAD"))
}

func TestAMoveThatFailsPutsBackWhatWasMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.gitIn(b.dir, "init", "-q", "one")
	b.gitIn(b.dir, "init", "-q", "two")
	before := filesIn(t, b.dir)
	blocked := filepath.Join(b.repo.salvageDir, "job", "1", "nested", "two")
	real := b.checkout
	// The number is free, and so is its folder; only the second place is not.
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Dir(filepath.Dir(blocked))), 0o755))
	s := &salvager{checkout: real, found: &contents{nested: []string{"one", "two"}}}
	require.NoError(t, os.MkdirAll(blocked, 0o755))
	err := s.moveNested(&salvageRecord{n: 1})
	require.ErrorContains(t, err, "exists already")
	require.Equal(t, before, filesIn(t, b.dir))
}

func TestAMoveThatWasKilledIsFinished(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.gitIn(b.dir, "init", "-q", "app")
	b.write("a", "2")
	s := b.keep()
	require.NoError(t, os.Rename(s.Nested[0], filepath.Join(b.dir, "app"))) // as if it had not come to it
	require.Empty(t, b.list()[0].Nested)
	require.Equal(t, s, b.keep())
	b.gitIn(b.dir, "init", "-q", "app") // another one, at the same place
	require.Equal(t, 2, b.keep().N)
}

func TestAForeignGitIsMovedAside(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.remove(".git")
	b.gitIn(b.dir, "init", "-q")
	b.gitIn(b.dir, "add", "a")
	s, err := b.salvageForeign(t.Context(), b.head, "the agent replaced .git")
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(b.dir, ".git"))
	require.Equal(t, []string{filepath.Join(b.repo.salvageDir, "job", "1", "nested", "foreign.git")}, s.Nested)
	require.FileExists(t, filepath.Join(s.Nested[0], "index"))
	require.Equal(t, *s, b.list()[0])
	require.Contains(t, b.written(1), "foreign.git/index")
}

func TestAMoveToAnotherFileSystemIsWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.gitIn(b.dir, "init", "-q", "app")
	b.write("app/x", "#!x")
	b.write("app/link", "->../../x")
	b.write("app/ro/file", "y")
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "app/ro/file"), 0o400))
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "app/ro"), 0o500))
	app := filepath.Join(b.dir, "app")
	want := filesIn(t, filepath.Join(b.dir))
	to := filepath.Join(b.repo.salvageDir, "app")
	require.NoError(t, os.MkdirAll(b.repo.salvageDir, 0o755))
	require.NoError(t, copyOver(app, to))
	_, err := os.Lstat(app)
	require.True(t, errors.Is(err, fs.ErrNotExist))
	require.NoError(t, os.Rename(to, app))
	require.Equal(t, want, filesIn(t, b.dir))
	entries, err := os.ReadDir(b.repo.salvageDir)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, removeTree(app))
}
