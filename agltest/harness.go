package agltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/agl"
	"example.com/agl/internal/intercept"
	"example.com/agl/internal/mem"
	"example.com/agl/internal/schedule"
	"example.com/agl/ports"
)

// Options say what a harness is made of. The zero value is New's.
type Options struct {
	Label string            // of the run; empty: "test"
	Files map[string]string // what the repository's first commit holds, by path
	// Git uses a real repository in a temporary folder. The harness in memory
	// is a hundred times quicker and knows files and folders; what it cannot
	// tell apart from git (renames, modes, attributes, ignored files) fails the
	// test, and asks for this.
	Git bool
	// Gate is the project's build command. It is never run: verdicts come from
	// Harness.Gate and VerifierFails, or pass. Empty: "gate".
	Gate string
	// Unattended says that nobody is there to be asked: a question comes to its
	// Unattended value, or the run stops with an UnansweredError and waits for
	// AnswerElsewhere.
	Unattended bool
}

// A Harness runs one workflow with scripted agents, over ports that are in
// memory or in a temporary folder. It is safe for use by several goroutines,
// and shares nothing with another harness.
type Harness struct {
	Label string // of the run
	// Context is what Start and Resume run under; nil: the test's.
	Context context.Context

	t     testing.TB
	store *mem.Store
	clock *mem.Clock
	repo  repository

	yielder    func() func(point string) // of a new process
	unattended bool

	mu        sync.Mutex
	scripts   map[string]*script // by role
	started   map[place]*started
	events    []agl.Event
	agents    []string // that were started
	lives     []*life  // the processes of the run, in order
	crashAt   string   // where the next one dies
	silenced  bool     // what is left of scripts is nobody's fault
	over      bool     // the test has ended
	ends      []end    // what Start and Resume came to
	which     int      // among the test's harnesses that have started a run, from 1
	uncounted bool     // it is CrashEverywhere's
	gate      gate
	conflicts []*conflict // that landings are to meet
	answers   []*answer   // that questions are to get
	asked     map[asking]int
	person    func(ctx context.Context, q ports.Question) (string, error) // who answers the others; nil: nobody
	shown     *ports.Watched                                              // what the last process shows; nil: there was none

	broken func(ports.Set) ports.Set // what this package's tests put before the ports
}

// New returns a harness in memory. What is wrong with the scripts is reported
// to t, at the latest when t ends.
func New(t testing.TB) *Harness {
	t.Helper()
	return Options{}.New(t)
}

// New returns a harness with these options.
func (o Options) New(t testing.TB) *Harness {
	t.Helper()
	if o.Label == "" {
		o.Label = "test"
	}
	if o.Gate == "" {
		o.Gate = "gate"
	}
	h := &Harness{
		Label: o.Label, t: t, store: &mem.Store{}, clock: mem.NewClock(),
		scripts: map[string]*script{}, started: map[place]*started{},
		yielder: func() func(string) { return yielder(1) }, unattended: o.Unattended,
	}
	h.gate = gate{command: o.Gate, found: map[verification]*finding{}}
	if o.Git {
		h.repo = newGitRepository(t, o.Files)
	} else {
		h.repo = newMemRepository(t, h.clock, o.Files)
	}
	t.Cleanup(h.finish)
	return h
}

// Start runs the job from its beginning, as a process of its own would, and
// returns what Engine.Start does.
func (h *Harness) Start(job agl.Job, opts ...agl.StartOptions) error {
	h.t.Helper()
	_, err := h.live(process{goesOn: true}, func(ctx context.Context, e *agl.Engine) error { return e.Start(ctx, h.Label, job, first(h, opts)) })
	return err
}

// Resume goes on with the run in a fresh engine, as another process would, and
// returns what Engine.Resume does.
func (h *Harness) Resume(def agl.Definition, opts ...agl.ResumeOptions) error {
	h.t.Helper()
	_, err := h.live(process{goesOn: true}, func(ctx context.Context, e *agl.Engine) error { return e.Resume(ctx, h.Label, def, first(h, opts)) })
	return err
}

// first returns the options, if there are any.
func first[T any](h *Harness, opts []T) *T {
	h.t.Helper()
	switch len(opts) {
	case 0:
		return nil
	case 1:
		return &opts[0]
	}
	h.t.Fatalf("agltest: there are %d %T, and may be one", len(opts), opts[0])
	return nil
}

// Plan says what a resume would do.
func (h *Harness) Plan(def agl.Definition) (agl.Plan, error) {
	h.t.Helper()
	var plan agl.Plan
	_, err := h.live(process{}, func(ctx context.Context, e *agl.Engine) (err error) {
		plan, err = e.Plan(ctx, h.Label, def)
		return err
	})
	return plan, err
}

// Engine returns a fresh engine over the harness's ports, for what the harness
// has no method of its own for. It is closed when the test ends.
func (h *Harness) Engine() *agl.Engine {
	h.t.Helper()
	e := h.engine(&life{h: h})
	h.t.Cleanup(func() { _ = e.Close() })
	return e
}

// A process says how one process of the run is.
type process struct {
	yield   func(point string) // called at every durable point; nil: the harness's own
	goesOn  bool               // it is Start's or Resume's: CrashAt and Context are about it
	replays bool               // it starts no agent
}

// live runs do with an engine of its own, as a process would.
func (h *Harness) live(p process, do func(ctx context.Context, e *agl.Engine) error) (l *life, err error) {
	h.t.Helper()
	if p.goesOn {
		if err, elsewhere := h.began(); elsewhere {
			return nil, err
		}
		defer func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.ends = append(h.ends, endOf(err))
		}()
	}
	ctx := h.Context
	if ctx == nil || !p.goesOn {
		ctx = h.t.Context()
	}
	l = &life{h: h, replays: p.replays, ctx: ctx}
	ctx, l.end = context.WithCancel(ctx)
	defer l.end()
	h.mu.Lock()
	if p.goesOn {
		l.crashAt, h.crashAt = h.crashAt, ""
	}
	h.lives = append(h.lives, l)
	h.mu.Unlock()
	if p.yield == nil {
		p.yield = h.yielder()
	}
	l.yield = p.yield
	e := h.engine(l)
	err = do(schedule.With(ctx, p.yield), e)
	if closing := e.Close(); err == nil {
		err = closing
	}
	switch {
	case l.isDead():
		if err == nil || errors.Is(err, ErrCrashed) || errors.Is(err, context.Canceled) {
			return l, ErrCrashed
		}
		return l, fmt.Errorf("%w; the workflow returned: %w", ErrCrashed, err)
	case l.crashAt != "":
		h.t.Errorf("agltest: the run never came to the crash point %q; %s", l.crashAt, l.near(l.crashAt))
	case errors.Is(err, mem.ErrUnsupported):
		h.t.Errorf("agltest: %v", err)
	}
	return l, err
}

func (h *Harness) engine(l *life) *agl.Engine {
	h.t.Helper()
	workspaces, in, history := h.repo.open(h.t)
	set := ports.Set{
		Store: h.store, Workspaces: workspaces, Integrator: integrator{in, h, l}, History: history,
		Verifier: h.verifier(l), Terminal: terminal{h, l}, Clock: h.clock,
		// For every model: no vendor's program can be reached from here.
		Agents: map[string]ports.Agent{ports.AnyProvider: mem.Agent(func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
			return h.play(ctx, l, task, emit)
		})},
	}
	if h.broken != nil {
		set = h.broken(set)
	}
	set = intercept.Wrap(set, l.around)
	e, err := agl.New(set, &agl.Options{Events: l.observe, Logger: slog.New(testLog{h.t})})
	if err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	return e
}

// failf fails the test, unless it has ended.
func (h *Harness) failf(format string, args ...any) {
	h.t.Helper()
	h.mu.Lock()
	over := h.over
	h.mu.Unlock()
	if !over {
		h.t.Errorf("agltest: "+format, args...)
	}
}

// finish reports replies and answers that nobody asked for.
func (h *Harness) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	if h.silenced || h.t.Failed() || h.t.Skipped() {
		return // there is a better reason
	}
	if h.crashAt != "" {
		h.t.Errorf("agltest: no run was started that could crash at %q", h.crashAt)
	}
	for _, role := range slices.Sorted(maps.Keys(h.scripts)) {
		if s := h.scripts[role]; s.next < s.replies {
			h.t.Errorf("agltest: reply %d of %d of role %q was never asked for", s.next+1, s.replies, role)
		}
	}
	if len(h.gate.red) > 0 {
		h.t.Errorf("agltest: %d failures of the build gate were never asked for", len(h.gate.red))
	}
	for _, a := range h.answers {
		if a.life == nil {
			h.t.Errorf("agltest: no question has used Answer(%q, %q)", a.match, a.value)
		}
	}
	for _, c := range h.conflicts {
		if c.life == nil {
			h.t.Errorf("agltest: no landing of worktree %q has met the conflict on %s", c.child, strings.Join(c.paths, ", "))
		}
	}
}
