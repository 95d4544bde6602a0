package git_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/agl/ports"
)

// fsync are the settings AGL's own calls are durable with; the bare commands
// they are compared with get the same.
func fsync() []string {
	return []string{"-c", "core.fsync=committed,reference", "-c", "core.fsyncMethod=batch"}
}

func manyFiles(n int) map[string]string {
	files := make(map[string]string, n)
	for i := range n {
		files[fmt.Sprintf("d%02d/s%d/f%d.txt", i%100, i/100%10, i)] = strings.Repeat(fmt.Sprintf("line %d\n", i), 20)
	}
	return files
}

// timed appends how long f took.
func timed(times *[]time.Duration, f func()) {
	start := time.Now()
	f()
	*times = append(*times, time.Since(start))
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

func report(b *testing.B, own, bare []time.Duration, limit float64) {
	ratio := float64(median(own)) / float64(median(bare))
	b.ReportMetric(float64(median(own).Microseconds())/1000, "ms-agl")
	b.ReportMetric(float64(median(bare).Microseconds())/1000, "ms-bare")
	b.ReportMetric(ratio, "ratio")
	b.ReportMetric(limit, "limit")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOpen compares opening a run's worktree with bare git worktree add.
// The trees of all rounds stay until the end: files made just after a mass
// delete cost several times as much.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b, manyFiles(n))
			w.git(w.dir, "repack", "-adq")
			var own, bare []time.Duration
			i := 0
			for b.Loop() {
				i++
				plain := func() {
					w.git(w.dir, append(fsync(), "worktree", "add", "-q", "-b", fmt.Sprint("bare", i), filepath.Join(w.root, "bare", fmt.Sprint(i)), w.base)...)
				}
				agl := func() {
					run := fmt.Sprint("r", i)
					trees, err := w.repo.Attach(b.Context(), run, heldLock{})
					if err == nil {
						_, err = trees.Open(b.Context(), ports.Place{Namespace: ports.Base, Branch: "agl/" + run}, w.base)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				if i%2 == 0 {
					timed(&bare, plain)
					timed(&own, agl)
				} else {
					timed(&own, agl)
					timed(&bare, plain)
				}
			}
			report(b, own, bare, 1.1)
		})
	}
}

// BenchmarkCommit compares a commit ending (Verify, Commit, Move) of a step
// that changed six files with the bare commands it needs.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b, manyFiles(n))
			w.git(w.dir, "repack", "-adq")
			ws := w.checkout()
			trees := w.attach()
			plainDir := filepath.Join(w.root, "plain")
			w.git(w.dir, "worktree", "add", "-q", "-b", "plain", plainDir)
			var own, bare []time.Duration
			head, plainHead, i := w.base, w.base, 0
			change := func(dir string) {
				for f := range 6 {
					w.write(filepath.Join(dir, fmt.Sprintf("d%02d/s0/f%d.txt", f, f)), fmt.Sprintf("%s %d %d\n", dir, i, f))
				}
			}
			for b.Loop() {
				i++
				guard, err := ws.Guard(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				agl := func() {
					if err := ws.Verify(b.Context(), guard); err != nil {
						b.Fatal(err)
					}
					made, err := ws.Commit(b.Context(), commitSpec(head, "step"))
					if err == nil {
						err = trees.Move(b.Context(), "agl/"+label, head, made.ID)
					}
					if err != nil {
						b.Fatal(err)
					}
					head = made.ID
				}
				plain := func() {
					w.git(plainDir, append(fsync(), "add", "-A")...)
					tree := w.git(plainDir, append(fsync(), "write-tree")...)
					commit := w.git(plainDir, append(fsync(), "commit-tree", "-p", plainHead, "-m", "step", tree)...)
					w.git(plainDir, append(fsync(), "update-ref", "refs/heads/plain", commit, plainHead)...)
					plainHead = commit
				}
				change(ws.Dir())
				change(plainDir)
				if i%2 == 0 {
					timed(&bare, plain)
					timed(&own, agl)
				} else {
					timed(&own, agl)
					timed(&bare, plain)
				}
			}
			report(b, own, bare, 1.6)
		})
	}
}

// BenchmarkReader measures what a step that changed nothing costs beside its
// agent, against one bare git status.
func BenchmarkReader(b *testing.B) {
	w := newWorld(b, manyFiles(1000))
	ws := w.checkout()
	var own, bare []time.Duration
	for b.Loop() {
		guard, err := ws.Guard(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		timed(&own, func() {
			if err := ws.Verify(b.Context(), guard); err != nil {
				b.Fatal(err)
			}
			changes, err := ws.Inspect(b.Context(), w.base)
			if err == nil {
				_, err = ws.PutBack(b.Context(), w.base, "bench")
			}
			if err != nil || !changes.Clean(w.base) {
				b.Fatal(changes, err)
			}
		})
		timed(&bare, func() {
			w.git(ws.Dir(), "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all")
		})
	}
	report(b, own, bare, 2.5)
}

// BenchmarkGuard measures Guard and Verify with nothing changed; neither
// starts a process.
func BenchmarkGuard(b *testing.B) {
	w := newWorld(b, nil)
	ws := w.checkout()
	if _, err := ws.Guard(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		guard, err := ws.Guard(b.Context())
		if err == nil {
			err = ws.Verify(b.Context(), guard)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
