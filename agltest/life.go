package agltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"example.com/agl"
	"example.com/agl/internal/intercept"
	"example.com/agl/ports"
)

// ErrCrashed is in what Start and Resume return where the process was made to
// die: by Turn.Crash, CrashAt or CrashEverywhere.
var ErrCrashed = errors.New("agltest: the process has crashed here")

// CrashAt makes the next Start or Resume crash at a point, as CrashEverywhere
// and its failures name it: "_base step implementer #1: commit". A run that
// never comes there fails the test, with the points that it passed.
func (h *Harness) CrashAt(point string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.crashAt = point
}

// A life is one process of the run: from when it dies on, every port refuses
// and changes nothing.
type life struct {
	h       *Harness
	crashAt string // where it dies; empty: nowhere
	replays bool   // it starts no agent

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
		l.dead = true
		return ErrCrashed
	}
	l.points = append(l.points, p)
	return nil
}

// hasEnded follows the operation of an agent or a gate that has run.
const hasEnded = " has ended"

// around is what every call of a port goes through.
func (l *life) around(_ context.Context, call intercept.Call, do func() error) error {
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
	l.dead = true
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// interrupted reports whether what this process did last, before now, was cut
// short by its death.
func (l *life) interrupted(now *life) bool { return l != nil && l != now && l.isDead() }

func (l *life) passed() []point {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]point(nil), l.points...)
}

func (l *life) list() string {
	var b strings.Builder
	for _, p := range l.passed() {
		fmt.Fprintf(&b, "  %s\n", p)
	}
	return b.String()
}

func (l *life) observe(e agl.Event) {
	if l.isDead() {
		return
	}
	if m, ok := e.What.(agl.Missed); ok {
		l.missed = append(l.missed, fmt.Sprintf("%s: %s", e.Namespace, &m.Miss))
	}
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	l.h.events = append(l.h.events, e)
}

// yielder lets other goroutines run first, for as long as a generator with
// this seed says.
func yielder(seed uint64) func() {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, seed))
	return func() {
		mu.Lock()
		n := rng.IntN(20)
		mu.Unlock()
		for range n {
			runtime.Gosched()
		}
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
