package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// clearedWorld is a run with two checkouts, a commit in one, uncommitted work
// in the other, and a kept commit.
func clearedWorld(t *testing.T) (w *world, base, child ports.Workspace, branches map[string]string) {
	t.Helper()
	w = newWorld(t, map[string]string{"a.txt": "one\n", ".gitignore": "*.log\n"})
	base = w.checkout()
	w.write(filepath.Join(base.Dir(), "a.txt"), "changed\n")
	made := w.commit(base, w.base, "step")
	child, err := w.attach().Open(t.Context(), childPlace("api"), w.base)
	require.NoError(t, err)
	w.write(filepath.Join(child.Dir(), "work.txt"), "work\n")
	w.write(filepath.Join(child.Dir(), "build.log"), "ignored\n")
	kept := w.git(w.dir, "commit-tree", made.Tree, "-m", "superseded")
	require.NoError(t, w.attach().Keep(t.Context(), "superseded-1", kept))
	return w, base, child, map[string]string{"agl/" + label: made.ID, "agl/_work/" + label + "/api": w.base}
}

func TestClearingRemovesWhatBelongsToTheRunAndKeepsSalvage(t *testing.T) {
	t.Parallel()
	w, base, child, branches := clearedWorld(t)
	w.git(w.dir, "branch", "mine")
	got, err := w.attach().Clear(t.Context(), branches)
	require.NoError(t, err)
	want := ports.Cleared{
		Label: label, Branches: []string{"agl/_work/t-1/api", "agl/t-1"},
		Worktrees: []string{base.Dir(), child.Dir()},
		Tips:      []ports.Tip{{Branch: "agl/_work/t-1/api", Commit: w.base}, {Branch: "agl/t-1", Commit: branches["agl/t-1"]}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(ports.Cleared{}, "Salvage")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	require.Len(t, got.Salvage, 1)
	require.Equal(t, "work\n", kept(t, w, &got.Salvage[0], "work.txt"))
	require.False(t, w.exists(filepath.Join(w.root, "trees", label)))
	refs := w.git(w.dir, "for-each-ref", "--format=%(refname)")
	require.Equal(t, "refs/agl/salvage/t-1/api/1\nrefs/heads/main\nrefs/heads/mine", refs)
	require.NotContains(t, w.git(w.dir, "worktree", "list"), "trees")

	again, err := w.attach().Clear(t.Context(), branches)
	require.NoError(t, err)
	require.Empty(t, again.Branches)
	require.Empty(t, again.Worktrees)
	require.Len(t, again.Salvage, 1)
}

func TestAClearThatWasKilledCanBeRepeated(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(t *testing.T, w *world, child ports.Workspace){
		"while files were removed": func(t *testing.T, w *world, child ports.Workspace) {
			w.write(filepath.Join(w.root, "trees", label, ".api.gitdir"), "removing api\n")
			require.NoError(t, os.Remove(filepath.Join(child.Dir(), ".git")))
			require.NoError(t, os.Remove(filepath.Join(child.Dir(), "a.txt")))
		},
		"before the registration went": func(t *testing.T, w *world, child ports.Workspace) {
			w.write(filepath.Join(w.root, "trees", label, ".api.gitdir"), "removing api\n")
			require.NoError(t, os.RemoveAll(child.Dir()))
		},
		"before the note went": func(t *testing.T, w *world, child ports.Workspace) {
			w.write(filepath.Join(w.root, "trees", label, ".api.gitdir"), "removing api\n")
			w.git(w.dir, "worktree", "remove", "--force", child.Dir())
		},
		"while the checkout was made": func(t *testing.T, w *world, child ports.Workspace) {
			w.write(filepath.Join(w.root, "trees", label, ".api.gitdir"), "making\n")
			w.write(filepath.Join(w.dir, ".git/worktrees/api/locked"), "agl is making "+child.Dir())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, child, branches := clearedWorld(t)
			kill(t, w, child)
			_, err := w.attach().Clear(t.Context(), branches)
			require.NoError(t, err)
			require.False(t, w.exists(filepath.Join(w.root, "trees", label)))
			require.Empty(t, w.git(w.dir, "for-each-ref", "refs/heads/agl", "refs/agl/keep"))
			require.NotContains(t, w.git(w.dir, "worktree", "list"), "trees")
		})
	}
}

func TestClearingRefusesBeforeAnythingIsRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(w *world, base, child ports.Workspace)
		want  string
	}{
		"a branch is elsewhere": {func(w *world, _, _ ports.Workspace) {
			w.git(w.dir, "update-ref", "refs/heads/agl/"+label, w.base)
		}, "agl/t-1"},
		"a worktree is locked": {func(w *world, _, child ports.Workspace) {
			w.git(w.dir, "worktree", "lock", "--reason", "mine", child.Dir())
		}, "locked (mine)"},
		"a branch is checked out elsewhere": {func(w *world, _, _ ports.Workspace) {
			w.git(w.dir, "checkout", "-q", "--ignore-other-worktrees", "agl/"+label)
		}, "checked out in another worktree"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, base, child, branches := clearedWorld(t)
			c.spoil(w, base, child)
			before := w.git(w.dir, "for-each-ref")
			_, err := w.attach().Clear(t.Context(), branches)
			require.ErrorIs(t, err, ports.Conflicted)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, before, w.git(w.dir, "for-each-ref"))
			require.True(t, w.exists(filepath.Join(base.Dir(), "a.txt")))
			require.True(t, w.exists(filepath.Join(child.Dir(), "work.txt")))
		})
	}
}

// A10.
func TestClearingDoesNotReportBranchesItCouldNotRemove(t *testing.T) {
	t.Parallel()
	w, _, _, branches := clearedWorld(t)
	lock := filepath.Join(w.dir, ".git", "packed-refs.lock")
	w.write(lock, "")
	got, err := w.attach().Clear(t.Context(), branches)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, lock)
	require.Empty(t, got.Branches)
	require.True(t, w.exists(lock), "a lock in the common folder is never taken")
	require.NotEmpty(t, w.git(w.dir, "branch", "--list", "agl/*"))
	require.NoError(t, os.Remove(lock))
	got, err = w.attach().Clear(t.Context(), branches)
	require.NoError(t, err)
	require.Len(t, got.Branches, 2)
}

func TestClearingFollowsNoLinkOutOfACheckout(t *testing.T) {
	t.Parallel()
	w, base, _, branches := clearedWorld(t)
	require.NoError(t, os.Symlink(w.home, filepath.Join(base.Dir(), "out")))
	before := snapshot(t, w.home)
	w.git(w.dir, "symbolic-ref", "refs/agl/keep/"+label+"/link", "refs/heads/main")
	_, err := w.attach().Clear(t.Context(), branches)
	require.NoError(t, err)
	require.Equal(t, before, snapshot(t, w.home))
	require.Equal(t, w.base, w.git(w.dir, "rev-parse", "main"))
	require.Empty(t, w.git(w.dir, "for-each-ref", "refs/agl/keep"))
}

func TestClearingRemovesACheckoutThatAnAgentBroke(t *testing.T) {
	t.Parallel()
	w, base, child, branches := clearedWorld(t)
	require.NoError(t, os.RemoveAll(w.adminDir(child)))
	require.NoError(t, os.RemoveAll(filepath.Join(base.Dir(), ".git")))
	got, err := w.attach().Clear(t.Context(), branches)
	require.NoError(t, err)
	require.Len(t, got.Worktrees, 2)
	require.Len(t, got.Salvage, 1)
	require.Equal(t, "work\n", kept(t, w, &got.Salvage[0], "work.txt"))
	require.False(t, w.exists(filepath.Join(w.root, "trees", label)))
}

// A28.
func TestAKeptCommitOutlivesGarbageCollection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "changed\n")
	made := w.commit(ws, w.base, "step")
	trees := w.attach()
	require.NoError(t, trees.Keep(t.Context(), "superseded-1", made.ID))
	require.NoError(t, trees.Keep(t.Context(), "superseded-1", made.ID), "again")
	require.ErrorIs(t, trees.Keep(t.Context(), "superseded-1", w.base), ports.Conflicted)
	require.NoError(t, trees.Move(t.Context(), "agl/"+label, made.ID, w.base))
	w.git(w.dir, "reflog", "expire", "--expire=now", "--all")
	w.git(w.dir, "gc", "-q", "--prune=now")
	message, err := w.repo.Message(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, "step", message)
	for _, name := range []string{"", "a/b", "..", "x.lock", ".x", "a b"} {
		require.ErrorIs(t, trees.Keep(t.Context(), name, made.ID), ports.Invalid, name)
	}
	require.ErrorIs(t, trees.Keep(t.Context(), "none", "ab"+made.ID[2:]), ports.NotFound)
}

func TestMovingABranchIsACompareAndSwap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.git(w.dir, "commit", "-q", "--allow-empty", "-m", "second")
	second := w.git(w.dir, "rev-parse", "HEAD")
	trees, branch := w.attach(), "agl/"+label
	require.NoError(t, trees.Move(t.Context(), branch, "", w.base))
	err := trees.Move(t.Context(), branch, second, w.base+"")
	require.NoError(t, err, "it is there already")
	err = trees.Move(t.Context(), branch, "", second)
	require.ErrorIs(t, err, ports.Conflicted)
	require.NoError(t, trees.Move(t.Context(), branch, w.base, second))
	err = trees.Move(t.Context(), branch, w.base, "ab"+second[2:])
	require.ErrorIs(t, err, ports.Conflicted)
	require.ErrorContains(t, err, w.base)
	require.ErrorContains(t, err, second)
	require.ErrorIs(t, trees.Move(t.Context(), branch, second, "ab"+second[2:]), ports.NotFound)
	require.ErrorIs(t, trees.Move(t.Context(), "main", second, w.base), ports.Invalid)
	w.git(w.dir, "pack-refs", "--all")
	require.NoError(t, trees.Move(t.Context(), branch, second, w.base))
	at, err := w.repo.Branch(t.Context(), branch)
	require.NoError(t, err)
	require.Equal(t, w.base, at)
}
