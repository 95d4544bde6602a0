package git_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// A17.
func TestWhatMakesGitRunProgramsOrLookElsewhereIsTampering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tamper func(w *world, ws ports.Workspace)
		want   string // what the error must name
	}{
		"core.worktree": {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "core.worktree", w.home) }, "core.worktree"},
		"core.fsmonitor": {
			func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "core.fsmonitor", "./evil.sh") },
			`core.fsmonitor in REPO/.git/config is now "./evil.sh"`,
		},
		"core.hooksPath":    {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "core.hooksPath", "x") }, "core.hookspath"},
		"core.sshCommand":   {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "core.sshCommand", "x") }, "core.sshcommand"},
		"core.bare":         {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "core.bare", "true") }, "core.bare"},
		"a filter":          {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "filter.evil.clean", "x") }, "filter.evil.clean"},
		"a textconv":        {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "diff.evil.textconv", "x") }, "diff.evil.textconv"},
		"a merge driver":    {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "merge.evil.driver", "x") }, "merge.evil.driver"},
		"an include":        {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "include.path", "/tmp/x") }, "include.path"},
		"a conditional one": {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "includeIf.gitdir:/.path", "x") }, "includeif.gitdir:/.path"},
		"an alias":          {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "alias.st", "!x") }, "alias.st"},
		"a credential":      {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "credential.helper", "!x") }, "credential.helper"},
		"a url":             {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "url.x.insteadOf", "y") }, "url.x.insteadof"},
		"a sparse checkout": {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "sparse-checkout", "set", "dir") }, "sparse"},
		"a worktree config": {func(w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.adminDir(ws), "config.worktree"), "[core]\nworktree=/\n")
		}, "core.worktree"},
		"a global key": {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "--global", "filter.x.smudge", "x") }, "filter.x.smudge"},
		"an included file": {func(w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.home, "more"), "[filter \"in\"]\nclean=x\n")
		}, "filter.in.clean"},
		"a removed key":      {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "--unset", "filter.was.clean") }, "filter.was.clean was removed"},
		"a changed key":      {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "filter.was.clean", "other") }, `"other"`},
		"a second value":     {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "--add", "filter.was.clean", "more") }, `"more"`},
		"the user's ignores": {func(w *world, _ ports.Workspace) { w.write(filepath.Join(w.home, "ignores"), "*.go\n") }, "home/ignores was changed"},
		"the user's attributes": {func(w *world, _ ports.Workspace) {
			w.write(filepath.Join(w.home, "attributes"), "* filter=x\n")
		}, "home/attributes was added"},
		"info/exclude":    {func(w *world, _ ports.Workspace) { w.write(filepath.Join(w.dir, ".git/info/exclude"), "*") }, "info/exclude"},
		"info/attributes": {func(w *world, _ ports.Workspace) { w.write(filepath.Join(w.dir, ".git/info/attributes"), "* filter=x") }, "info/attributes"},
		"its own attributes": {func(w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.adminDir(ws), "info/sparse-checkout"), "*")
		}, "sparse-checkout"},
		"a hook": {func(w *world, _ ports.Workspace) {
			w.write(filepath.Join(w.dir, ".git/hooks/post-commit"), "#!/bin/sh")
		}, "hooks/post-commit was added"},
		"an alternate":                  {func(w *world, _ ports.Workspace) { w.write(filepath.Join(w.dir, ".git/objects/info/alternates"), "/x") }, "alternates"},
		"commondir":                     {func(w *world, ws ports.Workspace) { w.write(filepath.Join(w.adminDir(ws), "commondir"), "/x") }, "commondir"},
		"a commondir of the repository": {func(w *world, _ ports.Workspace) { w.write(filepath.Join(w.dir, ".git/commondir"), "/x") }, ".git/commondir was added"},
		"gitdir":                        {func(w *world, ws ports.Workspace) { w.write(filepath.Join(w.adminDir(ws), "gitdir"), "/x/.git") }, "gitdir"},
		"a config git cannot read":      {func(w *world, ws ports.Workspace) { w.write(filepath.Join(w.dir, ".git/config"), "[core\n") }, ".git/config"},
		"a huge config": {func(w *world, ws ports.Workspace) {
			w.write(filepath.Join(w.dir, ".git/config"), strings.Repeat("# padding\n", 1<<20))
		}, ".git/config"},
		"a pipe for a config": {func(w *world, ws ports.Workspace) {
			require.NoError(t, os.Remove(filepath.Join(w.dir, ".git/config")))
			require.NoError(t, exec.Command("mkfifo", filepath.Join(w.dir, ".git/config")).Run())
		}, ".git/config"},
		"control characters in a value": {func(w *world, ws ports.Workspace) { w.git(ws.Dir(), "config", "core.editor", "a\x1b[31mb") }, "a\uFFFD[31mb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.git(w.dir, "config", "filter.was.clean", "cat")
			w.git(w.dir, "config", "--global", "include.path", "more")
			w.write(filepath.Join(w.home, "more"), "[user]\nnickname = x\n")
			w.git(w.dir, "config", "--global", "core.excludesFile", "~/ignores")
			w.git(w.dir, "config", "core.attributesFile", filepath.Join(w.home, "attributes"))
			w.write(filepath.Join(w.home, "ignores"), "*.bak\n")
			ws := w.checkout()
			guard, err := ws.Guard(t.Context())
			require.NoError(t, err)
			require.NoError(t, ws.Verify(t.Context(), guard))
			c.tamper(w, ws)
			err = ws.Verify(t.Context(), guard)
			var tampered *ports.TamperedError
			require.ErrorAs(t, err, &tampered)
			require.ErrorIs(t, err, ports.Conflicted)
			require.ErrorContains(t, err, strings.ReplaceAll(c.want, "REPO", w.dir))
			require.NotContains(t, err.Error(), "\x1b")
		})
	}
}

func TestWhatAgentsOftenDoIsNoTampering(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	guard, err := ws.Guard(t.Context())
	require.NoError(t, err)
	for _, args := range [][]string{
		{"config", "user.name", "Someone"},
		{"config", "branch.main.remote", "origin"},
		{"config", "--global", "push.default", "current"},
		{"config", "--global", "--add", "safe.directory", "/x"},
		{"remote", "add", "origin", "https://example.com/x"},
		{"branch", "other"},
		{"tag", "v1"},
		{"commit", "-q", "--allow-empty", "-m", "own"},
		{"stash", "list"},
		{"gc", "--quiet"},
		{"status"},
	} {
		w.git(ws.Dir(), args...)
		require.NoError(t, ws.Verify(t.Context(), guard), args)
	}
	require.NoError(t, os.Chmod(filepath.Join(w.dir, ".git", "config"), 0o600))
	require.NoError(t, ws.Verify(t.Context(), guard))
	require.NoError(t, ws.Verify(t.Context(), nil))
}

func TestAGuardOutlivesTheProcessAndHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.git(w.dir, "config", "http.https://proxy.example.proxy", "http://user:s3cret@proxy")
	w.git(w.dir, "config", "http.extraHeader", "Authorization: t0ken")
	guard, err := w.checkout().Guard(t.Context())
	require.NoError(t, err)
	require.True(t, json.Valid(guard))
	require.NotContains(t, string(guard), "s3cret")
	require.NotContains(t, string(guard), "t0ken")
	w.open() // as a resume does
	ws := w.checkout()
	require.NoError(t, ws.Verify(t.Context(), guard))
	w.git(w.dir, "config", "http.https://proxy.example.proxy", "http://evil")
	require.ErrorContains(t, ws.Verify(t.Context(), guard), "http://evil")

	require.ErrorIs(t, ws.Verify(t.Context(), json.RawMessage(`{"format":9}`)), ports.Unexpected)
	require.ErrorIs(t, ws.Verify(t.Context(), json.RawMessage(`x`)), ports.Unexpected)
}

func TestGuardAndVerifyStartNoProcessWhenNothingChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	log := logGit(t, w)
	w.open()
	ws := w.checkout()
	_, err := ws.Guard(t.Context()) // reads the configuration once
	require.NoError(t, err)
	before := len(log())
	guard, err := ws.Guard(t.Context())
	require.NoError(t, err)
	require.NoError(t, ws.Verify(t.Context(), guard))
	at, err := w.repo.Branch(t.Context(), "agl/"+label)
	require.NoError(t, err)
	require.Equal(t, w.base, at)
	at, err = w.repo.Branch(t.Context(), "agl/other")
	require.NoError(t, err)
	require.Empty(t, at)
	require.Empty(t, log()[before:])

	changes, err := ws.Inspect(t.Context(), w.base)
	require.NoError(t, err)
	require.True(t, changes.Clean(w.base))
	require.Len(t, log()[before:], 1)
	_, err = ws.PutBack(t.Context(), w.base, "test")
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		require.Len(t, log()[before:], 1) // that nothing is to be put back is seen without git
	}
}

// logGit puts a git into w's PATH that writes down each call of it, and
// returns what reads the calls.
func logGit(t *testing.T, w *world) func() []string {
	t.Helper()
	bin, log := filepath.Join(w.root, "bin"), filepath.Join(w.root, "calls")
	git := w.git(w.root, "--exec-path") + "/git"
	gittest.Program(t, filepath.Join(bin, "git"), "#!/bin/sh\necho \"$*\" >>"+log+"\nexec "+git+" \"$@\"\n")
	for i, entry := range w.env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			w.env[i] = "PATH=" + bin + ":" + path
		}
	}
	return func() []string {
		data, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
}
