package agl

import (
	"context"
	"log/slog"

	"example.com/agl/internal/engine"
	"example.com/agl/ports"
)

// An Engine runs workflows over a set of ports: a store, a repository, agents.
// It is safe for use by several goroutines.
type Engine struct{ engine *engine.Engine }

// Options are an engine's.
type Options struct {
	Logger *slog.Logger // nil: nothing is logged
	// Events is told what happens, from one goroutine, in order. It cannot
	// stall a run: while more than 4,096 events wait for it, activity and text
	// are dropped, and the gap shows in Event.Seq.
	Events func(Event)
	Agents int // how many agents run at once, over all runs; 0: no cap
}

// New returns an engine over set; adapters/local makes one of this machine's.
// opts may be nil.
func New(set ports.Set, opts *Options) (*Engine, error) {
	if opts == nil {
		opts = &Options{}
	}
	e, err := engine.New(set, engine.Options{Logger: opts.Logger, Events: opts.Events, Agents: opts.Agents})
	if err != nil {
		return nil, err
	}
	return &Engine{e}, nil
}

// StartOptions are Start's.
type StartOptions struct {
	From string // the revision the run begins at; empty: the branch the repository is on
	// Resume goes on with the run that holds the label, if it is of this very
	// job; a run of another workflow or with other parameters is an
	// *InUseError.
	Resume bool
	Tokens int64 // the budget: when the run has used as many, the next purchase is Denied; 0: none
}

// ResumeOptions are Resume's.
type ResumeOptions struct {
	// Rebuy goes on where the workflow diverged, giving up what is not reached.
	Rebuy bool
	// Retry gives up every recorded failure, and what came after it, first.
	Retry  bool
	Tokens int64 // a budget for the whole run, in place of the one it was started with; 0: that one
}

// Start runs job under a new label, on the branch agl/<label>, and returns
// when it has ended. A label that has a run or a branch is an *InUseError.
// opts may be nil.
func (e *Engine) Start(ctx context.Context, label string, job Job, opts *StartOptions) error {
	switch {
	case job.err != nil:
		return job.err
	case job.job.Func == nil:
		return ports.Invalid.Errorf("start "+label, "the job is the zero Job; make one with Workflow.With")
	case opts == nil:
		opts = &StartOptions{}
	}
	return e.engine.Start(ctx, label, job.job, engine.StartOptions(*opts))
}

// Resume goes on with a run by calling def's function again, and returns when
// it has ended: what is recorded is returned, what is not is done. If the
// function no longer asks for what is recorded, nothing is started and the
// error is a *DivergedError. opts may be nil.
func (e *Engine) Resume(ctx context.Context, label string, def Definition, opts *ResumeOptions) error {
	if def == nil {
		return ports.Invalid.Errorf("resume "+label, "the definition is nil")
	}
	if opts == nil {
		opts = &ResumeOptions{}
	}
	return e.engine.Resume(ctx, label, def.definition(), engine.ResumeOptions(*opts))
}

// Plan says what a resume would do, by calling def's function with nothing
// run. It changes nothing.
func (e *Engine) Plan(ctx context.Context, label string, def Definition) (Plan, error) {
	if def == nil {
		return Plan{}, ports.Invalid.Errorf("plan "+label, "the definition is nil")
	}
	return e.engine.Plan(ctx, label, def.definition())
}

// Clear removes a run: its processes, checkouts, branch and records. Salvage
// stays, and is in the result with the tip of every branch.
func (e *Engine) Clear(ctx context.Context, label string) (Cleared, error) {
	return e.engine.Clear(ctx, label)
}

// Runs returns every run, sorted by label. One whose records cannot be read is
// there too, its Error saying why.
func (e *Engine) Runs(ctx context.Context) ([]RunInfo, error) { return e.engine.Runs(ctx) }

// Journal returns a run and its live ordered records.
func (e *Engine) Journal(ctx context.Context, label string) (Journal, error) {
	return e.engine.Journal(ctx, label)
}

// Status returns how a run stands at this instant.
func (e *Engine) Status(ctx context.Context, label string) (Status, error) {
	return e.engine.Status(ctx, label)
}

// Questions returns the questions of a run that wait for an answer, in the order
// in which they were asked, and answers that were given and not taken.
func (e *Engine) Questions(ctx context.Context, label string) ([]OpenQuestion, error) {
	return e.engine.Questions(ctx, label)
}

// Answer answers a question of a run by its id: value is one of its options, or,
// where it takes one, a text. It may be called by another process than the one
// that runs the run, which takes the answer within a second, and else does when
// the run is resumed. A value that is no answer is Invalid, a question that is
// not open NotFound, one that is answered otherwise in that instant Conflicted.
// Until it is taken, another answer replaces it.
func (e *Engine) Answer(ctx context.Context, label, id, value string) error {
	return e.engine.Answer(ctx, label, id, value)
}

// Salvaged lists what was salvaged in a run, cleared or not, in order of
// number.
func (e *Engine) Salvaged(ctx context.Context, label string) ([]Salvage, error) {
	return e.engine.Salvaged(ctx, label)
}

// WriteSalvage writes what salvage n of a run holds into dir, which must be
// absent or empty, byte for byte.
func (e *Engine) WriteSalvage(ctx context.Context, label string, n int, dir string) error {
	return e.engine.WriteSalvage(ctx, label, n, dir)
}

// DropSalvage gives up salvage n of a run for good.
func (e *Engine) DropSalvage(ctx context.Context, label string, n int) error {
	return e.engine.DropSalvage(ctx, label, n)
}

// Close delivers the events that wait and closes the set. Runs must have
// ended.
func (e *Engine) Close() error { return e.engine.Close() }
