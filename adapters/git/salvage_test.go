package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestAnUntouchedCheckoutIsNotSalvaged(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1\n", "bin/run": "#!x", "link": "->a", ".gitignore": "*.log\n"})
	b.keepNothing()
	b.write("build.log", "ignored by head's rules")
	b.keepNothing()
	require.Empty(t, b.list())
}

func TestEveryKindOfFileComesBackByteForByte(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"same": "same\n", "changed": "old\n", "gone": "gone\n", "mode": "m", "plain": "#!p", "link": "->same", "file": "f", "folder/in": "x", "tofolder": "y",
	})
	b.write("changed", "\x00\x01\xff binary \r\n\r no end")
	b.write("crlf.txt", "a\r\nb\r\n")
	b.write("empty", "")
	b.write("new/deep/tool", "#!/bin/sh\n")
	b.remove("gone")
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "mode"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "plain"), 0o644))
	b.write("link", "->/etc/passwd")
	b.remove("file")
	b.write("file", "->../../outside")
	b.write("dangling", "->nowhere\nat all")
	b.remove("folder")
	b.write("folder", "a file now")
	b.remove("tofolder")
	b.write("tofolder/inside", "z")
	s := b.roundTrip()
	require.Equal(t, "the step failed", s.Reason)
	require.Equal(t, 1, s.N)
	require.Equal(t, "refs/agl/salvage/job/_base/1", s.Ref)
	require.Equal(t, s.Commit, b.gitIn(b.main, "rev-parse", s.Ref))
	require.Equal(t, 14, s.Paths)
	require.Equal(t, b.head, b.gitIn(b.main, "rev-parse", s.Ref+"^1"))
	require.Equal(t, "AGL <agl@localhost>", b.gitIn(b.main, "log", "-1", "--format=%an <%ae>", s.Ref))
	if diff := cmp.Diff(*s, b.list()[0]); diff != "" {
		t.Errorf("what salvage returned and what is listed (-returned +listed):\n%s", diff)
	}
}

func TestAnyNameIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	for i, name := range []string{
		"new\nline", "tab\t", "quo\"te", `back\slash`, "-dash", " space ", "caf\u00e9", "not\xffutf8\xc3", "*", "[x]", ":(top)x", "!bang", "#hash",
		"\x01\x7f", "..dots", "...", "CON", "a:b", "~", "$(x)", "deep/\n/x", "@{u}", "HEAD", "x.lock", "trailing.", "gitmodules", "git~2",
	} {
		b.write(name, strings.Repeat("x", i))
	}
	b.roundTrip()
}

func TestBytesAreKeptWithoutFiltersAndConversions(t *testing.T) {
	t.Parallel()
	planted := filepath.Join(t.TempDir(), "ran")
	run := "touch " + planted + "; tr a-z A-Z"
	b := newBench(t, map[string]string{
		".gitattributes": "*.txt text eol=crlf\n*.up filter=up\n*.id ident\n*.utf16 text working-tree-encoding=UTF-16LE\n*.x export-ignore\n",
		"same.txt":       "one\ntwo\n", "edit.txt": "one\ntwo\n", "mixed.txt": "one\ntwo\n", "a.x": "x",
	})
	require.Equal(t, "one\r\ntwo\r\n", filesIn(t, b.dir)["same.txt"])
	b.gitIn(b.main, "config", "filter.up.clean", run)
	b.gitIn(b.main, "config", "filter.up.smudge", run)
	b.gitIn(b.main, "config", "filter.up.process", run)
	b.gitIn(b.main, "config", "filter.up.required", "true")
	b.keepNothing() // CRLF is what a checkout of head writes
	b.write("edit.txt", "one\r\n2\r\n")
	b.write("mixed.txt", "one\r\ntwo\n")
	b.write("new.txt", "lf\n")
	b.write("a.up", "lower")
	b.write("b.id", "$Id$ $Id: x $")
	b.write("c.utf16", "\xff\xfea\x00")
	b.write("b.x", "not exported")
	want := filesIn(t, b.dir)
	s := b.keep()
	require.NoFileExists(t, planted)
	want["same.txt"] = "one\ntwo\n" // it is head's: nothing of it is lost
	if diff := cmp.Diff(want, b.fetched(s)); diff != "" {
		t.Errorf("(-in the checkout +fetched):\n%s", diff)
	}
	if diff := cmp.Diff(want, b.written(1)); diff != "" {
		t.Errorf("(-in the checkout +written):\n%s", diff)
	}
	require.NoFileExists(t, planted)
	require.Equal(t, 7, s.Paths)
}

func TestContentOfLFSThatIsInItsStoreIsNotCopied(t *testing.T) {
	t.Parallel()
	const content, oid = "large content\n", "ca27f3a1fa46b52b9b770c0f09ec44d48b0f6a1e6b0c8955b8ac1976b6d6c3cb"
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 14\n"
	b := newBench(t, map[string]string{"a.bin": pointer, "b.bin": pointer, ".gitattributes": "*.bin filter=lfs\n"})
	b.gitIn(b.main, "config", "filter.lfs.process", "false")
	b.gitIn(b.main, "config", "filter.lfs.required", "true")
	b.write("a.bin", content) // as git lfs checks it out
	b.write("b.bin", content)
	require.Equal(t, 2, b.keep().Paths, "it is nowhere else")
	writeInto(t, filepath.Join(b.main, ".git/lfs/objects", oid[:2], oid[2:4]), oid, content)
	b.keepNothing()
	b.write("b.bin", "edited\n")
	require.Equal(t, map[string]string{"a.bin": pointer, "b.bin": "edited\n", ".gitattributes": "*.bin filter=lfs\n"}, b.written(b.keep().N))
}

func TestLineEndsTurnedByTheAgentAreAChange(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\n", ".gitattributes": "* text=auto\n"})
	b.write("a.txt", "one\r\ntwo\r\n") // git status calls this clean
	b.roundTrip()
}

func TestACheckoutWithCRLFSettingsIsClean(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.txt": "one\ntwo\n", "bin": "\x00\n", "cr.txt": "x\r\ny\r\n"})
	b.gitIn(b.main, "config", "core.autocrlf", "true")
	b.remove("a.txt")
	b.agent("checkout", "--", "a.txt")
	require.Equal(t, "one\r\ntwo\r\n", filesIn(t, b.dir)["a.txt"])
	b.keepNothing()
}

func TestFilesHiddenByTheAgentsIgnoreRulesAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{".gitignore": "/build/\n*.o\n!keep.o\n", "sub/.gitignore": "local\n", "sub/a": "1", "sub/deep/b": "2"})
	b.write("build/out", "ignored by head")
	b.write("x.o", "ignored by head")
	b.write("sub/local", "ignored by head")
	b.write("sub/deep/local/x", "ignored by head")
	b.write("deep/er/y.o", "ignored by head")
	ignored := []string{"build/out", "x.o", "sub/local", "sub/deep/local/x", "deep/er/y.o"}
	b.write("keep.o", "not ignored by head")
	b.write(".gitignore", "*\n")
	b.write("hidden", "by the root's rule")
	b.write("sub/hidden", "by the root's rule")
	b.write("sub/.gitignore", "*\n")
	b.write("venv/.gitignore", "*\n")
	b.write("venv/lib/x.py", "by a rule that hides itself")
	b.write("sub/deep/.gitignore", "c\n")
	b.write("sub/deep/c", "by a new nested rule")
	want := filesIn(t, b.dir)
	for _, p := range ignored {
		delete(want, p)
	}
	if diff := cmp.Diff(want, b.fetched(b.keep())); diff != "" {
		t.Errorf("(-in the checkout +fetched):\n%s", diff)
	}
	for _, p := range ignored {
		require.FileExists(t, filepath.Join(b.dir, p))
	}
}

func TestInfoExcludeOfTheOperatorHolds(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	require.NoError(t, os.WriteFile(filepath.Join(b.main, ".git", "info", "exclude"), []byte("notes*\n"), 0o644))
	b.write("notes.md", "the operator's")
	b.keepNothing()
}

func TestIgnoredFilesThatGitWouldOverwriteAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{".gitignore": "out\n*.bin\n", "out": "tracked all the same", "lib/x.bin": "1", "lib/y": "2"})
	b.remove("out")
	b.write("out/a.bin", "in the way of a file of head")
	b.remove("lib")
	b.write("lib", "in the way of a folder of head")
	b.write("forced.bin", "staged although it is ignored")
	b.agent("add", "-f", "forced.bin")
	b.roundTrip()
}

func TestEditsBehindIndexBitsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"skip": "1", "assume": "1", "absent": "1", "touched": "1234"})
	b.agent("update-index", "--skip-worktree", "skip", "absent")
	b.agent("update-index", "--assume-unchanged", "assume")
	b.write("skip", "2")
	b.write("assume", "3")
	info, err := os.Stat(filepath.Join(b.dir, "touched"))
	require.NoError(t, err)
	b.write("touched", "4321") // same size, same time
	require.NoError(t, os.Chtimes(filepath.Join(b.dir, "touched"), info.ModTime(), info.ModTime()))
	b.roundTrip()
}

func TestWhatASparseCheckoutLeftOutIsNotRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"in/a": "1", "out/b": "2"})
	b.agent("sparse-checkout", "set", "in")
	require.NoDirExists(t, filepath.Join(b.dir, "out"))
	b.keepNothing()
	b.write("in/a", "changed")
	want := map[string]string{"in/a": "changed", "out/b": "2"}
	require.Equal(t, want, b.fetched(b.keep()))
}

func TestAnEqualSalvageMakesNoNewRef(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "b": "1"})
	b.write("a", "2")
	b.write("new", "3")
	b.agent("add", "new")
	b.write("new", "4")
	first := b.keep()
	refs := b.gitIn(b.main, "for-each-ref")
	again := b.keep()
	require.Equal(t, first, again)
	require.Equal(t, refs, b.gitIn(b.main, "for-each-ref"))
	b.write("a", "1") // less than what is kept
	require.Equal(t, first, b.keep())
	b.remove("b") // something else: that b was removed
	require.Equal(t, 2, b.keep().N)
	b.write("a", "5")
	require.Equal(t, 3, b.keep().N)
	require.Len(t, b.list(), 3)
}

func TestNumbersCountOverTheRunAndAreNotGivenAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	require.Equal(t, 1, b.keep().N)
	other := *b.checkout
	other.namespace = "child"
	s, err := other.salvage(t.Context(), b.head, "x")
	require.NoError(t, err)
	require.Equal(t, "refs/agl/salvage/job/child/2", s.Ref)
	require.NoError(t, b.repo.DropSalvage(t.Context(), "job", 2))
	b.write("a", "3")
	require.Equal(t, 3, b.keep().N)
	elsewhere := b.checkout
	elsewhere.label = "job2"
	s, err = elsewhere.salvage(t.Context(), b.head, "x")
	require.NoError(t, err)
	require.Equal(t, 1, s.N)
}

func TestNamespacesCanBeSalvagedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.gitIn(b.main, "update-ref", "refs/agl/salvage/job/_base/9223372036854775807", b.head) // planted: no number of AGL's
	const n = 4
	var (
		wg      sync.WaitGroup
		numbers [n]int
		errs    [n]error
	)
	for i := range n {
		c := *b.checkout
		c.namespace = fmt.Sprintf("child%d", i)
		c.branch, c.dir = "agl/_work/job/"+c.namespace, filepath.Join(filepath.Dir(b.dir), c.namespace)
		b.gitIn(b.main, "worktree", "add", "-q", "-b", c.branch, c.dir)
		c.gitDir = b.gitIn(c.dir, "rev-parse", "--absolute-git-dir")
		writeInto(t, c.dir, "a", c.namespace)
		wg.Go(func() {
			s, err := c.salvage(t.Context(), b.head, "x")
			if errs[i] = err; err == nil {
				numbers[i] = s.N
			}
		})
	}
	wg.Wait()
	require.Equal(t, [n]error{}, errs)
	require.ElementsMatch(t, []int{1, 2, 3, 4}, numbers)
	for _, s := range b.list() {
		require.Equal(t, s.Namespace, b.written(s.N)["a"])
	}
}

func TestASalvageNeedsNoIdentity(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	var err error
	env := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	b.gitIn(b.main, "config", "user.useConfigOnly", "true")
	b.checkout.repo, err = Open(t.Context(), Options{Repo: b.main, Trees: b.repo.trees, SalvageDir: b.repo.salvageDir, Env: env})
	require.NoError(t, err)
	b.write("a", "2")
	b.keep()
}

func TestASHA256RepositoryIsSalvaged(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, "sha256", map[string]string{"a": "1", "b": "2"})
	b.keepNothing()
	b.write("a", "2")
	b.write("c", "3")
	s := b.keep()
	require.Len(t, s.Commit, 64)
	require.Equal(t, filesIn(t, b.dir), b.written(s.N))
	require.Equal(t, s, b.keep())
}
