package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

func TestPutBackGivesHeadAndTheSalvageTheRest(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "1", "b": "#!b", ".gitignore": "*.log\n", "sub/c": "3", "lib/d": "4"}
	b := newBench(t, files)
	b.write("a", "2")
	b.remove("b")
	b.write("sub/.gitignore", "*.tmp\n") // untracked itself: cleaning it uncovers what it hid
	b.write("sub/x.tmp", "hidden by a nested rule")
	b.write("sub/deeper/.gitignore", "y\n")
	b.write("sub/deeper/y", "and again")
	b.write(".gitignore", "*.log\nhidden\n")
	b.write("hidden", "by the root's rule")
	b.gitIn(b.dir, "init", "-q", "app")
	b.write("app/file", "nested")
	b.agent("update-index", "--skip-worktree", "lib/d")
	b.write("lib/d", "behind a bit")
	want := filesIn(t, b.dir)
	b.write("kept.log", "ignored by head")

	done, err := b.PutBack(t.Context(), b.head, "the step failed")
	require.NoError(t, err)
	require.NotNil(t, done.Salvage)
	files["kept.log"] = "ignored by head"
	if diff := cmp.Diff(files, filesIn(t, b.dir)); diff != "" {
		t.Errorf("the checkout (-head +put back):\n%s", diff)
	}
	if diff := cmp.Diff(want, b.written(done.Salvage.N)); diff != "" {
		t.Errorf("salvaged (-before +written):\n%s", diff)
	}
	require.Len(t, b.list(), 1, "one put back is one salvage")
	require.Empty(t, b.agent("status", "--porcelain"))
	again, err := b.PutBack(t.Context(), b.head, "again")
	require.NoError(t, err)
	require.Nil(t, again.Salvage)
}

func TestAFailedSalvagePutsNothingBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.write("new", "3")
	pack := filepath.Join(b.main, ".git/objects/pack")
	require.NoError(t, os.RemoveAll(pack))
	require.NoError(t, os.WriteFile(pack, nil, 0o644))
	_, err := b.PutBack(t.Context(), b.head, "x")
	require.Error(t, err)
	require.Equal(t, map[string]string{"a": "2", "new": "3"}, filesIn(t, b.dir))
}

func TestACommitAsideOfStrayCommitsLeavesTheFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "gone": "x"})
	b.agent("checkout", "-q", "--orphan", "elsewhere")
	b.write("a", "stray")
	b.agent("commit", "-q", "-am", "stray")
	stray := b.agent("rev-parse", "HEAD")
	b.agent("checkout", "-q", "--detach")
	b.agent("branch", "-q", "-D", "elsewhere")
	b.write("a", "the work")
	b.write(".gitignore", "dep/\n")
	b.gitIn(b.dir, "init", "-q", "dep") // ignored by what is being committed
	made, err := b.Commit(t.Context(), ports.CommitSpec{Head: b.head, Message: "m", Identity: "A <a@localhost>", Date: time.Unix(1e9, 0)})
	require.NoError(t, err)
	require.Equal(t, "the work", b.filesOf(b.main, made.ID)["a"])
	require.DirExists(t, filepath.Join(b.dir, "dep", ".git"))
	list := b.list()
	require.Len(t, list, 1)
	require.Equal(t, []string{stray}, list[0].Commits)
	require.Zero(t, list[0].Paths)
}
