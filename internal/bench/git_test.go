package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/git"
	"example.com/agl/ports"
)

// durable are the flags under which git syncs what a record names.
var durable = []string{"-c", "core.fsync=committed,reference", "-c", "core.fsyncMethod=batch"}

// bare is a repository driven by git alone, the limit of what AGL can do.
type bare struct {
	b   *testing.B
	dir string
}

func (g bare) git(args ...string) string {
	cmd := exec.Command("git", append([]string{"-C", g.dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(g.b, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (g bare) durably(args ...string) string { return g.git(append(durable[:4:4], args...)...) }

// newBare returns a repository of one commit of n files.
func newBare(b *testing.B, n int) bare {
	g := bare{b, b.TempDir()}
	g.git("init", "-q", "-b", "main")
	for i := range n {
		file := filepath.Join(g.dir, fmt.Sprintf("d%d", i/100), fmt.Sprintf("f%d.txt", i))
		require.NoError(b, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(b, os.WriteFile(file, bytes.Repeat(fmt.Appendf(nil, "line %d\n", i), 20), 0o644))
	}
	g.git("add", "-A")
	g.git("commit", "-qm", "begin")
	return g
}

// adapter returns AGL's view of the repository, and the worktrees of a run.
func (g bare) adapter() (*git.Repo, ports.Worktrees) {
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	repo, err := git.Open(g.b.Context(), git.Options{Repo: g.dir, Trees: g.b.TempDir(), SalvageDir: g.b.TempDir(), Env: env})
	require.NoError(g.b, err)
	trees, err := repo.Attach(g.b.Context(), "job", nolock{})
	require.NoError(g.b, err)
	return repo, trees
}

type nolock struct{}

func (nolock) Files() []*os.File { return nil }
func (nolock) Release() error    { return nil }

// settle has everything on disk that was written before, or whoever is measured
// next would wait for it as soon as it syncs something.
func settle(b *testing.B) {
	if runtime.GOOS != "windows" {
		require.NoError(b, exec.Command("sync").Run())
	}
}

// change writes six files, as a step would: no two have the same content, or
// one side would find the other's objects.
func change(b *testing.B, dir string, round int) {
	for i := range 6 {
		text := fmt.Appendf(nil, "%s %d, round %d\n", dir, i, round)
		require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("new%d.txt", i)), text, 0o644))
	}
}

// BenchmarkCommitEnding compares the ending of a step that commits six files
// to the bare commands it needs. The limit is 1.6.
func BenchmarkCommitEnding(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%dfiles", n), func(b *testing.B) {
			g := newBare(b, n)
			head := g.git("rev-parse", "HEAD")
			_, trees := g.adapter()
			ws, err := trees.Open(b.Context(), ports.Place{Namespace: ports.Base, Branch: "agl/job"}, head)
			require.NoError(b, err)
			identity, err := trees.Identity(b.Context())
			require.NoError(b, err)
			guard, err := ws.Guard(b.Context())
			require.NoError(b, err)
			bareHead := head
			var ours, limit time.Duration
			b.ResetTimer()
			sides := []func(round int){
				func(round int) {
					change(b, ws.Dir(), round)
					start := time.Now()
					require.NoError(b, ws.Verify(b.Context(), guard))
					c, err := ws.Commit(b.Context(), ports.CommitSpec{Head: head, Message: "m", Identity: identity, Date: start})
					require.NoError(b, err)
					require.NoError(b, trees.Move(b.Context(), "agl/job", head, c.ID))
					ours += time.Since(start)
					head = c.ID
				},
				func(round int) {
					change(b, g.dir, round)
					start := time.Now()
					g.durably("add", "-A")
					tree := g.durably("write-tree")
					next := g.durably("commit-tree", "-p", bareHead, "-m", "m", tree)
					g.durably("update-ref", "refs/heads/main", next, bareHead)
					limit += time.Since(start)
					bareHead = next
				},
			}
			for round := range b.N {
				sides[round%2](round)
				sides[1-round%2](round)
			}
			b.ReportMetric(float64(ours)/float64(limit), "ratio")
			b.ReportMetric(float64(ours.Microseconds())/1000/float64(b.N), "ms/ending")
			b.ReportMetric(float64(limit.Microseconds())/1000/float64(b.N), "ms/bare")
		})
	}
}

// BenchmarkOpenAWorktree compares making a run's checkout to bare
// `git worktree add`. The limit is 1.1.
func BenchmarkOpenAWorktree(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%dfiles", n), func(b *testing.B) {
			g := newBare(b, n)
			head := g.git("rev-parse", "HEAD")
			_, trees := g.adapter()
			places := b.TempDir()
			var ours, limit time.Duration
			b.ResetTimer()
			sides := []func(round int){
				func(round int) {
					start := time.Now()
					_, err := trees.Open(b.Context(), ports.Place{Namespace: fmt.Sprintf("n%d", round), Branch: fmt.Sprintf("agl/x%d", round)}, head)
					require.NoError(b, err)
					ours += time.Since(start)
				},
				func(round int) {
					start := time.Now()
					g.durably("worktree", "add", "-q", "-b", fmt.Sprintf("bare%d", round), filepath.Join(places, fmt.Sprint(round)), head)
					limit += time.Since(start)
				},
			}
			for round := range b.N {
				sides[round%2](round)
				sides[1-round%2](round)
			}
			b.ReportMetric(float64(ours)/float64(limit), "ratio")
			b.ReportMetric(float64(ours.Microseconds())/1000/float64(b.N), "ms/open")
			b.ReportMetric(float64(limit.Microseconds())/1000/float64(b.N), "ms/bare")
		})
	}
}
