package agl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/git"
	"example.com/agl/internal/gittest"
)

// overGit puts a world over a real repository, made in a temporary folder.
func (w *world) overGit() {
	w.t.Helper()
	dir := w.t.TempDir()
	w.gitEnv = []string{
		"PATH=" + w.gitPath + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}
	w.gitDir = filepath.Join(dir, "repo")
	gittest.Prepared(w.t, w.gitDir, "world", func() {
		require.NoError(w.t, os.MkdirAll(w.gitDir, 0o755))
		w.git("init", "-q", "-b", "main")
		require.NoError(w.t, os.WriteFile(filepath.Join(w.gitDir, "main.go"), []byte("package main\n"), 0o644))
		w.git("add", "-A")
		w.git("commit", "-qm", "begin")
	})
	w.trees = filepath.Join(dir, "trees")
	repo, err := git.Open(w.t.Context(), git.Options{
		Repo: w.gitDir, Trees: w.trees, SalvageDir: filepath.Join(dir, "salvage"), Env: w.gitEnv,
	})
	require.NoError(w.t, err)
	w.set.Workspaces, w.set.Integrator, w.set.History = repo, repo.Integrator(), repo
}

// watchMoves has a world, before it is over git, note every move of a branch,
// by whatever git: its git runs a reference-transaction hook, in spite of AGL,
// whose own calls run none. It returns the commits that a branch was moved to.
func (w *world) watchMoves() (moves func(branch string) []string) {
	w.t.Helper()
	if runtime.GOOS == "windows" {
		w.t.Skip("it takes a shell")
	}
	git, err := exec.LookPath("git")
	require.NoError(w.t, err)
	dir := w.t.TempDir()
	for name, script := range map[string]string{
		"git": `#!/bin/sh
for arg do
	shift
	case $arg in core.hooksPath=*) arg=core.hooksPath=` + dir + `/hooks ;; esac
	set -- "$@" "$arg"
done
exec ` + git + ` "$@"
`,
		"hooks/reference-transaction": `#!/bin/sh
[ "$1" = committed ] || exit 0
cat >>` + dir + `/moves
`,
	} {
		gittest.Program(w.t, filepath.Join(dir, filepath.FromSlash(name)), script)
	}
	w.gitPath = dir + string(filepath.ListSeparator)
	return func(branch string) []string {
		text, err := os.ReadFile(filepath.Join(dir, "moves"))
		require.NoError(w.t, err)
		var to []string
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			move := strings.Fields(line) // old, new, ref
			if len(move) == 3 && move[2] == "refs/heads/"+branch && move[0] != move[1] {
				to = append(to, move[1])
			}
		}
		return to
	}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return w.gitIn(w.gitDir, args...)
}

func (w *world) gitIn(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = w.gitEnv
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// gitOutcome is what must be the same however often a run over git was
// interrupted.
func (w *world) gitOutcome() []string {
	lines := []string{"tree " + w.git("ls-tree", "-r", "agl/job")}
	for _, r := range w.journal() {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s", r.Namespace, r.Kind, r.Name, r.Value, w.git("rev-parse", r.Head+"^{tree}")))
	}
	return lines
}

func gitInterrupted(t *testing.T, f *faults) *world {
	w := newWorld(t, twoRounds)
	w.overGit()
	plain := w.set
	w.set = f.wrap(plain)
	err := w.start(fix(1).With(params{Request: "x"}))
	w.set = plain
	w.store.PowerCut()
	if f.failed {
		if _, readErr := w.store.Read(t.Context(), "job", "run.json"); readErr != nil {
			err = w.start(fix(1).With(params{Request: "x"}))
		} else {
			err = w.resume(fix(1))
		}
	}
	require.NoError(t, err)
	return w
}

func TestACrashOverRealGitIsResumed(t *testing.T) {
	t.Parallel()
	probe := &faults{}
	want := gitInterrupted(t, probe).gitOutcome()
	require.Contains(t, want[0], "fix.txt")
	tried := 0
	for i, name := range probe.names {
		for _, after := range []bool{false, true} {
			switch kind, _, _ := strings.Cut(name, " "); kind {
			case "open", "keep", "commit", "move":
			case "put", "write":
				if !after || strings.HasPrefix(name, "write notes/") {
					continue
				}
			default:
				continue // nothing that git sees: the same crash over the repository in memory says enough
			}
			if tried++; tried%stride(3) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%d %s after=%v", i+1, name, after), func(t *testing.T) {
				t.Parallel()
				w := gitInterrupted(t, &faults{at: i + 1, after: after, crash: true})
				if diff := cmp.Diff(want, w.gitOutcome()); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
				require.Empty(t, w.git("status", "--porcelain"), "the operator's checkout")
				require.Equal(t, "main", w.git("symbolic-ref", "--short", "HEAD"))
			})
		}
	}
}

func TestClearLeavesTheRepositoryAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.overGit()
	before := w.git("for-each-ref")
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
	require.NotEqual(t, before, w.git("for-each-ref"))
	cleared, err := w.engine().Clear(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, []string{"agl/job"}, cleared.Branches)
	require.Equal(t, before, w.git("for-each-ref"))
	require.NotContains(t, w.git("worktree", "list"), "job")
}

func TestARebuyOverRealGitGoesOnFromTheRecordBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == "editor" {
			tn.write("f", fmt.Sprint(tn.n))
			return patch{}, nil
		}
		return findings{}, nil
	})
	w.overGit()
	require.NoError(t, w.start(job(fixWith("one"))))
	given := w.journal()[2].Head
	require.NoError(t, w.resume(fixWith("two"), agl.ResumeOptions{Rebuy: true}))
	records := w.journal()
	require.Equal(t, records[0].Head, records[2].Before)
	require.Equal(t, records[0].Head, w.git("rev-parse", records[2].Head+"^"))
	require.NotEqual(t, given, records[2].Head)
	w.git("gc", "-q", "--prune=now")
	w.git("cat-file", "-e", given)
	salvaged, err := w.engine().Salvaged(t.Context(), "job")
	require.NoError(t, err)
	require.Empty(t, salvaged, "what is committed and kept is no salvage")
}
