package engine

import (
	"context"
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

	mu   sync.Mutex
	live map[string]*execution // by label
}

// New returns an engine over set. Every port but Reaper must be there.
func New(set ports.Set, opts Options) (*Engine, error) {
	var missing []string
	for name, port := range map[string]any{
		"Store": set.Store, "Workspaces": set.Workspaces, "History": set.History,
		"Verifier": set.Verifier, "Clock": set.Clock,
	} {
		if port == nil || reflect.ValueOf(port).Kind() == reflect.Pointer && reflect.ValueOf(port).IsNil() {
			missing = append(missing, name)
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
// set. Runs must have ended.
func (e *Engine) Close() error {
	e.events.close()
	if e.set.Close != nil {
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
	return nil, ports.Unavailable.Errorf("", "there is no agent for provider %q", model.Provider())
}

// preflight says everything that would keep the job from working, in one
// error.
func (e *Engine) preflight(ctx context.Context, job Job) error {
	var errs []error
	if err := e.set.Workspaces.Check(ctx); err != nil {
		errs = append(errs, err)
	}
	ready := map[ports.Model]bool{}
	for _, role := range job.Roles {
		agent, err := e.agent(role.Model)
		if err != nil {
			errs = append(errs, fmt.Errorf("role %s: %w", role.Name, err))
			continue
		}
		if err := covers(ctx, agent, role); err != nil {
			errs = append(errs, fmt.Errorf("role %s: %w", role.Name, err))
			continue
		}
		if ready[role.Model] {
			continue
		}
		ready[role.Model] = true
		if err := agent.Ready(ctx, role.Model); err != nil {
			errs = append(errs, fmt.Errorf("model %s: %w", role.Model, err))
		}
	}
	return joinLines("preflight", errs)
}

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
			lacks = append(lacks, "be held to "+string(r))
		}
	}
	if len(lacks) > 0 {
		return ports.Denied.Errorf("", "the agent for %s cannot %s", role.Model, strings.Join(lacks, ", nor "))
	}
	return nil
}

// joinLines makes one error, on one line, of several. It has their Kind, or
// is Unavailable if they do not agree on one: all of it must be mended before
// the same call works.
func joinLines(op string, errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: %w", op, errs[0])
	}
	err := &several{op: op, errs: errs}
	if ports.KindOf(err) == "" {
		return &ports.Error{Kind: ports.Unavailable, Err: err}
	}
	return err
}

type several struct {
	op   string
	errs []error
}

func (s *several) Error() string {
	lines := make([]string, len(s.errs))
	for i, err := range s.errs {
		lines[i] = err.Error()
	}
	return s.op + ": " + strings.Join(lines, "; ")
}

func (s *several) Unwrap() []error { return s.errs }
