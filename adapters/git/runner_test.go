package git_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// snapshot returns a digest of every file below dir.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case d.Type().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		rel, _ := filepath.Rel(dir, path)
		got[rel] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256([]byte(content)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wholeStep makes a checkout, commits in it, spoils it, puts it back, and
// clears the run.
func wholeStep(t *testing.T, w *world) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, w.repo.Check(ctx))
	trees := w.attach()
	ws := w.checkout()
	guard, err := ws.Guard(ctx)
	require.NoError(t, err)
	w.write(filepath.Join(ws.Dir(), "a.txt"), "changed\n")
	w.write(filepath.Join(ws.Dir(), "é\n.txt"), "new\n")
	require.NoError(t, ws.Verify(ctx, guard))
	made := w.commit(ws, w.base, "step")
	require.Equal(t, "changed", w.git(w.dir, "show", made.ID+":a.txt"))
	require.Equal(t, "new", w.git(w.dir, "show", made.ID+":é\n.txt"))
	w.write(filepath.Join(ws.Dir(), "a.txt"), "spoiled\n")
	w.write(filepath.Join(ws.Dir(), "left.txt"), "left\n")
	changes, err := ws.Inspect(ctx, made.ID)
	require.NoError(t, err)
	require.Equal(t, ports.Changes{Head: made.ID, Tracked: []string{"a.txt"}, Untracked: []string{"left.txt"}}, changes)
	_, err = ws.PutBack(ctx, made.ID, "test")
	require.NoError(t, err)
	require.Equal(t, "changed\n", w.read(filepath.Join(ws.Dir(), "a.txt")))
	require.False(t, w.exists(filepath.Join(ws.Dir(), "left.txt")))
	message, err := w.repo.Message(ctx, made.ID)
	require.NoError(t, err)
	require.Equal(t, "step", message)
	_, err = trees.Clear(ctx, map[string]string{"agl/" + label: made.ID})
	require.NoError(t, err)
	require.False(t, w.exists(ws.Dir()))
}

// A5.
func TestGitVariablesOfTheCallersEnvironmentSendNoCallElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	other := newWorld(t, nil)
	dir := filepath.Join(other.dir, ".git")
	for _, name := range strings.Fields(w.git(w.dir, "rev-parse", "--local-env-vars")) {
		value := map[string]string{
			"GIT_DIR": dir, "GIT_COMMON_DIR": dir, "GIT_WORK_TREE": other.dir, "GIT_INDEX_FILE": filepath.Join(dir, "index"),
			"GIT_OBJECT_DIRECTORY": filepath.Join(dir, "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES": filepath.Join(dir, "objects"),
			"GIT_CONFIG": filepath.Join(dir, "config"), "GIT_CONFIG_PARAMETERS": "'core.bare=true'", "GIT_CONFIG_COUNT": "1",
			"GIT_PREFIX": "sub/", "GIT_GRAFT_FILE": "/dev/null", "GIT_SHALLOW_FILE": "/dev/null",
		}[name]
		if value == "" {
			value = "1"
		}
		w.env = append(w.env, name+"="+value)
	}
	w.env = append(w.env, "GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0="+other.dir,
		"GIT_TRACE=1", "GIT_LITERAL_PATHSPECS=1", "GIT_NAMESPACE=elsewhere", "GIT_EXTERNAL_DIFF=false", "GIT_ATTR_SOURCE=HEAD")
	before := snapshot(t, other.root)
	clean := *w // a person's own commands in this test do not get the poisoned environment
	w.open()
	clean.repo, clean.env = w.repo, w.env[:5]
	wholeStep(t, &clean)
	if diff := cmp.Diff(before, snapshot(t, other.root)); diff != "" {
		t.Errorf("the other repository changed (-want +got):\n%s", diff)
	}
}

// A12, A17, A43, A44.
func TestTheUsersConfigurationDoesNotChangeWhatAGLDoes(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	marker := filepath.Join(w.root, "ran")
	program := filepath.Join(w.root, "program")
	w.write(program, "#!/bin/sh\ntouch "+marker+"\nsleep 30\n")
	require.NoError(t, os.Chmod(program, 0o755))
	hooks := filepath.Join(w.root, "hooks")
	for _, name := range []string{"pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-index-change", "commit-msg"} {
		w.write(filepath.Join(hooks, name), "#!/bin/sh\ntouch "+marker+"\n")
		require.NoError(t, os.Chmod(filepath.Join(hooks, name), 0o755))
	}
	w.git(w.root, "init", "-q", "-b", "main", w.dir)
	w.write(filepath.Join(w.dir, "a.txt"), "one\n")
	w.git(w.dir, "add", "-A")
	w.git(w.dir, "commit", "-q", "-m", "first")
	w.base = w.git(w.dir, "rev-parse", "HEAD")
	w.write(filepath.Join(w.home, "gitconfig"), `[user]
	name = Ann Author
	email = ann@example.com
[core]
	quotePath = true
	editor = `+program+`
	pager = `+program+`
	fsmonitor = `+program+`
	hooksPath = `+hooks+`
	safecrlf = true
	autocrlf = input
	untrackedCache = true
	splitIndex = true
	checkStat = minimal
[color]
	ui = always
	status = always
[commit]
	gpgsign = true
	cleanup = strip
	template = /nonexistent
[tag]
	gpgsign = true
[gpg]
	program = `+program+`
[diff]
	external = `+program+`
	noprefix = true
	mnemonicPrefix = true
	renames = copies
	ignoreSubmodules = all
[status]
	showUntrackedFiles = no
	relativePaths = true
	short = true
	branch = true
[merge]
	ff = only
	verifySignatures = true
[i18n]
	commitEncoding = ISO-8859-1
	logOutputEncoding = ISO-8859-1
[log]
	showSignature = true
	date = relative
[format]
	pretty = oneline
[branch]
	autoSetupMerge = always
	autoSetupRebase = always
[submodule]
	recurse = true
[feature]
	manyFiles = true
[add]
	ignoreErrors = true
[alias]
	status = !touch `+marker+`
[gc]
	auto = 1
`)
	w.open()
	person := *w
	person.env = append(w.env[:len(w.env):len(w.env)], "GIT_CONFIG_GLOBAL=/dev/null")
	wholeStep(t, &person)
	require.False(t, w.exists(marker), "a program of the configuration ran")
}

func TestACancelledCallSaysSoAndHasNoKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ws.Inspect(ctx, w.base)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, ports.KindOf(err))
}

func TestGitChildrenInheritTheRunLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.txt": "one\n", ".gitattributes": "*.txt filter=look\n"})
	seen := filepath.Join(w.root, "seen")
	w.git(w.dir, "config", "filter.look.clean", "sh -c 'cat <&3 >>"+seen+"; cat'")
	file := filepath.Join(w.root, "lock")
	w.write(file, "the run's lock")
	lock, err := os.Open(file)
	require.NoError(t, err)
	defer lock.Close()
	trees, err := w.repo.Attach(t.Context(), label, fileLock{lock})
	require.NoError(t, err)
	ws, err := trees.Open(t.Context(), basePlace(), w.base)
	require.NoError(t, err)
	w.write(filepath.Join(ws.Dir(), "b.txt"), "b\n")
	_, err = ws.Commit(t.Context(), commitSpec(w.base, "x"))
	require.NoError(t, err)
	require.Equal(t, "the run's lock", w.read(seen))
}

type fileLock struct{ f *os.File }

func (l fileLock) Files() []*os.File { return []*os.File{l.f} }
func (fileLock) Release() error      { return nil }
