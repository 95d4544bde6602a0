package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

func TestACommitHoldsEverythingInTheCheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "changed\n")
	w.write(filepath.Join(ws.Dir(), "new/c.txt"), "new\n")
	made := w.commit(ws, w.base, "#42 fix\n\n  as written  \n\n\n")

	require.False(t, made.Empty)
	require.Equal(t, made.ID, w.git(w.dir, "rev-parse", "agl/"+label))
	require.Equal(t, made.Tree, w.git(w.dir, "rev-parse", made.ID+"^{tree}"))
	require.Equal(t, w.base, w.git(w.dir, "rev-parse", made.ID+"^"))
	want := "Rob Robot <rob@example.com> 1714972089 +0200|Rob Robot <rob@example.com> 1714972089 +0200"
	got := w.git(w.dir, "log", "-1", "--format=%an <%ae> %ad|%cn <%ce> %cd", "--date=raw", made.ID)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	raw, err := w.tryGit(w.dir, "cat-file", "commit", made.ID)
	require.NoError(t, err)
	require.Contains(t, raw, "\n\n#42 fix\n\n  as written  \n\n\n")
	require.Empty(t, w.git(ws.Dir(), "status", "--porcelain"))
	require.Equal(t, "new", w.git(w.dir, "show", made.ID+":new/c.txt"))

	changes, err := ws.Inspect(t.Context(), made.ID)
	require.NoError(t, err)
	require.True(t, changes.Clean(made.ID), "%+v", changes)
}

func TestACommitWithoutAChangeIsEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	made, err := ws.Commit(t.Context(), commitSpec(w.base, "nothing"))
	require.NoError(t, err)
	want := ports.Commit{ID: w.base, Tree: w.git(w.dir, "rev-parse", w.base+"^{tree}"), Empty: true}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// rejected requires that a commit is refused as the step's failure, and that
// the refusal names want. Nothing was moved.
func rejected(t *testing.T, w *world, ws ports.Workspace, want ...string) {
	t.Helper()
	before := w.git(w.dir, "for-each-ref")
	_, err := ws.Commit(t.Context(), commitSpec(w.base, "step"))
	var refused *ports.RejectedError
	require.ErrorAs(t, err, &refused)
	require.ErrorIs(t, err, ports.Unexpected)
	for _, text := range want {
		require.ErrorContains(t, err, text)
	}
	require.Equal(t, before, w.git(w.dir, "for-each-ref"))
}

// A2.
func TestANestedRepositoryIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]bool{"untracked": false, "added by the agent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			app := filepath.Join(ws.Dir(), "app")
			w.git(ws.Dir(), "init", "-q", app)
			w.write(filepath.Join(app, "main.go"), "package main\n")
			w.git(app, "add", "-A")
			w.git(app, "commit", "-q", "-m", "scaffold")
			if add {
				w.git(ws.Dir(), "add", "app")
			}
			rejected(t, w, ws, "app is a git repository of its own")
			require.Equal(t, "package main\n", w.read(filepath.Join(app, "main.go")))
			require.Equal(t, "scaffold", w.git(app, "log", "-1", "--format=%s"))
			rejected(t, w, ws, "app is a git repository of its own") // as often as it is tried

			require.NoError(t, os.RemoveAll(filepath.Join(app, ".git"))) // what the error says to do
			made := w.commit(ws, w.base, "step")
			require.Equal(t, "package main", w.git(w.dir, "show", made.ID+":app/main.go"))
		})
	}
}

// A2.
func TestAFolderOfTheProjectThatBecomesARepositoryKeepsItsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	dir := filepath.Join(ws.Dir(), "dir")
	w.git(ws.Dir(), "init", "-q", dir)
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-q", "-m", "own")
	w.write(filepath.Join(dir, "b.txt"), "changed\n")
	w.write(filepath.Join(dir, "new.txt"), "new\n")
	made := w.commit(ws, w.base, "step")
	require.Equal(t, "changed", w.git(w.dir, "show", made.ID+":dir/b.txt"))
	require.Equal(t, "new", w.git(w.dir, "show", made.ID+":dir/new.txt"))
}

// A3.
func TestANestedRepositoryWithoutACommitIsRefusedByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.git(ws.Dir(), "init", "-q", "app")
	w.write(filepath.Join(ws.Dir(), "app", "main.go"), "package main\n")
	rejected(t, w, ws, "app/ is a git repository of its own without a commit")
	require.Equal(t, "package main\n", w.read(filepath.Join(ws.Dir(), "app", "main.go")))
}

func TestASubmoduleIsCommittedAsAPointer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	lib := newWorld(t, map[string]string{"lib.go": "package lib\n"})
	ws := w.checkout()
	w.git(ws.Dir(), "-c", "protocol.file.allow=always", "submodule", "add", "-q", lib.dir, "lib")
	made := w.commit(ws, w.base, "add lib")
	require.Contains(t, w.git(w.dir, "ls-tree", made.ID, "lib"), "160000 commit "+lib.base)

	sub := filepath.Join(ws.Dir(), "lib")
	w.write(filepath.Join(sub, "lib.go"), "package lib // changed\n")
	w.git(sub, "commit", "-q", "-am", "change")
	next := w.commit(ws, made.ID, "move lib")
	require.Contains(t, w.git(w.dir, "ls-tree", next.ID, "lib"), w.git(sub, "rev-parse", "HEAD"))
}

// An agent can make a nested repository part of the index, so that git looks
// into it with a git that obeys the nested configuration.
func TestNoProgramOfANestedRepositoryRuns(t *testing.T) {
	t.Parallel()
	for name, registered := range map[string]bool{"a submodule": true, "no submodule": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			marker := filepath.Join(w.root, "ran")
			ws := w.checkout()
			app := filepath.Join(ws.Dir(), "app")
			w.git(ws.Dir(), "init", "-q", app)
			w.write(filepath.Join(app, "f.txt"), "hi\n")
			w.write(filepath.Join(app, ".gitattributes"), "* filter=evil\n")
			w.git(app, "add", "-A")
			w.git(app, "commit", "-q", "-m", "nested")
			w.git(ws.Dir(), "add", "app")
			if registered {
				w.write(filepath.Join(ws.Dir(), ".gitmodules"), "[submodule \"app\"]\n\tpath = app\n\turl = x\n\tignore = none\n")
			}
			w.git(ws.Dir(), "config", "submodule.app.ignore", "none")
			w.git(app, "config", "filter.evil.clean", "sh -c 'touch "+marker+"; cat'")
			w.git(app, "config", "core.fsmonitor", "touch "+marker+"; false")
			again := time.Now().Add(time.Hour)
			require.NoError(t, os.Chtimes(filepath.Join(app, "f.txt"), again, again)) // same size: git has to run the filter

			w.git(ws.Dir(), "status")
			require.True(t, w.exists(marker), "the trap does not work")
			require.NoError(t, os.Remove(marker))

			ctx := t.Context()
			_, err := ws.Inspect(ctx, w.base)
			require.NoError(t, err)
			_, err = ws.Commit(ctx, commitSpec(w.base, "step"))
			require.Equal(t, registered, err == nil, err)
			_, err = ws.PutBack(ctx, w.base, "test")
			require.NoError(t, err)
			require.False(t, w.exists(marker), "a planted program ran")
			whole(t, w, ws, w.base)
		})
	}
}

// A25.
func TestAnUnfinishedOperationIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(w *world, dir string)
		want  []string
	}{
		"merge":       {func(w *world, dir string) { _, _ = w.tryGit(dir, "merge", "other") }, []string{"a merge is unfinished", "unmerged: a.txt"}},
		"clean merge": {func(w *world, dir string) { w.git(dir, "merge", "-q", "--no-commit", "--no-ff", "clean") }, []string{"a merge is unfinished"}},
		"staged merge": {func(w *world, dir string) {
			_, _ = w.tryGit(dir, "merge", "other")
			w.git(dir, "add", "-A")
		}, []string{"a merge is unfinished"}},
		"rebase":      {func(w *world, dir string) { _, _ = w.tryGit(dir, "rebase", "other") }, []string{"a rebase (HEAD is detached"}},
		"am":          {func(w *world, dir string) { startAm(w, dir) }, []string{"a am is unfinished"}},
		"cherry-pick": {func(w *world, dir string) { _, _ = w.tryGit(dir, "cherry-pick", "other") }, []string{"a cherry-pick is unfinished"}},
		"sequence": {func(w *world, dir string) {
			_, _ = w.tryGit(dir, "cherry-pick", "other", "clean")
			w.git(dir, "reset", "-q", "--hard")
		}, []string{"sequence of cherry-picks"}},
		"revert": {func(w *world, dir string) { w.git(dir, "revert", "--no-commit", "HEAD") }, []string{"a revert is unfinished"}},
		"bisect": {func(w *world, dir string) { w.git(dir, "bisect", "start") }, []string{"a bisect is unfinished"}},
		"stash":  {func(w *world, dir string) { _, _ = w.tryGit(dir, "checkout", "-m", "other") }, []string{"unmerged: a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ws := conflictedWorld(t)
			c.begin(w, ws.Dir())
			rejected(t, w, ws, c.want...)
			_, err := ws.PutBack(t.Context(), w.base, "test") // A26
			require.NoError(t, err)
			whole(t, w, ws, w.base)
			require.NotContains(t, w.git(ws.Dir(), "status"), "progress")
			for _, left := range []string{"rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "BISECT_START", "AUTO_MERGE"} {
				require.False(t, w.exists(filepath.Join(w.adminDir(ws), left)), left)
			}
		})
	}
}

// conflictedWorld is a world whose run's branch conflicts with the branch
// other and not with the branch clean.
func conflictedWorld(t *testing.T) (*world, ports.Workspace) {
	t.Helper()
	w := newWorld(t, nil)
	w.git(w.dir, "checkout", "-q", "-b", "other")
	w.write(filepath.Join(w.dir, "a.txt"), "theirs\n")
	w.git(w.dir, "commit", "-q", "-am", "theirs")
	w.git(w.dir, "checkout", "-q", "-b", "clean", w.base)
	w.write(filepath.Join(w.dir, "clean.txt"), "clean\n")
	w.git(w.dir, "add", "-A")
	w.git(w.dir, "commit", "-q", "-m", "clean")
	w.git(w.dir, "checkout", "-q", "main")
	w.write(filepath.Join(w.dir, "a.txt"), "ours\n")
	w.git(w.dir, "commit", "-q", "-am", "ours")
	w.base = w.git(w.dir, "rev-parse", "HEAD")
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "changed\n")
	if !strings.HasSuffix(t.Name(), "stash") {
		w.git(ws.Dir(), "checkout", "-q", "a.txt")
	}
	return w, ws
}

func startAm(w *world, dir string) {
	patch := w.git(w.dir, "format-patch", "-1", "other", "-o", w.root)
	_, _ = w.tryGit(dir, "am", patch)
}

// A25.
func TestStagedConflictsWithoutAMergeAreCommittedAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "doc.md"), "<<<<<<< a marker in a text\n")
	made := w.commit(ws, w.base, "step")
	require.Equal(t, "<<<<<<< a marker in a text", w.git(w.dir, "show", made.ID+":doc.md"))
}

// A20.
func TestAnAgentsOwnCommitsAreBelowTheStepsCommit(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string][]string{
		"on the branch":     {"status"},
		"on another branch": {"checkout", "-q", "-b", "fix/bug"},
		"on no branch":      {"checkout", "-q", "--detach"},
		"on an orphan name": {"symbolic-ref", "HEAD", "refs/elsewhere/x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			w.git(ws.Dir(), begin...)
			if begin[0] == "symbolic-ref" {
				w.git(ws.Dir(), "update-ref", "refs/elsewhere/x", w.base)
			}
			w.write(filepath.Join(ws.Dir(), "own.txt"), "own\n")
			w.git(ws.Dir(), "add", "-A")
			w.git(ws.Dir(), "commit", "-q", "-m", "own")
			own := w.git(ws.Dir(), "rev-parse", "HEAD")
			w.write(filepath.Join(ws.Dir(), "more.txt"), "more\n")
			made, err := ws.Commit(t.Context(), commitSpec(w.base, "step"))
			require.NoError(t, err)
			require.Equal(t, w.base, w.git(w.dir, "rev-parse", "agl/"+label), "no branch is moved yet")
			require.NotEmpty(t, w.git(w.dir, "for-each-ref", "--contains", own, "refs/agl/keep/"), "a kill here would lose the commit")
			require.NoError(t, w.attach().Move(t.Context(), "agl/"+label, w.base, made.ID))

			require.Equal(t, own, w.git(w.dir, "rev-parse", made.ID+"^"))
			require.NotEmpty(t, made.Notes)
			require.Equal(t, made.ID, w.git(w.dir, "rev-parse", "agl/"+label))
			whole(t, w, ws, made.ID)
			require.Equal(t, "more", w.git(w.dir, "show", made.ID+":more.txt"))
		})
	}
}

func TestAnAgentThatCommittedEverythingItselfStillGetsTheStepsCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "own.txt"), "own\n")
	w.git(ws.Dir(), "add", "-A")
	w.git(ws.Dir(), "commit", "-q", "-m", "own")
	own := w.git(ws.Dir(), "rev-parse", "HEAD")
	made := w.commit(ws, w.base, "step")
	require.False(t, made.Empty)
	require.Equal(t, own, w.git(w.dir, "rev-parse", made.ID+"^"))
	require.Equal(t, "step", w.git(w.dir, "log", "-1", "--format=%s", "agl/"+label))
	whole(t, w, ws, made.ID)
}

// A20.
func TestCommitsOfAnAgentThatDoNotStandOnTheHeadAreSalvaged(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w *world, dir string){
		"an orphan branch, detached": func(w *world, dir string) {
			w.git(dir, "checkout", "-q", "--orphan", "x")
			w.git(dir, "commit", "-q", "-m", "stray")
			w.git(dir, "checkout", "-q", "--detach")
			w.git(dir, "branch", "-q", "-D", "x")
		},
		"the branch rewritten": func(w *world, dir string) { w.git(dir, "commit", "-q", "--amend", "-m", "stray") },
		"the branch moved, HEAD left behind": func(w *world, dir string) {
			w.git(dir, "commit", "-q", "--amend", "-m", "stray")
			w.git(dir, "checkout", "-q", "--detach", w.base)
		},
		"commits that change nothing in the end": func(w *world, dir string) {
			w.git(dir, "commit", "-q", "--allow-empty", "-m", "stray")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			begin(w, ws.Dir())
			stray := w.git(w.dir, "log", "--all", "--reflog", "--format=%H", "--grep=stray", "-1")
			empty := strings.HasPrefix(name, "commits that")
			if !empty {
				w.write(filepath.Join(ws.Dir(), "work.txt"), "work\n")
			}
			made := w.commit(ws, w.base, "step")
			require.Equal(t, empty, made.Empty)
			if !empty {
				require.Equal(t, w.base, w.git(w.dir, "rev-parse", made.ID+"^"))
			}
			whole(t, w, ws, made.ID)
			require.NotEmpty(t, made.Notes)
			require.NotEmpty(t, w.git(w.dir, "for-each-ref", "--contains", stray, "refs/agl/salvage/"), "the stray commit is lost")
		})
	}
}

func TestABranchThatIsMadeALinkToAnotherMovesNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.git(w.dir, "symbolic-ref", "refs/heads/agl/"+label, "refs/heads/main")
	w.write(filepath.Join(ws.Dir(), "work.txt"), "work\n")
	made := w.commit(ws, w.base, "step")
	require.Equal(t, w.base, w.git(w.dir, "rev-parse", "main"))
	require.Equal(t, made.ID, w.git(w.dir, "rev-parse", "agl/"+label))
	_, err := w.tryGit(w.dir, "symbolic-ref", "refs/heads/agl/"+label)
	require.Error(t, err, "it still is a link")
	whole(t, w, ws, made.ID)
}

func TestEditsBehindIndexBitsAreCommitted(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "4", "split"} {
		t.Run("index "+version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			if version == "split" {
				w.git(ws.Dir(), "update-index", "--split-index")
			} else {
				w.git(ws.Dir(), "update-index", "--index-version", version)
			}
			w.git(ws.Dir(), "update-index", "--assume-unchanged", "a.txt")
			w.git(ws.Dir(), "update-index", "--skip-worktree", "dir/b.txt")
			w.write(filepath.Join(ws.Dir(), "a.txt"), "hidden\n")
			w.write(filepath.Join(ws.Dir(), "dir/b.txt"), "hidden\n")
			require.Empty(t, w.git(ws.Dir(), "status", "--porcelain"), "the trap does not work")
			changes, err := ws.Inspect(t.Context(), w.base)
			require.NoError(t, err)
			require.Equal(t, []string{"a.txt", "dir/b.txt"}, changes.Tracked)
			w.git(ws.Dir(), "update-index", "--assume-unchanged", "a.txt")
			w.git(ws.Dir(), "update-index", "--skip-worktree", "dir/b.txt")
			made := w.commit(ws, w.base, "step")
			require.Equal(t, "a.txt\ndir/b.txt", w.git(w.dir, "diff", "--name-only", w.base, made.ID))
		})
	}
}

// A40.
func TestPathsAreBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	names := []string{"new\nline", "tab\t", "-dash", "é", "e\u0301", " space ", "quo\"te", "back\\slash", "not-utf8-\xff\xfe", ":(top)x", "*", "caf\303\251"}
	for _, name := range names {
		w.write(filepath.Join(ws.Dir(), name), name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	changes, err := ws.Inspect(t.Context(), w.base)
	require.NoError(t, err)
	require.Equal(t, names, slices.Sorted(slices.Values(changes.Untracked)))
	made := w.commit(ws, w.base, "step")
	out, err := w.tryGit(w.dir, "diff", "-z", "--name-only", w.base, made.ID)
	require.NoError(t, err)
	got := strings.Split(out, "\x00")
	require.Equal(t, names, slices.Sorted(slices.Values(got[:len(names)])))
}

func TestLineEndingWarningsAreNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".gitattributes": "* text=auto\n", "a.txt": "one\n"})
	w.git(w.dir, "config", "core.safecrlf", "warn")
	w.git(w.dir, "config", "core.autocrlf", "true")
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "crlf.txt"), "a\r\nb\n")
	made := w.commit(ws, w.base, "step")
	require.Equal(t, "a\nb", w.git(w.dir, "show", made.ID+":crlf.txt"))
}

func TestWhatGitCannotReadIsTheStepsFailure(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		w := newWorld(t, nil) // root reads everything; a name git does not allow stands in
		ws := w.checkout()
		w.write(filepath.Join(ws.Dir(), "sub/.GIT/config"), "x\n")
		w.git(w.dir, "config", "core.protectNTFS", "true")
		w.git(w.dir, "config", "core.protectHFS", "true")
		rejected(t, w, ws, "sub/.GIT")
		return
	}
	w := newWorld(t, nil)
	ws := w.checkout()
	secret := filepath.Join(ws.Dir(), "secret")
	w.write(secret, "x\n")
	require.NoError(t, os.Chmod(secret, 0))
	rejected(t, w, ws, "secret")
	require.NoError(t, os.Remove(secret))
	closed := filepath.Join(ws.Dir(), "closed")
	w.write(filepath.Join(closed, "x"), "x\n")
	require.NoError(t, os.Chmod(closed, 0))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	rejected(t, w, ws, "closed")
}

func TestACommitThatCannotBeMadeIsInvalid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	for name, change := range map[string]func(*ports.CommitSpec){
		"head":     func(s *ports.CommitSpec) { s.Head = "main" },
		"identity": func(s *ports.CommitSpec) { s.Identity = "nobody" },
		"message":  func(s *ports.CommitSpec) { s.Message = "a\x00b" },
	} {
		spec := commitSpec(w.base, "step")
		change(&spec)
		_, err := ws.Commit(t.Context(), spec)
		require.ErrorIs(t, err, ports.Invalid, name)
	}
}

func TestAMessageThatIsNotUTF8IsStoredAsUTF8(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "x\n")
	made := w.commit(ws, w.base, "caf\xe9")
	message, err := w.repo.Message(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, "café", message)
}

// Without a "--" git takes neither: it cannot tell which of the two is meant.
func TestAFileCalledAsACommitIsInNobodysWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), w.base), "x\n")
	w.git(ws.Dir(), "add", "-A")
	w.git(ws.Dir(), "commit", "-q", "-m", "the agent's own")
	w.write(filepath.Join(ws.Dir(), w.git(ws.Dir(), "rev-parse", "HEAD")), "y\n")
	made := w.commit(ws, w.base, "step")
	w.write(filepath.Join(ws.Dir(), made.ID), "left\n")
	_, err := ws.PutBack(t.Context(), made.ID, "test")
	require.NoError(t, err)
	require.False(t, w.exists(filepath.Join(ws.Dir(), made.ID)))
}

// What a filter says is no reason to reject a step, and what git says of the
// user's own configuration neither.
func TestAWarningThatIsNotAboutTheCheckoutIsToldAndTheCommitIsMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".gitattributes": "*.txt filter=loud\n", "a.txt": "one\n"})
	w.git(w.dir, "config", "--global", "filter.loud.clean", "sh -c 'echo warning: it is old >&2; cat'")
	ws := w.checkout()
	w.write(filepath.Join(ws.Dir(), "a.txt"), "two\n")
	w.write(filepath.Join(ws.Dir(), "b.txt"), "three\n")
	made := w.commit(ws, w.base, "step")
	require.Equal(t, []string{"git warned: it is old"}, made.Notes)
	require.Equal(t, "three", w.git(w.dir, "show", made.ID+":b.txt"))
}

// A record names the commit before the branch is at it. Between the two there
// may be a kill, or a full disk, and then whoever makes room.
func TestACommitIsReachableBeforeItsBranchMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	head := w.base
	for _, text := range []string{"two\n", "three\n"} {
		w.write(filepath.Join(ws.Dir(), "a.txt"), text)
		made, err := ws.Commit(t.Context(), commitSpec(head, "step"))
		require.NoError(t, err)
		w.git(w.dir, "pack-refs", "--all", "--prune")
		w.git(w.dir, "reflog", "expire", "--all", "--expire=now")
		w.git(w.dir, "gc", "--quiet", "--prune=now")
		require.NoError(t, w.attach().Move(t.Context(), "agl/"+label, head, made.ID))
		require.Equal(t, strings.TrimSpace(text), w.git(w.dir, "show", "agl/"+label+":a.txt"))
		head = made.ID
	}
	require.Len(t, strings.Fields(w.git(w.dir, "for-each-ref", "--format=%(refname)", "refs/agl/keep")), 1, "the last one is enough")
}
