package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/files"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

type report struct {
	Text string `json:"text"`
}

var role = agl.Reader[report]{Name: "reader", Model: "bench/x", Prompt: "Read it."}

// journal is an engine over real files and a repository in memory.
type journal struct {
	set   ports.Set
	agent time.Duration // what the agent took, its report's check included
}

// newJournal returns one whose agent reports size bytes. A volatile one syncs
// nothing, to make long runs quickly.
func newJournal(b *testing.B, size int, volatile bool) *journal {
	b.Helper()
	clock := mem.NewClock()
	repo := mem.NewRepository(clock, map[string]string{"main.go": "package main\n"})
	var store ports.Store = files.New(b.TempDir(), "bench")
	j := &journal{}
	if volatile {
		store = unsynced{store}
	}
	doc := []byte(`{"text":"` + strings.Repeat("x", size-len(`{"text":""}`)) + `"}`)
	agent := mem.Agent(func(ctx context.Context, task ports.Task, _ func(ports.AgentEvent)) (ports.Outcome, error) {
		defer func(start time.Time) { j.agent += time.Since(start) }(time.Now())
		task.Tools[0].Call(ctx, doc)
		return ports.Outcome{Stop: ports.StopCompleted}, nil
	})
	j.set = ports.Set{
		Store: store, Workspaces: repo, Integrator: repo.Integrator(), History: repo, Verifier: &mem.Verifier{}, Clock: clock,
		Agents: map[string]ports.Agent{ports.AnyProvider: agent},
	}
	return j
}

type unsynced struct{ ports.Store }

func (u unsynced) Write(ctx context.Context, label, name string, doc []byte, _ ports.Durability) error {
	return u.Store.Write(ctx, label, name, doc, ports.Volatile)
}

func (j *journal) engine(b *testing.B) *agl.Engine {
	e, err := agl.New(j.set, nil)
	require.NoError(b, err)
	return e
}

// steps is a workflow of n steps; at runs before each.
func steps(n int, at func(i int)) *agl.Workflow[agl.None] {
	return agl.NewWorkflow(agl.Spec{Name: "steps", Version: 1, Roles: []agl.Role{role}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			for i := range n {
				at(i)
				var r report
				if err := run.Step(ctx, role.Into(&r), agl.In("n", i)); err != nil {
					return err
				}
			}
			at(n)
			return nil
		})
}

// durableWrite is the limit of one record: a temporary file, fsync, rename,
// fsync of the folder.
func durableWrite(b *testing.B, dir, name string, doc []byte) {
	f, err := os.CreateTemp(dir, "tmp-*")
	require.NoError(b, err)
	_, err = f.Write(doc)
	require.NoError(b, err)
	require.NoError(b, f.Sync())
	require.NoError(b, f.Close())
	require.NoError(b, os.Rename(f.Name(), filepath.Join(dir, name)))
	d, err := os.Open(dir)
	require.NoError(b, err)
	require.NoError(b, d.Sync())
	require.NoError(b, d.Close())
}

// BenchmarkRecordAStep compares a step without git and without what its agent
// took to one durable write of the same bytes, one after the other. The limit
// is 1.5 for 1 KB; of 256 KB, checking and decoding the value costs as much as
// writing it.
func BenchmarkRecordAStep(b *testing.B) {
	for _, size := range []int{1 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			j := newJournal(b, size, false)
			dir := b.TempDir()
			var steptime, limit time.Duration
			var last time.Time
			doc := make([]byte, size+1200) // a record is its value and about as much around it
			wf := steps(b.N+1, func(i int) {
				if i == 0 {
					b.ResetTimer()
				} else {
					steptime += time.Since(last)
					start := time.Now()
					durableWrite(b, dir, fmt.Sprintf("%08d.json", i), doc)
					limit += time.Since(start)
				}
				last = time.Now()
			})
			require.NoError(b, j.engine(b).Start(b.Context(), "job", wf.With(agl.None{}), nil))
			steptime -= j.agent
			b.ReportMetric(float64(steptime)/float64(limit), "ratio")
			b.ReportMetric(float64(steptime.Microseconds())/float64(b.N+1), "µs/step")
			b.ReportMetric(float64(limit.Microseconds())/float64(b.N+1), "µs/write")
		})
	}
}

// BenchmarkReplay measures a resume of a finished run, reading and comparing
// every record. The limits: 100 µs a step of 1 KB, 1 ms of 256 KB; at 10,000
// steps at most 1.3 times as long a step as at 100, and 64 MiB in all.
func BenchmarkReplay(b *testing.B) {
	perStep := map[int]float64{}
	for _, c := range []struct{ n, size int }{{100, 1 << 10}, {10_000, 1 << 10}, {100, 256 << 10}} {
		b.Run(fmt.Sprintf("%dx%dKB", c.n, c.size>>10), func(b *testing.B) {
			j := newJournal(b, c.size, true)
			require.NoError(b, j.engine(b).Start(b.Context(), "job", steps(c.n, func(int) {}).With(agl.None{}), nil))
			require.NoError(b, j.engine(b).Start(b.Context(), "empty", steps(0, func(int) {}).With(agl.None{}), nil))
			heap := func(label string, n int) (used uint64) {
				wf := steps(n, func(i int) {
					if i == n {
						var m runtime.MemStats
						runtime.GC()
						runtime.ReadMemStats(&m)
						used = m.HeapAlloc
					}
				})
				require.NoError(b, j.engine(b).Resume(b.Context(), label, wf, nil))
				return used
			}
			empty, full := heap("empty", 0), heap("job", c.n)
			wf := steps(c.n, func(int) {})
			b.ResetTimer()
			for range b.N {
				require.NoError(b, j.engine(b).Resume(b.Context(), "job", wf, nil))
			}
			each := float64(b.Elapsed().Microseconds()) / float64(b.N) / float64(c.n)
			b.ReportMetric(each, "µs/step")
			b.ReportMetric(float64(int64(full)-int64(empty))/(1<<20), "MiB")
			if c.size == 1<<10 {
				perStep[c.n] = each
			}
			if c.n == 10_000 {
				b.ReportMetric(each/perStep[100], "growth")
			}
		})
	}
}
