package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/git"
	"example.com/agl/ports"
)

// whole checks that a checkout is a registered worktree at head, on its branch.
func whole(t *testing.T, w *world, ws ports.Workspace, head string) {
	t.Helper()
	status := strings.Split(w.git(ws.Dir(), "status", "--porcelain=v2", "--branch"), "\n")
	require.Len(t, status, 2, "it is clean")
	require.Equal(t, "# branch.oid "+head, status[0])
	require.Contains(t, status[1], "# branch.head agl/")
	list := w.git(w.dir, "worktree", "list", "--porcelain")
	require.Contains(t, list, "worktree "+ws.Dir()+"\n")
	require.NotContains(t, list, "locked")
	require.NotContains(t, list, "prunable")
	changes, err := ws.Inspect(t.Context(), head)
	require.NoError(t, err)
	require.True(t, changes.Clean(head), "%+v", changes)
}

func TestOpeningMakesBranchAndCheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.git(w.dir, "status", "--porcelain", "--branch")
	config := w.read(filepath.Join(w.dir, ".git", "config"))
	trees := w.attach()
	ws := w.checkout()
	whole(t, w, ws, w.base)
	require.Equal(t, filepath.Join(w.root, "trees", label, "_base"), ws.Dir())
	require.Equal(t, before, w.git(w.dir, "status", "--porcelain", "--branch"), "the operator's checkout")
	require.Equal(t, config, w.read(filepath.Join(w.dir, ".git", "config")), "no upstream is configured")

	child, err := trees.Open(t.Context(), childPlace("api"), w.base)
	require.NoError(t, err)
	whole(t, w, child, w.base)
	at, err := w.repo.Branch(t.Context(), "agl/_work/"+label+"/api")
	require.NoError(t, err)
	require.Equal(t, w.base, at)

	for namespace, want := range map[string]bool{ports.Base: true, "api": true, "other": false} {
		got, err := trees.Exists(t.Context(), namespace)
		require.NoError(t, err)
		require.Equal(t, want, got, namespace)
	}
}

func TestOpeningAgainReturnsTheCheckoutAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "work\n")
	again := w.checkout()
	require.Equal(t, ws.Dir(), again.Dir())
	require.Equal(t, "work\n", w.read(filepath.Join(ws.Dir(), "a.txt")))
	changes, err := again.Inspect(t.Context(), w.base)
	require.NoError(t, err)
	require.Equal(t, []string{"a.txt"}, changes.Tracked)
}

func TestOpeningAttachesToABranchThatIsAtHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.git(w.dir, "branch", "agl/"+label, w.base)
	whole(t, w, w.checkout(), w.base)
}

func TestABranchThatIsElsewhereIsConflicted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.git(w.dir, "commit", "-q", "--allow-empty", "-m", "second")
	second := w.git(w.dir, "rev-parse", "HEAD")
	w.git(w.dir, "branch", "agl/"+label, second)
	trees := w.attach()
	_, err := trees.Open(t.Context(), basePlace(), w.base)
	require.ErrorIs(t, err, ports.Conflicted)
	require.ErrorContains(t, err, w.base)
	require.ErrorContains(t, err, second)
	require.False(t, w.exists(filepath.Join(w.root, "trees", label, "_base")))

	ws, err := trees.Open(t.Context(), childPlace("x"), w.base)
	require.NoError(t, err)
	w.git(w.dir, "update-ref", "refs/heads/agl/_work/"+label+"/x", second)
	_, err = trees.Open(t.Context(), childPlace("x"), w.base)
	require.ErrorIs(t, err, ports.Conflicted)
	require.True(t, w.exists(ws.Dir()))
}

// A36.
func TestABranchThatStandsInTheWayIsNamed(t *testing.T) {
	t.Parallel()
	for name, pack := range map[string]bool{"loose": false, "packed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.git(w.dir, "branch", "agl", w.base)
			if pack {
				w.git(w.dir, "pack-refs", "--all")
			}
			_, err := w.repo.Branch(t.Context(), "agl/"+label)
			require.ErrorIs(t, err, ports.Conflicted)
			require.ErrorContains(t, err, "branch agl exists")
			_, err = w.attach().Open(t.Context(), basePlace(), w.base)
			require.ErrorIs(t, err, ports.Conflicted)
			require.False(t, w.exists(filepath.Join(w.root, "trees")), "something was written")

			w.git(w.dir, "branch", "-m", "agl", "agl/"+label+"/below")
			if pack {
				w.git(w.dir, "pack-refs", "--all")
			}
			_, err = w.repo.Branch(t.Context(), "agl/"+label)
			require.ErrorIs(t, err, ports.Conflicted)
			require.ErrorContains(t, err, "agl/"+label+"/below")
		})
	}
}

func TestNamesThatAreNoneAreInvalid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, branch := range []string{"", "agl", "main", "agl/", "agl/-x", "agl/.x", "agl/a..b", "agl/x.lock", "agl/a b", "agl/é", "agl//x", "agl/../main", "refs/heads/agl/x"} {
		_, err := w.repo.Branch(t.Context(), branch)
		require.ErrorIs(t, err, ports.Invalid, branch)
		_, err = w.attach().Open(t.Context(), ports.Place{Namespace: "x", Branch: branch}, w.base)
		require.ErrorIs(t, err, ports.Invalid, branch)
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x", "-x", ".x", "a\x00b"} {
		_, err := w.repo.Attach(t.Context(), name, nil)
		require.ErrorIs(t, err, ports.Invalid, name)
		_, err = w.attach().Open(t.Context(), ports.Place{Namespace: name, Branch: "agl/x"}, w.base)
		require.ErrorIs(t, err, ports.Invalid, name)
	}
	_, err := w.attach().Open(t.Context(), basePlace(), "HEAD")
	require.ErrorIs(t, err, ports.Invalid)
}

func TestAHeadThatIsNotInTheRepositoryIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	gone := strings.Repeat("ab", 20)
	_, err := w.attach().Open(t.Context(), basePlace(), gone)
	require.ErrorIs(t, err, ports.NotFound)
	whole(t, w, w.checkout(), w.base) // and it is no obstacle
}

// A7.
func TestACheckoutWhoseDirectoryIsGoneIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]string{"the checkout": label + "/_base", "every checkout": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			w.write(filepath.Join(ws.Dir(), "a.txt"), "changed\n")
			made := w.commit(ws, w.base, "step")
			require.NoError(t, os.RemoveAll(filepath.Join(w.root, "trees", remove)))
			again, err := w.attach().Open(t.Context(), basePlace(), made.ID)
			require.NoError(t, err)
			whole(t, w, again, made.ID)
			require.Equal(t, 2, strings.Count(w.git(w.dir, "worktree", "list"), "\n")+1, "the stale registration is gone")
		})
	}
}

// A8.
func TestAHalfMadeCheckoutIsRebuilt(t *testing.T) {
	t.Parallel()
	admin := func(w *world) string { return filepath.Join(w.dir, ".git", "worktrees", "_base") }
	for name, breakIt := range map[string]func(t *testing.T, w *world, dir string){
		"killed while git registered it": func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, os.Mkdir(dir, 0o755))
			require.NoError(t, os.Remove(filepath.Join(admin(w), "index")))
			w.write(filepath.Join(admin(w), "locked"), "agl is making "+dir)
			w.write(filepath.Join(filepath.Dir(dir), "._base.gitdir"), "making\n")
		},
		"killed before it was filled": func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "dir")))
			require.NoError(t, os.Remove(filepath.Join(admin(w), "index")))
			if runtime.GOOS == "linux" { // elsewhere nobody can tell that no process holds it
				w.write(filepath.Join(admin(w), "index.lock"), "half an index")
			}
			w.write(filepath.Join(admin(w), "locked"), "agl is making "+dir)
			w.write(filepath.Join(filepath.Dir(dir), "._base.gitdir"), "making\n")
		},
		"initializing, without a .git": func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, ".git")))
			w.write(filepath.Join(admin(w), "locked"), "initializing")
		},
		"initializing, without a directory": func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.RemoveAll(dir))
			w.write(filepath.Join(admin(w), "locked"), "initializing")
		},
		"only the branch was made": func(t *testing.T, w *world, dir string) {
			w.git(w.dir, "worktree", "remove", "--force", dir)
			w.write(filepath.Join(filepath.Dir(dir), "._base.gitdir"), "making\n")
		},
		"an empty directory": func(t *testing.T, w *world, dir string) {
			w.git(w.dir, "worktree", "remove", "--force", dir)
			require.NoError(t, os.Remove(filepath.Join(filepath.Dir(dir), "._base.gitdir")))
			require.NoError(t, os.Mkdir(dir, 0o755))
		},
		"its folder in the repository is gone": func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.RemoveAll(admin(w)))
		},
		"its note is gone": func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.Remove(filepath.Join(filepath.Dir(dir), "._base.gitdir")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			breakIt(t, w, w.checkout().Dir())
			ws := w.checkout()
			_, err := ws.PutBack(t.Context(), w.base, "resume")
			require.NoError(t, err)
			whole(t, w, ws, w.base)
			require.Equal(t, 2, strings.Count(w.git(w.dir, "worktree", "list"), "\n")+1)
		})
	}
}

// A8.
func TestAWorktreeThatSomebodyElseLockedIsNotTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.git(w.dir, "worktree", "lock", "--reason", "on a removable disk", ws.Dir())
	require.NoError(t, os.RemoveAll(ws.Dir()))
	_, err := w.attach().Open(t.Context(), basePlace(), w.base)
	require.ErrorIs(t, err, ports.Conflicted)
	require.ErrorContains(t, err, "on a removable disk")
	require.Contains(t, w.git(w.dir, "worktree", "list", "--porcelain"), "locked on a removable disk")
}

func TestADirectoryThatIsNotAGLsIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dir := filepath.Join(w.root, "trees", label, "_base")
	w.write(filepath.Join(dir, "mine.txt"), "mine\n")
	_, err := w.attach().Open(t.Context(), basePlace(), w.base)
	require.ErrorIs(t, err, ports.Conflicted)
	require.ErrorContains(t, err, dir)
	require.Equal(t, "mine\n", w.read(filepath.Join(dir, "mine.txt")))
	require.Empty(t, w.git(w.dir, "branch", "--list", "agl/*"), "a branch was made all the same")
}

func TestWorkWithoutARegistrationIsFoundAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "work.txt"), "work\n")
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, ".git", "worktrees")))
	again := w.checkout()
	require.Equal(t, "work\n", w.read(filepath.Join(ws.Dir(), "work.txt")))
	_, err := again.PutBack(t.Context(), w.base, "resume")
	require.NoError(t, err)
	whole(t, w, again, w.base)
}

func TestManyWorktreesOpenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	second, err := w.tryOpen(w.dir) // another engine over the same repository
	require.NoError(t, err)
	var group sync.WaitGroup
	errs := make([]error, 16)
	made := make([]ports.Workspace, 16)
	for i := range errs {
		repo := []*git.Repo{w.repo, second}[i%2]
		group.Go(func() {
			trees, err := repo.Attach(t.Context(), label, heldLock{})
			if err == nil {
				made[i], err = trees.Open(t.Context(), childPlace(fmt.Sprint("n", i)), w.base)
			}
			errs[i] = err
		})
	}
	group.Wait()
	for i, err := range errs {
		require.NoError(t, err, i)
		whole(t, w, made[i], w.base)
	}
}

func TestOpeningWaitsForAnotherProcessThatAddsAWorktree(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("flock"); err != nil {
		t.Fatal("this test needs flock(1) of util-linux: ", err)
	}
	w := newWorld(t, nil)
	ready := filepath.Join(w.root, "ready")
	lock := filepath.Join(w.dir, ".git", "agl-worktrees.lock")
	holder := exec.CommandContext(t.Context(), "flock", lock, "sh", "-c", "touch "+ready+"; read line")
	stdin, err := holder.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	until(t, "the other process to hold the lock", func() bool { return w.exists(ready) })
	opened := make(chan error, 1)
	go func() {
		_, err := w.attach().Open(t.Context(), basePlace(), w.base)
		opened <- err
	}()
	note := filepath.Join(w.root, "trees", label, "._base.gitdir")
	until(t, "Open to come to the lock", func() bool { return w.exists(note) })
	require.False(t, w.exists(filepath.Join(w.dir, ".git", "worktrees")), "git ran while the lock was held")
	require.NoError(t, stdin.Close())
	require.NoError(t, <-opened)
	_ = holder.Wait()
}

// A52.
func TestItWorksFromABareRepositorysWorktreeAndOnADetachedHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	bare, linked := filepath.Join(w.root, "bare.git"), filepath.Join(w.root, "linked")
	w.git(w.root, "clone", "-q", "--bare", w.dir, bare)
	w.git(bare, "worktree", "add", "-q", "--detach", linked)
	for name, from := range map[string]string{"bare": bare, "linked": linked, "a folder in it": filepath.Join(linked, "dir")} {
		repo, err := w.tryOpen(from)
		require.NoError(t, err, name)
		w.repo = repo
		require.NoError(t, repo.Check(t.Context()), name)
		head, err := repo.Default(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, map[bool]string{true: "main", false: "HEAD"}[from == bare], head, name)
		id, err := repo.Resolve(t.Context(), "HEAD")
		require.NoError(t, err, name)
		require.Equal(t, w.base, id, name)
	}
	dir := w.dir
	w.dir = bare
	ws := w.checkout()
	whole(t, w, ws, w.base)
	w.write(filepath.Join(ws.Dir(), "a.txt"), "changed\n")
	made := w.commit(ws, w.base, "step")
	_, err := ws.PutBack(t.Context(), made.ID, "test")
	require.NoError(t, err)
	whole(t, w, ws, made.ID)
	w.dir = dir
}

func TestWorktreesInsideTheRepositoryAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, trees := range []string{filepath.Join(w.dir, ".trees"), filepath.Join(w.dir, ".git", "agl"), "trees"} {
		opts := w.options(w.dir)
		opts.Trees = trees
		_, err := git.Open(t.Context(), opts)
		require.ErrorIs(t, err, ports.Invalid, trees)
	}
}

func TestARepositoryThatMovedIsFoundByItsCheckouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "work\n")
	moved := filepath.Join(w.root, "moved")
	require.NoError(t, os.Rename(w.dir, moved))
	w.dir = moved
	w.open()
	again := w.checkout()
	changes, err := again.Inspect(t.Context(), w.base)
	require.NoError(t, err)
	require.Equal(t, ports.Changes{Head: w.base, Tracked: []string{"a.txt"}}, changes)
	require.Equal(t, "M a.txt", w.git(ws.Dir(), "status", "--porcelain"))
}

func TestCheckoutsThatMovedAreFoundByTheirRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "work\n")
	opts := w.options(w.dir)
	opts.Trees = filepath.Join(w.root, "elsewhere", "trees")
	require.NoError(t, os.MkdirAll(filepath.Dir(opts.Trees), 0o755))
	require.NoError(t, os.Rename(filepath.Join(w.root, "trees"), opts.Trees))
	repo, err := git.Open(t.Context(), opts)
	require.NoError(t, err)
	w.repo = repo
	made := w.commit(w.checkout(), w.base, "step")
	require.Equal(t, "work", w.git(w.dir, "show", made.ID+":a.txt"))
	whole(t, w, w.checkoutAt(made.ID), made.ID)
}

// A10: what a dead git left in the common folder is reported where it is in
// the way, and otherwise none of AGL's business.
func TestLockFilesOfOthersAreNoObstacle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, name := range []string{"config.lock", "index.lock", "HEAD.lock", "refs/heads/main.lock", "shallow.lock"} {
		w.write(filepath.Join(w.dir, ".git", name), "")
	}
	wholeStep(t, w)
	require.True(t, w.exists(filepath.Join(w.dir, ".git", "config.lock")))
}

func TestALockThatGoesAwaySoonIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := filepath.Join(w.dir, ".git/refs/heads/agl/other.lock")
	w.write(path, "")
	time.AfterFunc(200*time.Millisecond, func() { _ = os.Remove(path) })
	require.NoError(t, w.attach().Move(t.Context(), "agl/other", "", w.base))
}

func TestItWorksInASubmoduleAndWithConfigurationPerWorktree(t *testing.T) {
	t.Parallel()
	outer, w := newWorld(t, nil), newWorld(t, nil)
	outer.git(outer.dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", w.dir, "lib")
	w.dir = filepath.Join(outer.dir, "lib")
	w.git(w.dir, "config", "extensions.worktreeConfig", "true")
	w.git(w.dir, "config", "--worktree", "diff.context", "5")
	w.open()
	before := outer.git(outer.dir, "status", "--porcelain", "--ignore-submodules=none")
	wholeStep(t, w)
	require.Equal(t, before, outer.git(outer.dir, "status", "--porcelain", "--ignore-submodules=none"))
	require.Equal(t, "5", w.git(w.dir, "config", "diff.context"))
}

func TestASparseCheckoutOfTheOperatorDoesNotThinOutARuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n", "other/c.txt": "three\n"})
	w.git(w.dir, "sparse-checkout", "set", "dir")
	w.open()
	ws := w.checkout()
	require.Equal(t, "three\n", w.read(filepath.Join(ws.Dir(), "other/c.txt")))
	w.write(filepath.Join(ws.Dir(), "new.txt"), "new\n")
	made := w.commit(ws, w.base, "step")
	require.Equal(t, "new.txt", w.git(w.dir, "diff", "--name-only", w.base, made.ID))
}
