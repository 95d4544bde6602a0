package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// children makes n commits on top of head, each of six files of its own and a
// line in one that is there, and returns them. A branch holds each.
func (g bare) children(n int, head string) []string {
	dir := filepath.Join(g.b.TempDir(), "children")
	g.git("worktree", "add", "-q", "--detach", dir, head)
	at := bare{g.b, dir}
	var commits []string
	for i := range n {
		at.git("checkout", "-q", "--detach", head)
		change(g.b, filepath.Join(dir, "d0"), 0)
		for k := range 6 {
			name := filepath.Join(dir, "d0", fmt.Sprintf("new%d.txt", k))
			require.NoError(g.b, os.Rename(name, filepath.Join(dir, "d0", fmt.Sprintf("child%d-%d.txt", i, k))))
		}
		file := filepath.Join(dir, "d0", fmt.Sprintf("f%d.txt", i))
		text, err := os.ReadFile(file)
		require.NoError(g.b, err)
		require.NoError(g.b, os.WriteFile(file, append(text, "more\n"...), 0o644))
		at.git("add", "-A")
		at.git("commit", "-qm", fmt.Sprint("child ", i))
		commits = append(commits, at.git("rev-parse", "HEAD"))
		g.git("branch", fmt.Sprintf("agl/_work/job/c%d", i), commits[i])
	}
	return commits
}

// BenchmarkLandChildren compares landing 32 clean children one after the other
// to bare `git merge --no-ff` of the same, in checkouts of the same
// repository: as git merges by itself, which syncs nothing, and durably. The
// limit is 1.5 of the former, with the engine's record.
func BenchmarkLandChildren(b *testing.B) {
	const children = 32
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("%dfiles", n), func(b *testing.B) {
			g := newBare(b, n)
			base := g.git("rev-parse", "HEAD")
			commits := g.children(children, base)
			repo, trees := g.adapter()
			in := repo.Integrator()
			identity, err := trees.Identity(b.Context())
			require.NoError(b, err)
			var ours, limit, synced time.Duration
			for round := range b.N {
				branch := fmt.Sprintf("agl/job%d", round)
				ws, err := trees.Open(b.Context(), ports.Place{Namespace: fmt.Sprintf("n%d", round), Branch: branch}, base)
				require.NoError(b, err)
				var at [2]bare
				for i := range at {
					at[i] = bare{b, filepath.Join(b.TempDir(), "bare")}
					g.git("worktree", "add", "-q", "--detach", at[i].dir, base)
				}
				head := base
				for i, theirs := range commits {
					start := time.Now()
					at[0].git("merge", "-q", "--no-ff", "-m", "m", theirs)
					limit += time.Since(start)

					start = time.Now()
					at[1].durably("merge", "-q", "--no-ff", "-m", "m", theirs)
					synced += time.Since(start)

					start = time.Now()
					_, err := ws.PutBack(b.Context(), head, "before")
					require.NoError(b, err)
					spec := ports.MergeSpec{Head: head, Theirs: theirs, Branch: fmt.Sprintf("agl/_work/job/c%d", i), Into: branch}
					m, err := in.Merge(b.Context(), ws, spec)
					require.NoError(b, err)
					require.Empty(b, m.Conflicts)
					made, err := in.Commit(b.Context(), spec, m.Tree, ports.CommitSpec{Message: m.Message, Identity: identity, Date: start})
					require.NoError(b, err)
					require.NoError(b, trees.Move(b.Context(), branch, head, made.ID))
					done, err := in.Conclude(b.Context(), ws, made.ID, "after")
					require.NoError(b, err)
					require.Nil(b, done.Salvage)
					ours += time.Since(start)
					head = made.ID
				}
				require.Equal(b, at[0].git("rev-parse", "HEAD^{tree}"), g.git("rev-parse", head+"^{tree}"))
			}
			b.ReportMetric(float64(ours)/float64(limit), "ratio")
			b.ReportMetric(float64(ours)/float64(synced), "ratio-durable")
			b.ReportMetric(float64(ours.Microseconds())/1000/float64(b.N*children), "ms/landing")
			b.ReportMetric(float64(limit.Microseconds())/1000/float64(b.N*children), "ms/bare")
		})
	}
}
