package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatOnlyTheIndexHoldsIsAParent(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "b": "1", "c": "1"})
	b.write("a", "staged")
	b.write("new", "staged and gone")
	b.agent("add", "a", "new")
	b.agent("rm", "-q", "--cached", "c")
	b.write("a", "in the file")
	b.remove("new")
	s := b.roundTrip()
	require.NotEmpty(t, s.Index)
	require.Equal(t, s.Index, b.gitIn(b.main, "rev-parse", s.Ref+"^2"))
	require.Equal(t, map[string]string{"a": "staged", "b": "1", "new": "staged and gone"}, b.filesOf(b.main, s.Index))
	require.Empty(t, s.Commits)
	require.Equal(t, s, b.keep(), "an equal index made a new salvage")
	b.write("new", "staged again")
	b.agent("add", "new")
	b.remove("new")
	require.Equal(t, 2, b.keep().N)
}

func TestAnIndexThatIsInTheFilesOrInACommitIsNoParent(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "b": "1"})
	b.write("a", "2")
	b.agent("add", "-A")
	b.write("intent", "x")
	b.agent("add", "-N", "intent")
	require.Empty(t, b.keep().Index)
	b.agent("commit", "-q", "-a", "-m", "of the agent")
	b.write("a", "3")
	s := b.keep()
	require.Empty(t, s.Index, "it is the tree of a commit that is kept")
	require.Equal(t, []string{b.agent("rev-parse", "HEAD")}, s.Commits)
}

func TestTheStagesOfAnUnfinishedMergeAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "base\n", "b": "1"})
	b.agent("checkout", "-q", "-b", "other")
	b.write("a", "theirs\n")
	b.agent("commit", "-q", "-am", "theirs")
	b.agent("checkout", "-q", "agl/job")
	b.write("a", "ours\n")
	b.agent("commit", "-q", "-am", "ours")
	ours := b.agent("rev-parse", "HEAD")
	b.agent("branch", "-q", "-M", "other", "theirs")
	_, err := b.tryGit(b.dir, "merge", "-q", "theirs")
	require.Error(t, err)
	b.write("a", "half resolved\n")
	s := b.roundTrip()
	stages := map[string]string{}
	for _, parent := range strings.Fields(b.gitIn(b.main, "log", "-1", "--format=%P", s.Ref)) {
		stages[b.gitIn(b.main, "log", "-1", "--format=%s", parent)] = b.filesOf(b.main, parent)["a"]
	}
	require.Equal(t, map[string]string{
		"first": "base\n", "ours": "ours\n", "index stage 3": "theirs\n",
	}, stages, "stages 1 and 2 are in commits that are kept")
	require.Equal(t, []string{ours}, s.Commits, "theirs is on a branch that stays")
}

func TestTheStateOfAnUnfinishedOperationIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n"})
	_, err := b.tryGit(b.dir, "am", "--keep-cr", b.mail("no such file\n"))
	require.Error(t, err)
	b.agent("checkout", "-q", "--", ".")
	writeInto(t, b.gitDir, "rebase-apply/odd\xff\n", "x")
	writeInto(t, b.gitDir, "rebase-apply/link", "->/etc/passwd")
	s := b.keep()
	require.Equal(t, "x", b.filesOf(b.main, s.Ref+"^2")["rebase-apply/odd\xff\n"])
	require.Empty(t, s.Index)
	parent := b.gitIn(b.main, "rev-parse", s.Ref+"^2")
	require.Equal(t, "unfinished operation", b.gitIn(b.main, "log", "-1", "--format=%s", parent))
	require.Contains(t, b.filesOf(b.main, parent)["rebase-apply/0001"], "no such file")
	require.Equal(t, s, b.keep())
}

// mail writes a patch that does not apply, as from a mailbox.
func (b *bench) mail(line string) string {
	name := filepath.Join(b.t.TempDir(), "mail")
	text := "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: Ann <ann@localhost>\n" +
		"Subject: [PATCH] x\n\n---\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-" + line + "+other\n"
	require.NoError(b.t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

func TestCommitsThatOnlyTheCheckoutLeadsToAreKept(t *testing.T) {
	t.Parallel()
	commit := func(b *bench, content string) string {
		b.write("a", content)
		b.agent("commit", "-q", "-am", content)
		return b.agent("rev-parse", "HEAD")
	}
	for _, test := range []struct {
		name string
		work func(b *bench) []string
	}{
		{"on the run's own branch", func(b *bench) []string {
			commit(b, "x")
			return []string{commit(b, "y")}
		}},
		{"on a detached HEAD", func(b *bench) []string {
			b.agent("checkout", "-q", "--detach")
			return []string{commit(b, "x")}
		}},
		{"left on a detached HEAD and then switched away from", func(b *bench) []string {
			b.agent("checkout", "-q", "--detach")
			x := commit(b, "x")
			b.agent("checkout", "-q", "agl/job")
			return []string{x}
		}},
		{"amended", func(b *bench) []string {
			x := commit(b, "x")
			b.write("a", "y")
			b.agent("commit", "-q", "-a", "--amend", "-m", "y")
			return []string{x, b.agent("rev-parse", "HEAD")}
		}},
		{"left by a rebase", func(b *bench) []string {
			x := commit(b, "x")
			b.agent("checkout", "-q", "-b", "side", b.head)
			b.write("b", "side")
			b.agent("commit", "-q", "-am", "side")
			b.agent("checkout", "-q", "agl/job")
			b.agent("rebase", "-q", "side")
			return []string{x, b.agent("rev-parse", "HEAD")}
		}},
		{"below the autostash of an unfinished rebase", func(b *bench) []string {
			x := commit(b, "x")
			b.agent("checkout", "-q", "-b", "side", "HEAD^")
			commit(b, "side")
			b.agent("checkout", "-q", "agl/job")
			b.write("b", "not committed")
			b.agent("config", "rebase.autoStash", "true")
			_, err := b.tryGit(b.dir, "rebase", "side")
			require.Error(b.t, err)
			stash, err := os.ReadFile(filepath.Join(b.gitDir, "rebase-merge", "autostash"))
			require.NoError(b.t, err)
			require.Equal(b.t, x, b.agent("rev-parse", strings.TrimSpace(string(stash))+"^"))
			return []string{strings.TrimSpace(string(stash))}
		}},
		{"on a branch that stays", func(b *bench) []string {
			b.agent("checkout", "-q", "-b", "fix")
			commit(b, "x")
			b.write("a", "more")
			return nil
		}},
		{"under a tag", func(b *bench) []string {
			commit(b, "x")
			b.agent("tag", "v1")
			b.write("a", "more")
			return nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a": "1", "b": "1"})
			want := test.work(b)
			s := b.keep()
			require.ElementsMatch(t, want, s.Commits)
			for _, id := range want {
				b.gitIn(b.main, "merge-base", "--is-ancestor", id, s.Ref)
			}
			again, err := b.salvage(t.Context(), b.head, "again")
			require.NoError(t, err)
			if again != nil { // nil: they are kept, and so are no strays any more
				require.Equal(t, s, again)
			}
			require.Equal(t, filesIn(t, b.dir), b.fetched(s))
		})
	}
}

func TestStrayCommitsSurviveTheEndOfTheCheckoutAndACollection(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.agent("checkout", "-q", "--detach")
	b.write("a", "x")
	b.agent("commit", "-q", "-am", "x")
	x := b.agent("rev-parse", "HEAD")
	b.agent("checkout", "-q", "agl/job")
	s := b.keep()
	b.gitIn(b.main, "worktree", "remove", "--force", b.dir)
	b.gitIn(b.main, "branch", "-q", "-D", "agl/job")
	b.gitIn(b.main, "reflog", "expire", "--expire=now", "--all")
	b.gitIn(b.main, "gc", "-q", "--prune=now")
	require.Equal(t, "x", b.filesOf(b.main, x)["a"])
	require.Equal(t, "1", b.filesOf(b.main, s.Ref)["a"])
}

func TestWhatTheAgentsGitDidNotSyncIsInASyncedPack(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "x")
	b.agent("commit", "-q", "-am", "x")
	b.write("a", "staged")
	b.agent("add", "a")
	b.write("a", "1")
	b.keep()
	// As after a power cut: objects in files of their own were never synced.
	require.NoError(t, filepath.WalkDir(filepath.Join(b.main, ".git", "objects"), func(name string, d os.DirEntry, err error) error {
		if err == nil && len(filepath.Base(filepath.Dir(name))) == 2 && strings.Count(b.gitIn(b.main, "ls-tree", "-rt", b.head), filepath.Base(name)) == 0 &&
			!strings.HasSuffix(b.head, filepath.Base(name)) && !strings.HasSuffix(b.gitIn(b.main, "rev-parse", b.head+"^{tree}"), filepath.Base(name)) {
			return os.Remove(name)
		}
		return err
	}))
	b.gitIn(b.main, "rev-list", "--objects", "refs/agl/salvage/job/_base/1")
	require.Equal(t, "staged", b.filesOf(b.main, "refs/agl/salvage/job/_base/1^2")["a"])
}

func TestAnIndexEntryWithoutAnObjectDoesNotKeepSalvageFromWorking(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.agent("update-index", "--add", "--cacheinfo", "100644,"+strings.Repeat("12", 20)+",nothing")
	b.agent("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("34", 20)+",module")
	b.write("a", "2")
	s := b.roundTrip()
	require.Equal(t, map[string]string{"a": "1", "module": "commit " + strings.Repeat("34", 20)}, b.filesOf(b.main, s.Index))
}

func TestAHeadThatIsNoneDoesNotKeepSalvageFromWorking(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.agent("add", "a")
	b.write("a", "3")
	require.NoError(t, os.WriteFile(filepath.Join(b.gitDir, "HEAD"), []byte("junk\x00"), 0o644))
	s := b.keep()
	require.Equal(t, "3", b.written(s.N)["a"])
	require.NotEmpty(t, s.Index)
}
