package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"

	"example.com/agl/ports"
)

// Options are an engine's. The zero value is fine.
type Options struct {
	Logger *slog.Logger      // nil: nothing is logged
	Events func(ports.Event) // nil: nobody listens
	Agents int               // how many agents run at once, over all runs; 0: no cap
}

// An Engine runs workflows over one Set. It is safe for use by several
// goroutines.
type Engine struct {
	set    ports.Set
	log    *slog.Logger
	slots  chan struct{} // one element an agent that runs; nil: no cap
	events *publisher

	mu     sync.Mutex
	live   map[string]*execution // by label
	closed bool
}

// New returns an engine over set. Every port but Reaper must be there.
func New(set ports.Set, opts Options) (*Engine, error) {
	var missing []string
	for _, port := range []struct {
		name string
		is   any
	}{
		{"Store", set.Store},
		{"Workspaces", set.Workspaces},
		{"Integrator", set.Integrator},
		{"History", set.History},
		{"Verifier", set.Verifier},
		{"Clock", set.Clock},
	} {
		if port.is == nil || reflect.ValueOf(port.is).Kind() == reflect.Pointer && reflect.ValueOf(port.is).IsNil() {
			missing = append(missing, port.name)
		}
	}
	if len(missing) > 0 {
		return nil, ports.Invalid.Errorf("agl.New", "the set has no %s", strings.Join(missing, ", "))
	}
	if opts.Agents < 0 {
		return nil, ports.Invalid.Errorf("agl.New", "Agents is %d; it is how many run at once, or 0 for no cap", opts.Agents)
	}
	e := &Engine{set: set, log: opts.Logger, live: map[string]*execution{}}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if opts.Agents > 0 {
		e.slots = make(chan struct{}, opts.Agents)
	}
	e.events = newPublisher(opts.Events)
	return e, nil
}

// Close waits until the events published so far are delivered, and closes the
// set. Runs must have ended. Further calls do nothing.
func (e *Engine) Close() error {
	e.mu.Lock()
	closed := e.closed
	e.closed = true
	e.mu.Unlock()
	e.events.close()
	if e.set.Close != nil && !closed {
		return e.set.Close()
	}
	return nil
}

// acquire waits for one of the engine's agent slots.
func (e *Engine) acquire(ctx context.Context) (release func(), err error) {
	if e.slots == nil {
		return func() {}, nil
	}
	select {
	case e.slots <- struct{}{}:
		return func() { <-e.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// agent returns the agent of a model.
func (e *Engine) agent(model ports.Model) (ports.Agent, error) {
	if agent := e.set.Agents[model.Provider()]; agent != nil {
		return agent, nil
	}
	if agent := e.set.Agents[ports.AnyProvider]; agent != nil {
		return agent, nil
	}
	return nil, ports.Unavailable.Errorf("", "there is no agent for provider %q; add one (Agents of cli.Program, local.Options or ports.Set), or let a script stand in for it (--script FILE)", model.Provider())
}

// preflight says everything that would keep the job from working, in one
// error of one line.
func (e *Engine) preflight(ctx context.Context, job Job) error {
	var wrong problems
	if err := e.set.Workspaces.Check(ctx); err != nil {
		wrong.add("", err)
	}
	ready := map[ports.Model]bool{}
	for _, role := range job.Roles {
		agent, err := e.agent(role.Model)
		if err == nil {
			err = covers(ctx, agent, role)
		}
		if err != nil {
			wrong.add("role "+role.Name, err)
			continue
		}
		if ready[role.Model] {
			continue
		}
		ready[role.Model] = true
		if err := agent.Ready(ctx, role.Model); err != nil {
			wrong.add("model "+string(role.Model), err)
		}
	}
	return wrong.err("preflight")
}

// check runs the preflight of a resumed run, once, before its first miss.
func (x *execution) check(ctx context.Context) error {
	x.once.Lock()
	defer x.once.Unlock()
	if x.checked {
		return nil
	}
	if err := x.ungatedSince(); err != nil {
		return err
	}
	if err := x.engine.preflight(ctx, x.job); err != nil {
		return err
	}
	if was, is := x.book.Run.Build, x.gate(); was != "" && is != was {
		x.note("", "the run was started with the build command %q, it goes on with %q", was, is)
	}
	x.checked = true
	return nil
}

// problems are errors, each with those it is about.
type problems []problem

type problem struct {
	who []string
	err error
}

func (p *problems) add(who string, err error) {
	for i, other := range *p {
		if other.err.Error() == err.Error() {
			(*p)[i].who = append((*p)[i].who, who)
			return
		}
	}
	*p = append(*p, problem{[]string{who}, err})
}

// err makes one error of them. It has their Kind, or is Unavailable if they do
// not agree on one: all of it must be mended before the same call works.
func (p problems) err(op string) error {
	if len(p) == 0 {
		return nil
	}
	var lines []string
	var errs []error
	for _, problem := range p {
		err := problem.err
		if who := strings.Join(problem.who, ", "); who != "" {
			err = fmt.Errorf("%s: %w", who, err)
		}
		lines, errs = append(lines, err.Error()), append(errs, err)
	}
	kind := ports.KindOf(errors.Join(errs...))
	if kind == "" {
		kind = ports.Unavailable
	}
	return &ports.Error{Kind: kind, Op: op, Err: &several{strings.Join(lines, "; "), errs}}
}

// several are errors on one line.
type several struct {
	line string
	errs []error
}

func (s *several) Error() string   { return s.line }
func (s *several) Unwrap() []error { return s.errs }

// covers checks that the agent can do what the role needs.
func covers(ctx context.Context, agent ports.Agent, role *Role) error {
	able, err := agent.Capabilities(ctx, role.Model)
	if err != nil {
		return err
	}
	var lacks []string
	if !able.Tools && (role.Schema != nil || len(role.Tools) > 0) {
		lacks = append(lacks, "call tools")
	}
	for _, r := range role.restrictions() {
		if !slices.Contains(able.Enforce, r) {
			lack := "be held to " + string(r)
			if r == ports.NoWrite {
				lack += ", as a Reader is"
			}
			lacks = append(lacks, lack)
		}
	}
	if len(lacks) > 0 {
		return ports.Denied.Errorf("", "the agent for %s cannot %s", role.Model, strings.Join(lacks, ", nor "))
	}
	return nil
}
