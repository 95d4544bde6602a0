package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

func TestACleanLandingIsTheCommitThatGitWouldMake(t *testing.T) {
	t.Parallel()
	l := meet(t, map[string]string{"a.txt": lines, "gone.txt": "x\n", "d/e.txt": "1\n"},
		map[string]string{"a.txt": strings.Replace(lines, "1", "one", 1), "ours/n.txt": "n\n"},
		map[string]string{"a.txt": strings.Replace(lines, "9", "nine", 1), "gone.txt": absent, "theirs\xff.txt": "t\n"})
	m := l.merge()
	require.Empty(t, m.Conflicts)
	l.held(ports.HoldPristine)
	require.Contains(t, l.git(l.ws.Dir(), "status"), "All conflicts fixed but you are still merging")
	require.Equal(t, l.spec.Theirs, l.git(l.ws.Dir(), "rev-parse", "MERGE_HEAD"))
	require.Equal(t, m.Tree, l.git(l.ws.Dir(), "write-tree"))
	l.write(l.path("coverage.out"), "left by the gate\n")
	require.NoError(t, os.WriteFile(l.path("a.txt"), []byte("formatted by the gate\n"), 0o644))

	made, done := l.land(m)
	require.Equal(t, m.Tree, made.Tree)
	require.False(t, made.Empty)
	require.Equal(t, "left by the gate\n", kept(t, l.world, done.Salvage, "coverage.out"))
	require.Equal(t, "formatted by the gate\n", kept(t, l.world, done.Salvage, "a.txt"))

	reference := filepath.Join(l.root, "reference")
	l.git(l.dir, "worktree", "add", "-q", "--detach", reference, l.spec.Head)
	l.git(reference, "merge", "-q", "--no-ff", "-m", strings.TrimSpace(m.Message), l.spec.Theirs)
	require.Equal(t, l.git(reference, "rev-parse", "HEAD^{tree}"), made.Tree)
	raw := func(commit string) string { return l.git(l.dir, "log", "-1", "--format=%P%n%B", commit) }
	require.Equal(t, raw(l.git(reference, "rev-parse", "HEAD")), raw(made.ID))
	require.Equal(t, "Merge branch 'agl/_work/t-1/c' into agl/t-1", strings.TrimSpace(m.Message))

	again, err := l.in.Conclude(t.Context(), l.ws, made.ID, "again")
	require.NoError(t, err)
	require.Equal(t, ports.PutBack{}, again)
	_, err = l.in.Merge(t.Context(), l.ws, ports.MergeSpec{Head: made.ID, Theirs: l.spec.Theirs, Branch: l.spec.Branch, Into: l.spec.Into})
	require.ErrorIs(t, err, ports.Invalid, "A31: nothing is left to land")
}

func TestALandingThatCouldFastForwardIsAMergeAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	l := meetIn(w, t, nil, map[string]string{"n.txt": "n\n"}, nil)
	require.Equal(t, w.base, l.spec.Head, "nothing was committed in the parent")
	made, _ := l.land(l.merge())
	require.Equal(t, w.base+" "+l.spec.Theirs, l.git(l.dir, "log", "-1", "--format=%P", made.ID))
}

func TestALandingWhoseSidesMadeTheSameChangeIsEmpty(t *testing.T) {
	t.Parallel()
	l := meet(t, nil, map[string]string{"a.txt": "same\n", "more.txt": "m\n"}, map[string]string{"a.txt": "same\n"})
	made, _ := l.land(l.merge())
	require.True(t, made.Empty)
	require.NotEqual(t, l.spec.Head, made.ID)
	fresh, err := l.tryOpen(l.dir) // which has seen none of it
	require.NoError(t, err)
	again, err := fresh.Integrator().Commit(t.Context(), l.spec, made.Tree, commitSpec(l.spec.Head, "m"))
	require.NoError(t, err)
	require.True(t, again.Empty)
}

func TestWhatTwoSidesDoNotAgreeOnIsToldByItsKind(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"content": lines, "ours-deleted": "1\n2\n", "theirs-deleted": "1\n2\n", "bin": "\x00", "dir/x": "x\n",
		"renamed": "a long\nfile of\nseveral\nlines\nthat is\nrenamed\n", "moved": "another\nfile of\nmany\nlines\nthat is\ngone\n",
		"type": "t\n",
	}
	w := newWorld(t, base)
	l := meetIn(w, t,
		map[string]string{"content": strings.Replace(lines, "5", "five", 1), "ours-deleted": absent, "theirs-deleted": "1\n2\n3\n", "bin": "\x00o", "both": "o\n", "way": "file\n"},
		map[string]string{"content": strings.Replace(lines, "5", "fünf", 1), "ours-deleted": "1\n2\n3\n", "theirs-deleted": absent, "bin": "\x00t", "both": "t\n", "way/x": "folder\n"},
		func(ours, theirs string) {
			w.git(ours, "mv", "renamed", "renamed-ours")
			w.git(theirs, "mv", "renamed", "renamed-theirs")
			w.git(ours, "mv", "moved", "moved-ours")
			w.git(theirs, "rm", "-q", "moved")
			for dir, target := range map[string]string{ours: "a", theirs: "b"} {
				w.write(filepath.Join(dir, "exec"), "same\n")
				require.NoError(t, os.Symlink(target, filepath.Join(dir, "link")))
			}
			require.NoError(t, os.Chmod(filepath.Join(theirs, "exec"), 0o755))
			require.NoError(t, os.Remove(filepath.Join(theirs, "type")))
			require.NoError(t, os.Symlink("elsewhere", filepath.Join(theirs, "type")))
			w.write(filepath.Join(ours, "type"), "t\nmore\n")
			empty := w.git(w.dir, "commit-tree", "-m", "x", w.base+"^{tree}")
			other := w.git(w.dir, "commit-tree", "-m", "y", w.base+"^{tree}")
			for dir, at := range map[string]string{ours: empty, theirs: other} {
				w.write(filepath.Join(dir, ".gitmodules"), "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n")
				w.git(dir, "add", "-A")
				w.git(dir, "update-index", "--add", "--cacheinfo", "160000,"+at+",sub")
				require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
			}
		})
	m := l.merge()
	require.Empty(t, m.Tree)
	require.False(t, m.Blocked)
	want := map[string]string{
		"content": ports.ConflictContent, "bin": ports.ConflictContent, "both": ports.ConflictAddAdd, "link": ports.ConflictAddAdd,
		"ours-deleted": ports.ConflictDeleteModify, "theirs-deleted": ports.ConflictDeleteModify,
		"renamed": ports.ConflictRename, "renamed-ours": ports.ConflictRename, "renamed-theirs": ports.ConflictRename, "moved-ours": ports.ConflictRename,
		"exec": ports.ConflictMode, "way~HEAD": ports.ConflictMode, "sub": ports.ConflictSubmodule,
		"type": ports.ConflictMode, "type~HEAD": ports.ConflictMode,
	}
	if diff := cmp.Diff(want, kinds(m.Conflicts)); diff != "" {
		t.Errorf("kinds (-want +got):\n%s\n%+v", diff, m.Conflicts)
	}
	l.held(ports.HoldPristine)

	// git's own merge leaves the very same index and files.
	reference := filepath.Join(l.root, "reference")
	l.git(l.dir, "worktree", "add", "-q", "--detach", reference, l.spec.Head)
	_, err := l.tryGit(reference, "merge", "--no-ff", "--no-commit", l.spec.Theirs)
	require.Error(t, err)
	require.Equal(t, l.git(reference, "ls-files", "--stage"), l.git(l.ws.Dir(), "ls-files", "--stage"))
	ours, theirs := snapshot(t, l.ws.Dir()), snapshot(t, reference)
	delete(ours, ".git")
	delete(theirs, ".git")
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("files (-git's +ours):\n%s", diff)
	}
	message := l.read(filepath.Join(l.adminDir(l.ws), "MERGE_MSG"))
	require.Contains(t, message, "# Conflicts:\n")
	require.NotContains(t, m.Message, "#")

	require.Nil(t, l.giveUp().Salvage, "it can be made again")
}

// A29: git overwrites what is ignored without a word. A30: nothing was merged.
func TestWhatALandingWouldOverwriteStopsIt(t *testing.T) {
	t.Parallel()
	ignore := "local.env\ncache\n*.log\nfile\nlinked\n"
	for name, c := range map[string]struct {
		theirs string // what the child adds
		there  string // what is in the parent's checkout; a folder if it ends in a slash, a link if in @
		want   string // the path that is named
	}{
		"an ignored file":                 {"local.env", "local.env", "local.env"},
		"a file in an ignored folder":     {"cache/a", "cache/a", "cache/a"},
		"an ignored file for a folder":    {"file/x", "file", "file"},
		"an ignored folder for a file":    {"cache", "cache/deep/secret", "cache/deep/secret"},
		"an ignored link for a folder":    {"linked/x", "linked@", "linked"},
		"an ignored link for a file":      {"linked", "linked@", "linked"},
		"what is untracked":               {"new.txt", "new.txt", "new.txt"},
		"what is untracked in a folder":   {"d/new.txt", "d/new.txt", "d/new.txt"},
		"an empty folder is none":         {"cache", "cache/", ""},
		"an ignored file beside is none":  {"cache/a", "cache/b", ""},
		"a folder of ignored files is ok": {"d/n/x", "d/n/y.log", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{".gitignore": ignore, "a.txt": "a\n", "d/t": "t\n"})
			l := meetIn(w, t, map[string]string{"a.txt": "ours\n"}, nil, func(_, child string) {
				w.write(filepath.Join(child, c.theirs), "theirs\n")
				w.git(child, "add", "-f", c.theirs)
			})
			there := l.path(strings.TrimSuffix(c.there, "@"))
			switch {
			case strings.HasSuffix(c.there, "/"):
				require.NoError(t, os.MkdirAll(there, 0o755))
			case strings.HasSuffix(c.there, "@"):
				require.NoError(t, os.Symlink(t.TempDir(), there))
			default:
				w.write(there, "secret\n")
			}
			before := snapshot(t, l.ws.Dir())
			m := l.merge()
			if c.want == "" {
				require.Empty(t, m.Conflicts)
				l.held(ports.HoldPristine)
				l.land(m)
				require.Equal(t, "theirs\n", w.read(l.path(c.theirs)))
				if !strings.HasSuffix(c.there, "/") {
					require.Equal(t, "secret\n", w.read(there))
				}
				return
			}
			require.True(t, m.Blocked)
			require.Equal(t, map[string]string{c.want: ports.ConflictOverwrite}, kinds(m.Conflicts))
			require.Equal(t, before, snapshot(t, l.ws.Dir()))
			require.Equal(t, l.spec.Head, w.git(l.ws.Dir(), "rev-parse", "HEAD"))
			l.noHold()
		})
	}
}

func TestOnAFileSystemThatFoldsCaseAClashStopsALanding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		theirs map[string]string
		want   string
	}{
		"with a file that stays":        {map[string]string{"README": "r\n"}, "README"},
		"with a file that is removed":   {map[string]string{"README": "r\n", "Readme": absent}, ""},
		"of two files that are new":     {map[string]string{"new": "1\n", "New": "2\n"}, "new"},
		"with a file in a known folder": {map[string]string{"d/T": "t\n"}, "d/T"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{"Readme": "R\n", "d/t": "t\n"})
			w.git(w.dir, "config", "core.ignoreCase", "true")
			l := meetIn(w, t, map[string]string{"a.txt": "a\n"}, nil, func(_, child string) {
				w.git(w.dir, "config", "core.ignoreCase", "false")
				for name, content := range c.theirs {
					if content == absent {
						require.NoError(t, os.Remove(filepath.Join(child, name)))
					} else {
						w.write(filepath.Join(child, name), content)
					}
				}
			})
			w.git(w.dir, "config", "core.ignoreCase", "true")
			w.open()
			ws, err := w.attach().Open(t.Context(), basePlace(), l.spec.Head)
			require.NoError(t, err)
			m, err := w.repo.Integrator().Merge(t.Context(), ws, l.spec)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, m.Conflicts)
				return
			}
			require.True(t, m.Blocked)
			require.Equal(t, map[string]string{c.want: ports.ConflictOverwrite}, kinds(m.Conflicts))
		})
	}
}

// A33: no hook runs, whatever it is called.
func TestALandingRunsNoHook(t *testing.T) {
	t.Parallel()
	l := meet(t, map[string]string{"a.txt": lines}, map[string]string{"a.txt": "ours\n" + lines}, map[string]string{"a.txt": lines + "theirs\n"})
	ran := filepath.Join(l.root, "ran")
	for _, hook := range []string{
		"pre-merge-commit", "prepare-commit-msg", "commit-msg", "pre-commit", "post-commit", "post-merge", "post-checkout",
		"post-index-change", "reference-transaction", "post-rewrite",
	} {
		path := filepath.Join(l.dir, ".git", "hooks", hook)
		l.write(path, "#!/bin/sh\necho "+hook+" >>'"+ran+"'\nexit 1\n")
		require.NoError(t, os.Chmod(path, 0o755))
	}
	m := l.merge()
	l.held(ports.HoldPristine)
	made, err := l.in.Commit(t.Context(), l.spec, m.Tree, commitSpec(l.spec.Head, m.Message))
	require.NoError(t, err)
	require.NoError(t, l.attach().Move(t.Context(), l.spec.Into, l.spec.Head, made.ID))
	_, err = l.in.Conclude(t.Context(), l.ws, made.ID, "x")
	require.NoError(t, err)
	require.Equal(t, "<absent>", l.read(ran))
}

func TestConfigurationCannotChangeWhatALandingComesTo(t *testing.T) {
	t.Parallel()
	long := "a long\nfile of\nseveral\nlines\nthat is\nrenamed\n"
	base := map[string]string{"from": long, "c": lines}
	land := func(t *testing.T, config string) (tree string, conflicts []ports.ConflictPath, files map[string]string) {
		w := newWorld(t, base)
		l := meetIn(w, t, map[string]string{"from": "more\n" + long, "c": strings.Replace(lines, "5", "o", 1)}, nil, func(_, theirs string) {
			w.git(theirs, "mv", "from", "to")
			w.write(filepath.Join(theirs, "c"), strings.Replace(lines, "5", "t", 1))
		})
		w.write(filepath.Join(w.home, "gitconfig"), w.read(filepath.Join(w.home, "gitconfig"))+config)
		m := l.merge()
		files = snapshot(t, l.ws.Dir())
		delete(files, ".git")
		return w.read(filepath.Join(l.adminDir(l.ws), "AUTO_MERGE")), m.Conflicts, files
	}
	tree, conflicts, files := land(t, "")
	require.Equal(t, map[string]string{"c": ports.ConflictContent}, kinds(conflicts))
	for _, config := range []string{
		"[merge]\n\trenames = false\n\tconflictStyle = diff3\n\tverifySignatures = true\n\tff = only\n\tlog = true\n\tdefault = union\n",
		"[merge]\n\trenormalize = true\n\trenameLimit = 1\n\tdirectoryRenames = true\n\tautoStash = true\n[diff]\n\trenames = false\n\talgorithm = minimal\n",
		"[core]\n\tcommentChar = M\n[commit]\n\tgpgSign = true\n[pull]\n\ttwohead = resolve\n[rerere]\n\tenabled = true\n",
	} {
		gotTree, gotConflicts, gotFiles := land(t, config)
		require.Equal(t, tree, gotTree, config)
		require.Equal(t, conflicts, gotConflicts, config)
		if diff := cmp.Diff(files, gotFiles); diff != "" {
			t.Errorf("%s (-want +got):\n%s", config, diff)
		}
	}
}

func TestAProjectsOwnMergeAttributesStay(t *testing.T) {
	t.Parallel()
	l := meet(t, map[string]string{".gitattributes": "list merge=union\nhuge -merge\n", "list": "0\n", "huge": "0\n"},
		map[string]string{"list": "0\no\n", "huge": "1\n"}, map[string]string{"list": "0\nt\n", "huge": "2\n"})
	m := l.merge()
	require.Equal(t, map[string]string{"huge": ports.ConflictContent}, kinds(m.Conflicts))
	require.Equal(t, "0\no\nt\n", l.read(l.path("list")))
	require.Equal(t, "1\n", l.read(l.path("huge")))
	l.held(ports.HoldPristine)
}

// A39: git calls a file changed right after writing it.
func TestAFileThatGitAlwaysCallsChangedStopsNoLanding(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, theirs map[string]string) *landing {
		w := newWorld(t, map[string]string{"w.txt": "one\r\n", "v.txt": "one\r\n", "a.txt": lines})
		w.write(filepath.Join(w.dir, ".gitattributes"), "[wv].txt text eol=lf\n")
		w.git(w.dir, "add", ".gitattributes")
		w.git(w.dir, "commit", "-q", "-m", "attributes")
		w.base = w.git(w.dir, "rev-parse", "HEAD")
		l := &landing{world: w, t: t, in: w.repo.Integrator()}
		var err error
		l.ws, err = w.attach().Open(t.Context(), basePlace(), w.base)
		require.NoError(t, err)
		require.NotEmpty(t, w.git(l.ws.Dir(), "status", "--porcelain"))
		operator := filepath.Join(w.root, "operator")
		w.git(w.dir, "worktree", "add", "-q", "-b", "operator", operator, w.base)
		for name, content := range theirs {
			w.write(filepath.Join(operator, name), content)
			w.git(operator, "add", name)
		}
		w.git(operator, "commit", "-q", "-m", "theirs", "--", ".")
		l.spec = ports.MergeSpec{Head: w.base, Theirs: w.git(operator, "rev-parse", "HEAD"), Branch: "agl/_work/t-1/c", Into: "agl/t-1"}
		return l
	}
	t.Run("and the landing is about others", func(t *testing.T) {
		t.Parallel()
		l := begin(t, map[string]string{"a.txt": "theirs\n", "v.txt": "one\r\n", "w.txt": "one\r\n"})
		l.git(l.dir, "worktree", "remove", "--force", filepath.Join(l.root, "operator"))
		m := l.merge()
		require.Empty(t, m.Conflicts)
		l.held(ports.HoldPristine)
		made, err := l.in.Commit(t.Context(), l.spec, m.Tree, commitSpec(l.spec.Head, m.Message))
		require.NoError(t, err)
		require.NoError(t, l.attach().Move(t.Context(), l.spec.Into, l.spec.Head, made.ID))
		done, err := l.in.Conclude(t.Context(), l.ws, made.ID, "x")
		require.NoError(t, err)
		require.Nil(t, done.Salvage)
		l.noHold()
	})
	t.Run("and the landing changes one", func(t *testing.T) {
		t.Parallel()
		l := begin(t, map[string]string{"v.txt": "two\n"})
		l.write(l.path("w.txt"), "one\r\n")
		m := l.merge()
		require.Empty(t, m.Conflicts)
		require.Equal(t, "two\n", l.read(l.path("v.txt")))
		l.held(ports.HoldPristine)
		resolved := l.resolve(nil)
		require.Equal(t, m.Tree, resolved.Tree, "what only looks changed is no part of a resolution")
		require.Nil(t, func() *ports.Salvage {
			done, err := l.ws.PutBack(t.Context(), l.spec.Head, "x")
			require.NoError(t, err)
			return done.Salvage
		}())
	})
	t.Run("but one that was changed does", func(t *testing.T) {
		t.Parallel()
		l := begin(t, map[string]string{"a.txt": "theirs\n"})
		l.write(l.path("w.txt"), "typed\r\n")
		_, err := l.in.Merge(t.Context(), l.ws, l.spec)
		require.ErrorIs(t, err, ports.Conflicted)
		require.ErrorContains(t, err, "w.txt")
		l.noHold()
	})
}

func TestAFileThatWasWrittenAgainAsItWasIsMergedOver(t *testing.T) {
	t.Parallel()
	for what, rewrite := range map[string]func(l *landing){
		"the file": func(l *landing) {
			l.write(l.path("again"), "1\n")
			require.NoError(l.t, os.Rename(l.path("again"), l.path("a.txt")))
		},
		"the index": func(l *landing) { l.git(l.ws.Dir(), "read-tree", l.spec.Head+"^{tree}") },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := meet(t, map[string]string{"a.txt": "1\n"}, map[string]string{"b.txt": "o\n"}, map[string]string{"a.txt": "t\n"})
			rewrite(l)
			made, _ := l.land(l.merge())
			require.Equal(t, "t", l.git(l.dir, "show", made.ID+":a.txt"))
		})
	}
}
