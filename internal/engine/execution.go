package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// An execution is one run in this process, from taking its lock to letting go
// of it.
type execution struct {
	engine   *Engine
	job      Job
	label    string
	lock     ports.Lock
	book     *ledger.Book
	trees    ports.Worktrees
	budget   int64                // tokens; 0: none
	rebuying bool                 // a divergence gives up what is not reached
	since    int                  // the last record when this process began to walk
	quiet    bool                 // nothing is published: a plan
	ungated  sync.Once            // tells that the project has no build command
	left     atomic.Bool          // whoever sat at the terminal has gone
	view     atomic.Pointer[View] // what the workflow shows of itself

	structure sync.Mutex // held while worktrees are opened and records given up

	once     sync.Mutex // held while one of these is found out
	identity string     // who commits
	checked  bool       // preflight has passed

	mu         sync.Mutex
	workspaces map[string]ports.Workspace
	status     ports.Status
	landings   map[string]ports.Began // those under way, or the last ones, by namespace
}

// StartOptions are Start's.
type StartOptions struct {
	From   string // a revision; "": the branch the operator is on
	Resume bool   // if the label holds this very job, go on with it
	Tokens int64
}

// ResumeOptions are Resume's.
type ResumeOptions struct {
	Rebuy, Retry bool
	Tokens       int64 // 0: the budget it was started with
}

// A Definition makes a job of a run's recorded parameters.
type Definition interface {
	Identity() (workflow string, version int)
	Restore(params []byte) (Job, error)
}

// BranchOf returns the branch of a run.
func BranchOf(label string) string { return "agl/" + label }

// Start runs a job under a new label, and returns when it has ended.
func (e *Engine) Start(ctx context.Context, label string, job Job, opts StartOptions) (err error) {
	op := fmt.Sprintf("start %s", label)
	if err := ports.CheckName("label", label); err != nil {
		return err
	}
	if opts.Tokens < 0 {
		return ports.Invalid.Errorf(op, "a budget of %d tokens", opts.Tokens)
	}
	x, err := e.hold(ctx, label)
	if err != nil {
		return err
	}
	defer x.release(&err)
	x.job = job
	if err := e.free(ctx, label); err != nil {
		var used *ports.InUseError
		if opts.Resume && errors.As(err, &used) && used.Branch == "" && used.Reason == "" {
			return x.resumeSame(ctx, opts)
		}
		return err
	}
	if err := e.preflight(ctx, job); err != nil {
		return err
	}
	x.checked = true
	if err := x.create(ctx, opts); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return x.run(ctx, false, ResumeOptions{})
}

// free checks that a label has no record and no branch, and that no other
// label differs from it by case alone.
func (e *Engine) free(ctx context.Context, label string) error {
	labels, err := e.set.Store.Runs(ctx)
	if err != nil {
		return err
	}
	for _, other := range labels {
		switch {
		case other == label:
			return e.taken(ctx, label)
		case ports.FoldName(other) == ports.FoldName(label):
			return &ports.InUseError{Label: label, Reason: fmt.Sprintf("run %q differs from it by case alone", other)}
		}
	}
	at, err := e.set.Workspaces.Branch(ctx, BranchOf(label))
	if err != nil {
		return err
	}
	if at != "" {
		return &ports.InUseError{Label: label, Branch: BranchOf(label)}
	}
	return nil
}

// taken says that a label is in use, and if all that can be done with its run
// is to clear it, that.
func (e *Engine) taken(ctx context.Context, label string) error {
	used := &ports.InUseError{Label: label}
	switch run, err := ledger.ReadRun(ctx, e.set.Store, label); {
	case err == nil && run.Cleared:
		used.Reason = "its run was being cleared when that was interrupted; clear it again"
	case errors.Is(err, ports.NotFound):
		used.Reason = "what is left of a run is there; clear it"
	}
	return used
}

// hold takes a run's lock.
func (e *Engine) hold(ctx context.Context, label string) (*execution, error) {
	e.mu.Lock()
	closed := e.closed
	e.mu.Unlock()
	if closed {
		return nil, ports.Invalid.Errorf("", "the engine is closed")
	}
	lock, err := e.set.Store.Lock(ctx, label)
	if err != nil {
		return nil, err
	}
	x := &execution{engine: e, label: label, lock: lock, workspaces: map[string]ports.Workspace{}, landings: map[string]ports.Began{}}
	if x.trees, err = e.set.Workspaces.Attach(ctx, label, lock); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	e.mu.Lock()
	e.live[label] = x
	e.mu.Unlock()
	return x, nil
}

func (x *execution) release(err *error) {
	x.engine.mu.Lock()
	delete(x.engine.live, x.label)
	x.engine.mu.Unlock()
	if failed := x.lock.Release(); failed != nil && *err == nil {
		*err = failed
	}
}

// create records a new run, and makes its branch.
func (x *execution) create(ctx context.Context, opts StartOptions) error {
	e := x.engine
	from := opts.From
	if from == "" {
		var err error
		if from, err = e.set.History.Default(ctx); err != nil {
			return err
		}
	}
	base, err := e.set.History.Resolve(ctx, from)
	if err != nil {
		return err
	}
	x.budget = opts.Tokens
	x.book, err = ledger.Create(ctx, e.set.Store, ledger.Run{
		Label:    x.label,
		Workflow: x.job.Workflow,
		Version:  x.job.Version,
		Branch:   BranchOf(x.label),
		From:     from,
		Base:     base,
		Params:   x.job.Params,
		Nonce:    rand.Text(),
		Tokens:   opts.Tokens,
		Build:    e.set.Verifier.Gate().Command,
		Created:  e.now(),
	})
	if err != nil {
		return err
	}
	return x.grow(ctx)
}

// grow makes what every run has in the repository: its branch, and what keeps
// its base reachable.
func (x *execution) grow(ctx context.Context) error {
	run := x.book.Run
	if err := x.trees.Keep(ctx, "base", run.Base); err != nil {
		return err
	}
	return x.trees.Move(ctx, run.Branch, "", run.Base)
}

// Resume goes on with a recorded run, and returns when it has ended.
func (e *Engine) Resume(ctx context.Context, label string, def Definition, opts ResumeOptions) (err error) {
	if err := ports.CheckName("label", label); err != nil {
		return err
	}
	if opts.Tokens < 0 {
		return ports.Invalid.Errorf("resume "+label, "a budget of %d tokens", opts.Tokens)
	}
	if _, err := ledger.ReadRun(ctx, e.set.Store, label); err != nil {
		return err // before the lock, which would make a folder
	}
	x, err := e.hold(ctx, label)
	if err != nil {
		return err
	}
	defer x.release(&err)
	if err := x.restore(ctx, def); err != nil {
		return err
	}
	return x.resume(ctx, opts)
}

// restore opens the run's book and makes its job.
func (x *execution) restore(ctx context.Context, def Definition) error {
	var err error
	if x.book, err = ledger.Open(ctx, x.engine.set.Store, x.label); err != nil {
		return err
	}
	x.job, err = restoreJob(x.book.Run, def)
	return err
}

func restoreJob(run ledger.Run, def Definition) (Job, error) {
	workflow, version := def.Identity()
	op := "resume " + run.Label
	if workflow != run.Workflow {
		return Job{}, ports.Conflicted.Errorf(op, "it is a run of workflow %s, not of %s", run.Workflow, workflow)
	}
	if version != run.Version {
		return Job{}, ports.Conflicted.Errorf(op, "it was started by version %d of workflow %s, this program has version %d; use the program that started it, or clear the run",
			run.Version, workflow, version)
	}
	job, err := def.Restore(run.Params)
	if err != nil {
		return Job{}, fmt.Errorf("%s: its recorded parameters: %w", op, err)
	}
	return job, nil
}

// resumeSame resumes the run that holds the label if it is this very job.
func (x *execution) resumeSame(ctx context.Context, opts StartOptions) error {
	var err error
	if x.book, err = ledger.Open(ctx, x.engine.set.Store, x.label); err != nil {
		return err
	}
	run := x.book.Run
	switch {
	case run.Workflow != x.job.Workflow:
		return &ports.InUseError{Label: x.label, Reason: fmt.Sprintf("it is a run of workflow %s", run.Workflow)}
	case run.Version != x.job.Version:
		return &ports.InUseError{Label: x.label, Reason: fmt.Sprintf("it was started by version %d of workflow %s", run.Version, run.Workflow)}
	case string(run.Params) != string(x.job.Params):
		return &ports.InUseError{Label: x.label, Reason: "it was started with other parameters: " + differingParams(run.Params, x.job.Params)}
	}
	return x.resume(ctx, ResumeOptions{Tokens: opts.Tokens})
}

func (x *execution) resume(ctx context.Context, opts ResumeOptions) error {
	x.budget = x.book.Run.Tokens
	if opts.Tokens > 0 {
		x.budget = opts.Tokens
	}
	return x.run(ctx, true, opts)
}

// now is the time as records keep it: without a monotonic reading, in UTC.
func (e *Engine) now() time.Time { return e.set.Clock.Now().UTC().Round(0) }

// publish tells the engine's listener what happened.
func (x *execution) publish(namespace string, what ports.Happening) {
	if x.quiet {
		return
	}
	x.observe(namespace, what)
	x.engine.events.publish(ports.Event{Run: x.label, Namespace: namespace, Time: x.engine.now(), What: what})
}

// note tells of something a person should know.
func (x *execution) note(namespace string, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	x.engine.log.Info(text, "run", x.label, "namespace", namespace)
	x.publish(namespace, ports.Noted{Text: text})
}

// differingParams names the parameters that two jobs differ in.
func differingParams(was, now []byte) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(now, &b) != nil {
		return "they are no objects"
	}
	var names []string
	for name, v := range a {
		if string(b[name]) != string(v) {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
