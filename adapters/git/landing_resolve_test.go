package git_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// quarrel is a landing whose sides both changed the middle of a.txt.
func quarrel(t *testing.T) (*landing, ports.Merge) {
	t.Helper()
	l := meet(t, map[string]string{".gitignore": "*.log\n", "a.txt": lines, "b.txt": "b\n"},
		map[string]string{"a.txt": strings.Replace(lines, "5", "ours", 1), "o.txt": "o\n"},
		map[string]string{"a.txt": strings.Replace(lines, "5", "theirs", 1), "t.txt": "t\n"})
	m := l.merge()
	require.Equal(t, []ports.ConflictPath{{Path: "a.txt", Kind: ports.ConflictContent}}, m.Conflicts)
	require.Contains(t, l.read(l.path("a.txt")), "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> "+l.spec.Theirs+"\n")
	return l, m
}

func TestAResolutionIsEverythingInTheCheckoutThatIsNotIgnored(t *testing.T) {
	t.Parallel()
	l, m := quarrel(t)
	l.write(l.path("a.txt"), strings.Replace(lines, "5", "both", 1))
	l.write(l.path("b.txt"), "edited\n")
	l.write(l.path("added.txt"), "added\n")
	l.write(l.path("noise.log"), "noise\n")
	require.NoError(t, os.Remove(l.path("t.txt")))
	l.held(ports.HoldEdited)
	files := snapshot(t, l.ws.Dir())
	got := l.resolve(m.Conflicts)
	require.Equal(t, files, snapshot(t, l.ws.Dir()))
	made, _ := l.land(got)
	require.Equal(t, ".gitignore\na.txt\nadded.txt\nb.txt\no.txt", l.git(l.dir, "ls-tree", "-r", "--name-only", made.ID))
	require.Equal(t, "edited", l.git(l.dir, "show", made.ID+":b.txt"))
	require.Equal(t, "noise\n", l.read(l.path("noise.log")))
}

func TestWhatIsUnmergedAndNotBeingResolvedStaysSo(t *testing.T) {
	t.Parallel()
	l, m := quarrel(t)
	l.write(l.path("a.txt"), "done\n")
	got := l.resolve(nil)
	require.Equal(t, map[string]string{"a.txt": ports.ConflictContent}, kinds(got.Conflicts))
	require.NotEmpty(t, l.git(l.ws.Dir(), "ls-files", "-u"))
	l.land(l.resolve(m.Conflicts))
}

func TestAPathThatWasInConflictIsResolvedEvenWhereItIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.log": "1\n"})
	l := meetIn(w, t, map[string]string{"a.log": "o\n", ".gitignore": "*.log\n"}, map[string]string{"a.log": "t\n"}, nil)
	m := l.merge()
	l.write(l.path("a.log"), "both\n")
	w.git(l.ws.Dir(), "rm", "-q", "--cached", "a.log")
	made, _ := l.land(l.resolve(m.Conflicts))
	require.Equal(t, "both", w.git(w.dir, "show", made.ID+":a.log"))
}

func TestAPathThatIsNoTextCanBeResolvedAfterItWasRecorded(t *testing.T) {
	t.Parallel()
	l := meet(t, map[string]string{"a\xff\xfe": "1\n"}, map[string]string{"a\xff\xfe": "o\n"}, map[string]string{"a\xff\xfe": "t\n"})
	m := l.merge()
	doc, err := json.Marshal(m.Conflicts)
	require.NoError(t, err)
	var recorded []ports.ConflictPath
	require.NoError(t, json.Unmarshal(doc, &recorded))
	require.NotEqual(t, m.Conflicts, recorded)
	require.Equal(t, map[string]string{"a\xff\xfe": ports.ConflictMarkers}, kinds(l.resolve(recorded).Conflicts))
	l.write(l.path("a\xff\xfe"), "both\n")
	l.land(l.resolve(recorded))
}

func TestPathsThatAreOneAsTextAreResolvedEachByItself(t *testing.T) {
	t.Parallel()
	sides := func(text string) map[string]string {
		return map[string]string{"a\xff": text, "a\xfe": text, "a\ufffd": text}
	}
	l := meet(t, sides("1\n"), sides("o\n"), sides("t\n"))
	l.merge()
	recorded := []ports.ConflictPath{{Path: "a\ufffd", Kind: ports.ConflictContent}}
	for name := range sides("") {
		require.Equal(t, ports.ConflictMarkers, kinds(l.resolve(recorded).Conflicts)[name])
		l.git(l.ws.Dir(), "add", name) // that it is staged does not hide what is left in it
		require.Equal(t, ports.ConflictMarkers, kinds(l.resolve(recorded).Conflicts)[name])
	}
	for name := range sides("") {
		l.write(l.path(name), "both\n")
	}
	l.land(l.resolve(recorded))
}

func TestAMergeThatSomebodyCommittedCounts(t *testing.T) {
	t.Parallel()
	l, m := quarrel(t)
	l.write(l.path("a.txt"), "done\n")
	l.git(l.ws.Dir(), "commit", "-q", "-a", "-m", "I did it\n\nby hand")
	theirs := l.git(l.ws.Dir(), "rev-parse", "HEAD")
	held, err := l.in.Rehold(t.Context(), l.ws, l.spec)
	require.NoError(t, err)
	require.True(t, held)
	got := l.resolve(m.Conflicts)
	l.held(ports.HoldEdited)
	require.Equal(t, l.spec.Head, l.git(l.ws.Dir(), "rev-parse", "HEAD"))
	require.Equal(t, "I did it\n\nby hand\n", got.Message)
	made, _ := l.land(got)
	require.Equal(t, l.git(l.dir, "rev-parse", theirs+"^{tree}"), made.Tree)
	require.NotEmpty(t, l.git(l.dir, "for-each-ref", "--contains", theirs), "its commit is kept")
}

func TestAnotherMergeIsNotTakenForTheLanding(t *testing.T) {
	t.Parallel()
	l, m := quarrel(t)
	other := l.spec
	other.Theirs = l.base
	held, err := l.in.Held(t.Context(), l.ws, other)
	require.NoError(t, err)
	require.Equal(t, ports.HoldOther, held)
	_, err = l.in.Resolve(t.Context(), l.ws, other, m.Conflicts)
	require.ErrorIs(t, err, ports.Conflicted)
	_, err = l.in.Merge(t.Context(), l.ws, l.spec)
	require.ErrorIs(t, err, ports.Conflicted)
	require.ErrorContains(t, err, "merge")
	var rejected *ports.RejectedError
	_, err = l.ws.Commit(t.Context(), commitSpec(l.spec.Head, "x"))
	require.ErrorAs(t, err, &rejected)
	l.giveUp()
	for _, call := range []func() error{
		func() error { _, err := l.in.Resolve(t.Context(), l.ws, l.spec, nil); return err },
		func() error {
			_, err := l.in.Settle(t.Context(), l.ws, l.git(l.dir, "rev-parse", "HEAD^{tree}"), "x")
			return err
		},
		func() error { _, err := l.in.Snapshot(t.Context(), l.ws, commitSpec(l.spec.Head, "x")); return err },
		func() error { _, err := l.in.Restore(t.Context(), l.ws, l.spec.Head, "x"); return err },
		func() error { _, err := l.in.Conclude(t.Context(), l.ws, l.spec.Theirs, "x"); return err },
	} {
		require.ErrorIs(t, call(), ports.Conflicted)
	}
}

func TestANestedRepositoryIsNoPartOfAResolution(t *testing.T) {
	t.Parallel()
	l, m := quarrel(t)
	l.write(l.path("a.txt"), "done\n")
	nested := l.path("vendor/lib")
	l.git(l.root, "init", "-q", nested)
	l.write(filepath.Join(nested, "x"), "x\n")
	l.git(nested, "add", "x")
	l.git(nested, "commit", "-q", "-m", "x")
	var rejected *ports.RejectedError
	_, err := l.in.Resolve(t.Context(), l.ws, l.spec, m.Conflicts)
	require.ErrorAs(t, err, &rejected)
	require.ErrorContains(t, err, "vendor/lib")
	snap, err := l.in.Snapshot(t.Context(), l.ws, commitSpec(l.spec.Head, "typed"))
	require.NoError(t, err)
	require.NotContains(t, l.git(l.dir, "ls-tree", "-r", snap), "vendor")
	require.NoError(t, os.RemoveAll(l.path("vendor")))
	l.land(l.resolve(m.Conflicts))
}

func TestAHoldIsPristineUntilSomethingIsDoneInIt(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(l *landing){
		"a file in conflict was edited":  func(l *landing) { l.write(l.path("a.txt"), "x\n") },
		"another file was edited":        func(l *landing) { l.write(l.path("b.txt"), "x\n") },
		"a merged file was removed":      func(l *landing) { require.NoError(l.t, os.Remove(l.path("t.txt"))) },
		"a file in conflict was removed": func(l *landing) { require.NoError(l.t, os.Remove(l.path("a.txt"))) },
		"a file was added":               func(l *landing) { l.write(l.path("new"), "x\n") },
		"a file was made executable":     func(l *landing) { require.NoError(l.t, os.Chmod(l.path("t.txt"), 0o755)) },
		"a file in conflict was made executable": func(l *landing) {
			require.NoError(l.t, os.Chmod(l.path("a.txt"), 0o755))
		},
		"a file was replaced by a link": func(l *landing) {
			require.NoError(l.t, os.Remove(l.path("a.txt")))
			require.NoError(l.t, os.Symlink("b.txt", l.path("a.txt")))
		},
		"something was staged":    func(l *landing) { l.git(l.ws.Dir(), "add", "a.txt") },
		"something was taken out": func(l *landing) { l.git(l.ws.Dir(), "rm", "-q", "--cached", "t.txt") },
		"an edit was hidden": func(l *landing) {
			l.git(l.ws.Dir(), "update-index", "--assume-unchanged", "b.txt")
			l.write(l.path("b.txt"), "hidden\n")
		},
		"the message was edited":    func(l *landing) { l.write(filepath.Join(l.adminDir(l.ws), "MERGE_MSG"), "mine\n") },
		"-ignored files were made":  func(l *landing) { l.write(l.path("x.log"), "x\n") },
		"-a file was only touched":  func(l *landing) { l.write(l.path("b.txt"), "b\n") },
		"-its files were only read": func(l *landing) { l.git(l.ws.Dir(), "status") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := quarrel(t)
			l.held(ports.HoldPristine)
			do(l)
			if strings.HasPrefix(name, "-") {
				l.held(ports.HoldPristine)
				require.Nil(t, l.giveUp().Salvage)
				return
			}
			l.held(ports.HoldEdited)
			require.NotNil(t, l.giveUp().Salvage)
		})
	}
	t.Run("a rebase was begun besides", func(t *testing.T) {
		t.Parallel()
		l, _ := quarrel(t)
		l.write(filepath.Join(l.adminDir(l.ws), "CHERRY_PICK_HEAD"), l.base+"\n")
		l.held(ports.HoldOther)
	})
}

func TestARedGateLeavesAHandResolvedTextInPlaceAndGivingUpSalvagesIt(t *testing.T) {
	t.Parallel()
	l, m := quarrel(t)
	l.write(l.path("a.txt"), "typed by hand\n")
	got := l.resolve(m.Conflicts)
	l.write(l.path("report.xml"), "left by the gate\n")
	l.write(l.path("a.txt"), "formatted by the gate\n")
	done, err := l.in.Settle(t.Context(), l.ws, got.Tree, "what a red gate left")
	require.NoError(t, err)
	require.Equal(t, "left by the gate\n", kept(t, l.world, done.Salvage, "report.xml"))
	require.Equal(t, 2, done.Salvage.Paths)
	require.Empty(t, done.Salvage.Index)
	require.Equal(t, "typed by hand\n", l.read(l.path("a.txt")))
	require.Equal(t, "<absent>", l.read(l.path("report.xml")))
	require.Equal(t, got.Tree, l.git(l.ws.Dir(), "write-tree"))
	l.held(ports.HoldEdited)
	again, err := l.in.Settle(t.Context(), l.ws, got.Tree, "again")
	require.NoError(t, err)
	require.Equal(t, ports.PutBack{}, again)
	require.Equal(t, got.Tree, l.resolve(m.Conflicts).Tree)
	require.Equal(t, "typed by hand\n", kept(t, l.world, l.giveUp().Salvage, "a.txt"))
	_, err = l.in.Settle(t.Context(), l.ws, "x", "x")
	require.Error(t, err)
}

func TestWhatWasTypedIsThereAgainAfterACrash(t *testing.T) {
	t.Parallel()
	l, m := quarrel(t)
	l.write(l.path("a.txt"), "half of it\n<<<<<<< HEAD\n")
	l.write(l.path("b.txt"), "edited\n")
	l.write(l.path("dir/new.txt"), "new\n")
	l.write(l.path("run.sh"), "#!/bin/sh\n")
	require.NoError(t, os.Chmod(l.path("run.sh"), 0o755))
	require.NoError(t, os.Symlink("run.sh", l.path("link")))
	require.NoError(t, os.Remove(l.path("t.txt")))
	l.write(l.path("x.log"), "ignored\n")
	files, index := snapshot(t, l.ws.Dir()), l.git(l.ws.Dir(), "ls-files", "-s")
	snap, err := l.in.Snapshot(t.Context(), l.ws, commitSpec(l.spec.Head, "typed"))
	require.NoError(t, err)
	require.Equal(t, files, snapshot(t, l.ws.Dir()))
	require.Equal(t, index, l.git(l.ws.Dir(), "ls-files", "-s"))
	require.Equal(t, l.spec.Head, l.git(l.dir, "log", "-1", "--format=%P", snap))

	require.NotNil(t, l.giveUp().Salvage)
	require.Equal(t, m, l.merge())
	done, err := l.in.Restore(t.Context(), l.ws, snap, "x")
	require.NoError(t, err)
	require.Nil(t, done.Salvage, "the merge can be made again")
	require.Equal(t, files, snapshot(t, l.ws.Dir()))
	require.Equal(t, index, l.git(l.ws.Dir(), "ls-files", "-s"))
	l.held(ports.HoldEdited)

	l.write(l.path("dir/new.txt"), "more\n")
	l.write(l.path("other.txt"), "other\n")
	done, err = l.in.Restore(t.Context(), l.ws, snap, "back")
	require.NoError(t, err)
	require.Equal(t, "more\n", kept(t, l.world, done.Salvage, "dir/new.txt"))
	require.Equal(t, 2, done.Salvage.Paths)
	require.Equal(t, files, snapshot(t, l.ws.Dir()))
	done, err = l.in.Restore(t.Context(), l.ws, snap, "again")
	require.NoError(t, err)
	require.Nil(t, done.Salvage)
	_, err = l.in.Restore(t.Context(), l.ws, strings.Repeat("1", 40), "x")
	require.ErrorIs(t, err, ports.NotFound)
	l.write(l.path("a.txt"), "whole\n")
	l.land(l.resolve(m.Conflicts))
}

func TestConcludingFinishesWhateverACrashLeft(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*landing, ports.Commit) {
		l := meet(t, nil, map[string]string{"o.txt": "o\n"}, map[string]string{"t.txt": "t\n"})
		m := l.merge()
		made, err := l.in.Commit(t.Context(), l.spec, m.Tree, commitSpec(l.spec.Head, m.Message))
		require.NoError(t, err)
		require.NotEmpty(t, l.git(l.dir, "for-each-ref", "--contains", made.ID), "held until its record is written")
		require.NoError(t, l.attach().Move(t.Context(), l.spec.Into, l.spec.Head, made.ID))
		l.open() // another process
		l.in = l.repo.Integrator()
		l.ws, err = l.attach().Open(t.Context(), basePlace(), made.ID)
		require.NoError(t, err)
		return l, made
	}
	conclude := func(t *testing.T, l *landing, made ports.Commit) ports.PutBack {
		done, err := l.in.Conclude(t.Context(), l.ws, made.ID, "crashed")
		require.NoError(t, err)
		whole(t, l.world, l.ws, made.ID)
		l.noHold()
		return done
	}
	t.Run("before it was begun", func(t *testing.T) {
		t.Parallel()
		l, made := begin(t)
		l.held(ports.HoldOther)
		require.Nil(t, conclude(t, l, made).Salvage)
	})
	t.Run("in the middle", func(t *testing.T) {
		t.Parallel()
		l, made := begin(t)
		require.NoError(t, os.Remove(filepath.Join(l.adminDir(l.ws), "MERGE_MSG")))
		require.Nil(t, conclude(t, l, made).Salvage)
	})
	t.Run("and somebody typed", func(t *testing.T) {
		t.Parallel()
		l, made := begin(t)
		l.write(l.path("t.txt"), "typed\n")
		require.Equal(t, "typed\n", kept(t, l.world, conclude(t, l, made).Salvage, "t.txt"))
	})
	// A47: the index is what a commit would be made of.
	t.Run("and the index was not the commit's", func(t *testing.T) {
		t.Parallel()
		l, made := begin(t)
		l.git(l.ws.Dir(), "read-tree", l.spec.Head)
		conclude(t, l, made)
		require.Equal(t, made.Tree, l.git(l.ws.Dir(), "write-tree"))
	})
}

func TestALandingOfHistoriesThatHaveNothingInCommonIsRefused(t *testing.T) {
	t.Parallel()
	l := meet(t, nil, map[string]string{"o.txt": "o\n"}, map[string]string{"t.txt": "t\n"})
	l.spec.Theirs = l.git(l.dir, "commit-tree", "-m", "root", l.spec.Theirs+"^{tree}")
	_, err := l.in.Merge(t.Context(), l.ws, l.spec)
	require.ErrorIs(t, err, ports.Invalid)
	var unmergeable *ports.UnmergeableError
	require.ErrorAs(t, err, &unmergeable)
	l.spec.Theirs = strings.Repeat("1", 40)
	_, err = l.in.Merge(t.Context(), l.ws, l.spec)
	require.ErrorIs(t, err, ports.NotFound)
	l.write(filepath.Join(l.dir, ".git", "shallow"), "")
	l.spec.Theirs = l.git(l.dir, "commit-tree", "-m", "root", l.spec.Head+"^{tree}")
	_, err = l.in.Merge(t.Context(), l.ws, l.spec)
	require.ErrorContains(t, err, "unshallow")
	l.noHold()
}

func TestALandingWorksInARepositoryOfSHA256(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	w.git(w.root, "init", "-q", "-b", "main", "--object-format=sha256", w.dir)
	w.write(filepath.Join(w.dir, "a.txt"), lines)
	w.git(w.dir, "add", "-A")
	w.git(w.dir, "commit", "-q", "-m", "first")
	w.base = w.git(w.dir, "rev-parse", "HEAD")
	w.open()
	l := meetIn(w, t, map[string]string{"a.txt": "o\n"}, map[string]string{"a.txt": "t\n"}, nil)
	m := l.merge()
	require.Len(t, m.Conflicts, 1)
	l.held(ports.HoldPristine)
	require.Equal(t, map[string]string{"a.txt": ports.ConflictMarkers}, kinds(l.resolve(m.Conflicts).Conflicts))
	l.write(l.path("a.txt"), "both\n")
	l.land(l.resolve(m.Conflicts))
}

// The objects of a landing are on the disk, and reachable, before its record.
func TestACommitOfALandingOutlivesAPrune(t *testing.T) {
	t.Parallel()
	l := meet(t, nil, map[string]string{"o.txt": "o\n"}, map[string]string{"t.txt": "t\n"})
	m := l.merge()
	made, err := l.in.Commit(t.Context(), l.spec, m.Tree, commitSpec(l.spec.Head, m.Message))
	require.NoError(t, err)
	l.git(l.dir, "gc", "-q", "--prune=now")
	require.Equal(t, "commit", l.git(l.dir, "cat-file", "-t", made.ID))
	l.git(l.dir, "fsck", "--strict")
}

func TestAConflictThatNobodyHasDecidedAboutIsOneStill(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(lines, 3)
	for name, c := range map[string]struct {
		base, ours, theirs map[string]string
		left               string // of the untouched merge, by path
		decide             func(l *landing)
		lands              map[string]string // content, absent for none
	}{
		"a binary file, changed": {
			map[string]string{"bin": "\x00"},
			map[string]string{"bin": "\x00o"},
			map[string]string{"bin": "\x00t"},
			"bin",
			func(l *landing) { l.write(l.path("bin"), "\x00b") },
			map[string]string{"bin": "\x00b"},
		},
		"a binary file, added as it is": {
			map[string]string{"bin": "\x00"},
			map[string]string{"bin": "\x00o"},
			map[string]string{"bin": "\x00t"},
			"bin",
			func(l *landing) { l.git(l.ws.Dir(), "add", "bin") },
			map[string]string{"bin": "\x00o"},
		},
		"a file removed here, removed": {
			map[string]string{"a": "0\n"},
			map[string]string{"a": absent, "o": "o\n"},
			map[string]string{"a": "1\n"},
			"a",
			func(l *landing) { require.NoError(t, os.Remove(l.path("a"))) },
			map[string]string{"a": absent},
		},
		"a file removed there, added as it is": {
			map[string]string{"a": "0\n", "b": "\n"},
			map[string]string{"a": "1\n"},
			map[string]string{"a": absent},
			"a",
			func(l *landing) { l.git(l.ws.Dir(), "add", "a") },
			map[string]string{"a": "1\n"},
		},
		"a file renamed twice, of whose names one was removed": {
			map[string]string{"a": long},
			map[string]string{"a": absent, "b": long},
			map[string]string{"a": absent, "c": long},
			"a b c",
			func(l *landing) { require.NoError(t, os.Remove(l.path("c"))) },
			map[string]string{"a": absent, "b": long, "c": absent},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := meet(t, c.base, c.ours, c.theirs)
			m := l.merge()
			got := l.resolve(m.Conflicts)
			var left []string
			for _, p := range got.Conflicts {
				left = append(left, p.Path)
				require.Contains(t, p.Note, "nobody has touched it")
			}
			require.Equal(t, c.left, strings.Join(left, " "))
			require.Empty(t, got.Tree)
			l.held(ports.HoldPristine)
			c.decide(l)
			made, _ := l.land(l.resolve(m.Conflicts))
			for path, want := range c.lands {
				if want == absent {
					require.Empty(t, l.git(l.dir, "ls-tree", made.ID, path))
				} else {
					require.Equal(t, strings.TrimSpace(want), l.git(l.dir, "show", made.ID+":"+path))
				}
			}
		})
	}
}
