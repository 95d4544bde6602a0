package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/files"
	"example.com/agl/adapters/shell"
	"example.com/agl/internal/mem"
	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// A family is a run with children, over a repository and everything else on
// disk, whose gate is true and whose agents cost nothing.
type family struct {
	b        *testing.B
	g        bare
	engine   *agl.Engine
	children int
	begun    sync.WaitGroup // agents that have not begun
	opened   time.Time      // when the last had
	built    time.Time      // when the last child was built
	each     []time.Duration
	landed   time.Time
	inTurn   bool // the children land one after the other
}

var builder = agl.Editor[agl.None]{Name: "builder", Model: "bench/x", Prompt: "Build it."}

func newFamily(b *testing.B, g bare, children int) *family {
	b.Helper()
	repo, _ := g.adapter()
	f := &family{b: b, g: g, children: children}
	f.begun.Add(children)
	agent := mem.Agent(func(_ context.Context, task ports.Task, _ func(ports.AgentEvent)) (ports.Outcome, error) {
		f.begun.Done()
		f.begun.Wait() // so that nothing but opening goes on until all are open
		return ports.Outcome{Stop: ports.StopCompleted}, build(task.Dir)
	})
	e, err := agl.New(ports.Set{
		Store: files.New(b.TempDir(), "bench"), Workspaces: repo, Integrator: repo.Integrator(), History: repo,
		Verifier: shell.New(shell.Options{Command: "true"}), Clock: clock{}, Reaper: proc.Reaper{},
		Agents: map[string]ports.Agent{ports.AnyProvider: agent},
	}, nil)
	require.NoError(b, err)
	f.engine = e
	return f
}

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

// build makes six files of a child's own, and changes one that is there.
func build(dir string) error {
	child := filepath.Base(dir)
	for k := range 6 {
		name := filepath.Join(dir, "d0", fmt.Sprintf("%s-%d.txt", child, k))
		if err := os.WriteFile(name, fmt.Appendf(nil, "%s, %d\n", child, k), 0o644); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, "d0", "f"+strings.TrimPrefix(child, "c")+".txt"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("more\n")
	return errors.Join(err, f.Close())
}

// run opens, builds and lands all children.
func (f *family) run(label string) {
	f.b.Helper()
	wf := agl.NewWorkflow(agl.Spec{Name: "family", Version: 1, Roles: []agl.Role{builder}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			children := make([]*agl.Run, f.children)
			err := f.atOnce(func(i int) (err error) {
				name := fmt.Sprintf("c%d", i)
				if children[i], err = run.Worktree(ctx, name); err != nil {
					return err
				}
				return children[i].Step(ctx, builder.Commit("build "+name))
			})
			if err != nil {
				return err
			}
			if _, err := run.Verify(ctx); err != nil { // opens its own checkout, as git's is there before it merges
				return err
			}
			settle(f.b)
			f.built = time.Now()
			land := func(i int) error { return children[i].Integrate(ctx, agl.Abandon) }
			if !f.inTurn {
				err = f.atOnce(land)
				f.landed = time.Now()
				return err
			}
			for i := range children {
				start := time.Now()
				if err := land(i); err != nil {
					return err
				}
				f.each = append(f.each, time.Since(start))
			}
			return nil
		})
	go func() {
		f.begun.Wait()
		f.opened = time.Now()
	}()
	require.NoError(f.b, f.engine.Start(f.b.Context(), label, wf.With(agl.None{}), nil))
}

func (f *family) atOnce(do func(i int) error) error {
	errs := make([]error, f.children)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = do(i) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// BenchmarkOpenWorktreesAtOnce compares opening 32 worktrees in parallel, until
// an agent runs in the last of them, to the same `git worktree add`s one after
// the other. The limit is 0.8, where two cores make files faster than one does.
// Whether they do is told by the other ratio, to git by hand in parallel: only
// filling can be, as two worktrees that are added at once break each other.
func BenchmarkOpenWorktreesAtOnce(b *testing.B) {
	const children = 32
	g := newBare(b, 1000)
	var ours, limit, parallel time.Duration
	for round := range b.N {
		f := newFamily(b, g, children)
		label := fmt.Sprintf("job%d", round)
		places := b.TempDir()
		add := func(kind string, i int, more ...string) bare {
			name := fmt.Sprintf("%s%d-%d", kind, round, i)
			at := filepath.Join(places, name)
			g.git(append([]string{"worktree", "add", "-q", "-b", name, at, "main"}, more...)...)
			return bare{b, at}
		}
		settle(b)
		start := time.Now()
		for i := range children {
			add("bare", i)
		}
		limit += time.Since(start)
		settle(b)
		start = time.Now()
		f.run(label)
		ours += f.opened.Sub(start)
		settle(b)
		start = time.Now()
		var filling sync.WaitGroup
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		for i := range children {
			at := add("parallel", i, "--no-checkout")
			slots <- struct{}{}
			filling.Go(func() {
				defer func() { <-slots }() // also where git fails, which ends the goroutine
				at.git("reset", "-q", "--hard")
			})
		}
		filling.Wait()
		parallel += time.Since(start)
	}
	reportRatio(b, ours, limit, b.N*children, "worktree")
	b.ReportMetric(float64(ours)/float64(parallel), "ratio-parallel")
}

// BenchmarkLandAFamily compares landing 32 clean children at once, with their
// gate and their records, to bare `git merge --no-ff` of the same: as git merges
// by itself, which syncs nothing, and durably. The limit is 1.5 of the former. The
// checkout in which they are merged is there before, on either side.
func BenchmarkLandAFamily(b *testing.B) {
	const children = 32
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("%dfiles", n), func(b *testing.B) {
			g := newBare(b, n)
			var ours, limit, synced time.Duration
			for round := range b.N {
				f := newFamily(b, g, children)
				label := fmt.Sprintf("job%d", round)
				f.run(label)
				ours += f.landed.Sub(f.built)

				var at [2]bare
				for i := range at {
					at[i] = bare{b, filepath.Join(b.TempDir(), "bare")}
					g.git("worktree", "add", "-q", "--detach", at[i].dir, "main")
				}
				settle(b)
				for i := range children {
					theirs := fmt.Sprintf("agl/_work/%s/c%d", label, i)
					start := time.Now()
					at[0].git("merge", "-q", "--no-ff", "-m", "m", theirs)
					limit += time.Since(start)
					start = time.Now()
					at[1].durably("merge", "-q", "--no-ff", "-m", "m", theirs)
					synced += time.Since(start)
				}
				require.Equal(b, at[0].git("rev-parse", "HEAD^{tree}"), g.git("rev-parse", "agl/"+label+"^{tree}"))
			}
			reportRatio(b, ours, limit, b.N*children, "landing")
			b.ReportMetric(float64(ours)/float64(synced), "ratio-durable")
		})
	}
}

// BenchmarkLandOneMore compares the last 8 of 64 landings to the first 8, by
// their medians. The limit is 1.1: what a landing costs does not grow with how many there were.
func BenchmarkLandOneMore(b *testing.B) {
	const children, some = 64, 8
	g := newBare(b, 1000)
	var first, last []time.Duration
	for round := range b.N {
		f := newFamily(b, g, children)
		f.inTurn = true
		f.run(fmt.Sprintf("job%d", round))
		first = append(first, f.each[:some]...)
		last = append(last, f.each[children-some:]...)
	}
	slices.Sort(first)
	slices.Sort(last)
	early, late := first[len(first)/2], last[len(last)/2]
	b.ReportMetric(float64(late)/float64(early), "growth")
	b.ReportMetric(float64(late.Microseconds())/1000, "ms/landing")
}

func reportRatio(b *testing.B, ours, limit time.Duration, n int, what string) {
	b.ReportMetric(float64(ours)/float64(limit), "ratio")
	b.ReportMetric(float64(ours.Microseconds())/1000/float64(n), "ms/"+what)
	b.ReportMetric(float64(limit.Microseconds())/1000/float64(n), "ms/bare")
}
