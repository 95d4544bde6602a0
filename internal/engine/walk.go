package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/internal/ledger"
	"example.com/agl/internal/schedule"
	"example.com/agl/ports"
)

// A walk is one call of the workflow's function: dry, where the first verb
// that is not recorded ends its namespace, or live, where it runs.
type walk struct {
	x   *execution
	dry bool

	verbs  sync.WaitGroup // those that run now
	flight atomic.Int64   // how many they are
	still  atomic.Int64   // how many of them wait for a person, or for another verb

	mu       sync.Mutex
	spaces   map[string]*namespace    // that were entered, by name
	halt     error                    // what keeps any further verb from running
	halting  chan struct{}            // closed when halt is set
	ended    <-chan struct{}          // closed when the run is to stop
	over     bool                     // the function has returned
	seen     int                      // the highest number of a record that the function may know of
	retrying map[int]bool             // failures that are tried again: their place is free
	given    *closure                 // records that are about to be given up; nil: none
	pending  map[string]*ports.Record // in a plan: what a resume would record first, by namespace
	first    map[string]*precedence   // landings that go first, by the namespace into which
}

// A namespace is one namespace's place in a walk.
type namespace struct {
	name   string
	branch string
	parent *namespace                 // nil for Base
	lease  *lease                     // held by what works in its checkout
	busy   atomic.Bool                // a verb of it is in flight
	missed atomic.Pointer[ports.Miss] // in a dry walk: the verb that ended it
	again  bool                       // and it is a landing that is to be made again

	// The rest belongs to the verb in flight.
	live     []*ledger.Entry // with landings that are to be made again at their places
	pos      int             // how many of live were reached
	retry    int             // the record that the next one supersedes, 0 if none
	ordinals map[string]int  // verbs taken, by kind and name
}

// A Run is what a workflow's function is given: the way to its verbs.
type Run struct {
	walk  *walk
	space *namespace
}

// errDry is what verbs return in a dry walk from the first miss on.
var errDry = errors.New("this verb is not recorded: the workflow is called to see what it asks for, nothing is run")

// A replayedError is a recorded failure that a verb gave back.
type replayedError struct {
	entry  *ledger.Entry
	err    error
	stands bool // the workflow went on after it: a resume does not try it again
}

func (e *replayedError) Error() string {
	if e.stands {
		return e.err.Error() + " (recorded, and the workflow went on after it: resume with --retry, ResumeOptions.Retry, to try it again)"
	}
	return e.err.Error()
}

func (e *replayedError) Unwrap() error { return e.err }

// newWalk begins a walk over the live records, but for those to be retried and
// those to be given up.
func (x *execution) newWalk(dry bool, retrying map[int]bool, given *closure) *walk {
	w := &walk{x: x, dry: dry, spaces: map[string]*namespace{}, halting: make(chan struct{}), retrying: retrying, given: given}
	if !dry {
		w.first = x.precedences()
	}
	return w
}

// base returns the run's own namespace.
func (w *walk) base() *namespace {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spaces[ports.Base] == nil {
		w.spaces[ports.Base] = w.enter(ports.Base, nil)
	}
	return w.spaces[ports.Base]
}

// again reports whether a record is of a landing that is to be made again.
func (w *walk) again(seq int) bool {
	return w.x.book.Again(seq) || w.given != nil && w.given.again[seq]
}

// gone reports whether a record is about to be given up.
func (w *walk) gone(seq int) bool {
	return w.given != nil && w.given.in[seq] && !w.given.again[seq]
}

func (w *walk) enter(name string, parent *namespace) *namespace {
	s := &namespace{name: name, branch: w.x.branch(name), parent: parent, lease: newLease(), ordinals: map[string]int{}}
	for _, e := range w.x.book.Places(name) {
		switch {
		case w.retrying[e.Seq]:
			s.retry = e.Seq
		case !w.gone(e.Seq):
			s.live = append(s.live, e)
		}
	}
	if r := w.pending[name]; r != nil {
		s.live = append(s.live, w.x.book.Unwritten(r))
	}
	return s
}

// call calls the workflow's function, and waits for verbs that it left
// running. A panic is an Internal error.
func (w *walk) call(ctx context.Context) (err error) {
	w.ended = ctx.Done()
	defer func() {
		w.mu.Lock()
		w.over = true
		w.mu.Unlock()
		w.verbs.Wait()
		if halt := w.halted(); halt != nil {
			err = halt
		}
	}()
	_, err = guardPanic(w.x, "workflow "+w.x.job.Workflow, func() (struct{}, error) {
		return struct{}{}, w.x.job.Func(ctx, &Run{walk: w, space: w.base()})
	})
	return err
}

// stop keeps any further verb from running; the first cause is the walk's
// error, or the first that is more than that the workflow is called again.
func (w *walk) stop(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var outdated *outdatedError
	switch {
	case w.halt == nil:
		w.halt = err
		close(w.halting)
	case errors.As(w.halt, &outdated) && !errors.As(err, &outdated):
		w.halt = err
	}
	return w.halt
}

// goesOn reports whether further verbs may run.
func (w *walk) goesOn() bool {
	select {
	case <-w.ended:
		return false
	default:
		return w.halted() == nil
	}
}

// saw says that the function is about to know what a record says.
func (w *walk) saw(e *ledger.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = max(w.seen, e.Seq)
}

// called returns the highest number of a record that a verb which is called now
// may depend on: what is recorded and was not asked for yet in this walk, it does
// not know of, but its branch may stand on it.
func (w *walk) called(namespace string) int {
	by := w.x.book.HeadBy(namespace) // which waits where another writes
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(w.seen, by)
}

func (w *walk) halted() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.halt
}

func (w *walk) begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return ports.Invalid.Errorf("", "the workflow's function has returned: its run takes no more verbs")
	}
	w.verbs.Add(1)
	return nil
}

// A verb is one call of a verb, ready to be compared and run.
type verb struct {
	kind    ports.RecordKind
	name    string
	model   ports.Model // of a step
	ordinal int
	landing int // of what an agent does in a conflict: which landing of the namespace it is; else 0
	terms   []ports.Term
	key     string
	commits bool // it may end in a commit
	deliver func(value json.RawMessage) error
	run     func(ctx context.Context, a *attempt) (*ledger.Entry, error)
}

func (v *verb) op() string { return fmt.Sprintf("%s %s", v.kind, v.name) }

// take answers a verb from the record, or runs it.
func (r *Run) take(ctx context.Context, v *verb) error {
	w, s := r.walk, r.space
	schedule.Point(ctx, s.name+": "+v.op())
	if err := w.begin(); err != nil {
		return fmt.Errorf("%s: %w", v.op(), err)
	}
	defer w.verbs.Done()
	if !s.busy.CompareAndSwap(false, true) {
		return ports.Invalid.Errorf(v.op(), "another verb is in flight on this Run; give each goroutine a Worktree")
	}
	defer s.busy.Store(false)
	w.flight.Add(1)
	defer w.flight.Add(-1)
	schedule.Point(ctx, s.name+": "+v.op()+", in flight")

	if s.missed.Load() != nil {
		return errDry
	}
	v.key = fingerprint.Key(v.kind, v.terms)
	v.ordinal = s.count(v)
	next, again := w.next(s, v)
	switch {
	case next != nil && next.Key == v.key:
		return w.replay(context.WithoutCancel(ctx), s, next, v)
	case next != nil && next.Failure != nil && s.pos == len(s.live)-1 && w.x.lastFailure(next):
		// The run ended here, in a failure, and what failed was mended: there is
		// nothing to lose. Its retry is another verb.
		s.retry, s.live, next = next.Seq, s.live[:s.pos], nil
	}
	if w.dry {
		s.again = again
		s.missed.Store(w.miss(ctx, next, v))
		return errDry
	}
	return w.runMissed(ctx, s, next, v)
}

// next returns the record at the namespace's position, or nil if there is
// none: it is at its end, or at a landing that is to be made again, as this
// verb does. Landings that are not asked for again are forgotten.
func (w *walk) next(s *namespace, v *verb) (next *ledger.Entry, again bool) {
	for s.pos < len(s.live) {
		e := s.live[s.pos]
		switch {
		case !w.again(e.Seq):
			return e, false
		case v.kind == ports.KindLanding:
			s.retry = e.Seq
			return nil, true
		}
		s.live = slices.Delete(s.live, s.pos, s.pos+1)
	}
	return nil, false
}

// count returns the how manieth of its kind and name in the namespace a verb
// is.
func (s *namespace) count(v *verb) int {
	s.ordinals[v.op()]++
	return s.ordinals[v.op()]
}

// replay answers a verb from its record.
func (w *walk) replay(ctx context.Context, s *namespace, e *ledger.Entry, v *verb) error {
	s.pos++
	w.saw(e)
	if !w.dry {
		w.x.publish(s.name, ports.Hit{Record: planRecord(e), Ordinal: v.ordinal, Failed: e.Failure != nil})
	}
	if e.Failure != nil {
		return &replayedError{entry: e, err: e.Failure.Err()}
	}
	value, err := w.x.book.Value(ctx, e)
	if err != nil {
		return w.stop(fmt.Errorf("%s: %w", v.op(), err))
	}
	if err := v.deliver(value); err != nil {
		return w.stop(ports.Conflicted.Errorf(v.op(),
			"record %d was made under other rules, its value is not valid any more: %w; raise the workflow's Version, or clear the run", e.Seq, err))
	}
	return nil
}

// runMissed runs a verb that is not recorded.
func (w *walk) runMissed(ctx context.Context, s *namespace, next *ledger.Entry, v *verb) error {
	x := w.x
	if err := w.halted(); err != nil {
		return err
	}
	miss := w.miss(ctx, next, v)
	if next != nil { // it asks for something else than what is recorded
		return w.diverge(w.planOf(s, miss), next)
	}
	if ctx.Err() != nil {
		return ended(ctx, v.op())
	}
	if err := x.check(ctx); err != nil {
		return w.stop(err)
	}
	w.overtakes(s, v)
	spaces, entered := []*namespace{s}, func() {}
	switch v.kind {
	case ports.KindLanding:
		spaces = append(spaces, s.parent)
		entered = w.giveWay(ctx, s)
	case ports.KindAnswer:
		spaces = nil // it works in no checkout
	}
	under, release, err := w.lease(ctx, v, spaces...)
	entered()
	switch {
	case err != nil && ctx.Err() != nil && w.halted() == nil:
		return ended(ctx, v.op())
	case err != nil:
		return err
	}
	defer release()
	if ctx = under; ctx.Err() != nil {
		return ended(ctx, v.op())
	}
	x.publish(s.name, ports.Missed{Miss: *miss})
	ctx = ports.WithVerb(ctx, ports.Verb{Namespace: s.name, Kind: v.kind, Name: v.name, Ordinal: v.ordinal})
	a := x.attempt(w, s, v)
	e, err := a.run(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil && errors.Is(err, context.Canceled), errors.Is(err, errNotBegun):
		x.idle(s.name)
		return err
	default:
		return w.stop(err)
	}
	w.saw(e)
	if s.pos < len(s.live) {
		s.live[s.pos] = e // a landing that was made again
	} else {
		s.live = append(s.live, e)
	}
	s.pos++
	s.retry = 0
	if e.Failure != nil {
		return e.Failure.Err()
	}
	return v.deliver(a.record.Value) // the bytes that were stored
}

// ended is the error of a verb that did not begin because its context had
// ended. It is not recorded.
func ended(ctx context.Context, op string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ports.Unexpected.Errorf(op, "%w: %w", errNotBegun, ctx.Err())
	}
	return ctx.Err()
}

// miss explains why a verb is not answered by next, the record at its
// position.
func (w *walk) miss(ctx context.Context, next *ledger.Entry, v *verb) *ports.Miss {
	m := &ports.Miss{Kind: v.kind, Name: v.name, Ordinal: v.ordinal}
	if next == nil {
		return m
	}
	instead := planRecord(next)
	m.Instead = &instead
	if next.Kind == v.kind && next.Name == v.name {
		if full, err := w.x.book.Full(context.WithoutCancel(ctx), next.Seq); err == nil {
			m.Changes = fingerprint.Explain(full.Terms, v.terms)
		}
	}
	return m
}

func planRecord(e *ledger.Entry) ports.PlanRecord {
	return ports.PlanRecord{Seq: e.Seq, Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}
}
