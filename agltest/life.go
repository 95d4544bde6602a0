package agltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/agl"
	"example.com/agl/internal/intercept"
	"example.com/agl/ports"
)

// ErrCrashed is in what Start and Resume return where the process was made to
// die: by Turn.Crash, CrashAt or CrashEverywhere.
var ErrCrashed = errors.New("agltest: the process has crashed here")

// CrashAt makes the next Start or Resume crash at a point, as CrashEverywhere
// and its failures name it: "_base step implementer #1: commit". A run that
// never comes there fails the test, with the points that are nearest to it, or
// all that it passed where none is: CrashAt("?") lists them.
func (h *Harness) CrashAt(point string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.crashAt = point
}

// A life is one process of the run: from when it dies on, every port refuses
// and changes nothing.
type life struct {
	h       *Harness
	yield   func(point string)
	crashAt string          // where it dies; empty: nowhere
	replays bool            // it starts no agent
	ctx     context.Context // that it runs under; nil: none of its own
	// end ends what is done under it, so that nothing waits for the rest of a
	// dead process.
	end   context.CancelFunc
	shows *ports.Watched // what it shows; nil: nothing. It is guarded by the harness

	mu     sync.Mutex
	dead   bool
	points []point
	seen   map[point]int
	missed []string // verbs that were not recorded, in words
}

// A point is a place where a process can die: before a call of a port that
// changes something, or after an agent or a gate has run.
type point struct {
	verb ports.Verb
	op   string
	nth  int // of the same verb and op, from 1
}

func (p point) String() string {
	where := p.verb.String()
	if p.verb == (ports.Verb{}) {
		where = "the run"
	}
	if p.nth > 1 {
		return fmt.Sprintf("%s: %s, time %d", where, p.op, p.nth)
	}
	return where + ": " + p.op
}

// pass comes to a point, and says whether the process is dead by then.
func (l *life) pass(verb ports.Verb, op string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return ErrCrashed
	}
	p := point{verb: verb, op: op}
	if l.seen == nil {
		l.seen = map[point]int{}
	}
	l.seen[p]++
	p.nth = l.seen[p]
	if l.crashAt != "" && p.String() == l.crashAt {
		l.kill()
		return ErrCrashed
	}
	l.points = append(l.points, p)
	return nil
}

// hasEnded follows the operation of an agent or a gate that has run.
const hasEnded = " has ended"

// around is what every call of a port goes through.
func (l *life) around(_ context.Context, call intercept.Call, do func() error) error {
	if l.yield != nil && call.Long() { // these alone are called with no mutex held
		l.yield(point{verb: call.Verb, op: call.Op}.String())
	}
	if l.isDead() {
		return ErrCrashed
	}
	if call.Changes {
		if err := l.pass(call.Verb, call.Steady()); err != nil {
			return err
		}
	}
	err := do()
	if call.Long() {
		if err := l.pass(call.Verb, call.Op+hasEnded); err != nil {
			return err
		}
	}
	if l.isDead() {
		return ErrCrashed // nobody learns of it any more
	}
	return err
}

func (l *life) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kill()
}

// kill is die for a caller that holds mu.
func (l *life) kill() {
	l.dead = true
	if l.end != nil {
		l.end()
	}
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// interrupted reports whether what this process did last, before now, was cut
// short by its death.
func (l *life) interrupted(now *life) bool { return l != nil && l != now && l.isDead() }

// cancelled reports whether what this process ran under is over.
func (l *life) cancelled() bool { return l.ctx != nil && l.ctx.Err() != nil }

func (l *life) passed() []point {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]point(nil), l.points...)
}

// nearMost is how many points are named where one was asked for that is none.
const nearMost = 10

// near names the points that were passed and have the most words in common with
// the name of one, in their order; all of them where none has any.
func (l *life) near(name string) string {
	common := func(p point) (n int) {
		words := strings.Fields(strings.ReplaceAll(name, ":", " "))
		for word := range strings.FieldsSeq(strings.ReplaceAll(p.String(), ":", " ")) {
			if i := slices.Index(words, word); i >= 0 {
				words, n = slices.Delete(words, i, i+1), n+1
			}
		}
		return n
	}
	all := l.passed()
	near := slices.Clone(all)
	slices.SortStableFunc(near, func(a, b point) int { return cmp.Compare(common(b), common(a)) })
	near = near[:min(len(near), nearMost)]
	text := fmt.Sprintf("it passed %d, of which these are the nearest:", len(all))
	if len(near) == 0 || common(near[0]) == 0 {
		near, text = all, "it passed these:"
	}
	for _, p := range near {
		text += "\n  " + p.String()
	}
	return text
}

func (l *life) observe(e agl.Event) {
	if l.isDead() {
		return
	}
	if m, ok := e.What.(agl.Missed); ok {
		l.missed = append(l.missed, fmt.Sprintf("%s: %s", e.Namespace, &m.Miss))
	}
	l.h.mu.Lock()
	l.h.events = append(l.h.events, e)
	l.h.mu.Unlock()
	l.draw()
}

// yielder lets other goroutines run first, for as long as a generator with
// this seed says.
func yielder(seed uint64) func(string) {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, seed))
	return func(string) {
		mu.Lock()
		n := rng.IntN(20)
		mu.Unlock()
		for range n {
			runtime.Gosched()
		}
	}
}

// sleeper lets a goroutine sleep at each point, in the time of a synctest
// bubble, for as long as the point's name and how often it was passed say: in
// whatever order goroutines come to run, they go on in the same.
func sleeper() func(string) {
	var mu sync.Mutex
	passed := map[string]int{}
	return func(point string) {
		mu.Lock()
		passed[point]++
		n := passed[point]
		mu.Unlock()
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %d", point, n)
		time.Sleep(time.Duration(h.Sum64() % uint64(time.Second)))
	}
}

// testLog writes what the engine logs, a panic's stack among it, to the test's
// log.
type testLog struct{ t testing.TB }

func (l testLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (l testLog) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "agl: %s", r.Message)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, "\n%s: %v", a.Key, a.Value)
		return true
	})
	l.t.Log(b.String())
	return nil
}

func (l testLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l testLog) WithGroup(string) slog.Handler      { return l }
