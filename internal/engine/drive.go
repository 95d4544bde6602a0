package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/agl/internal/ledger"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// run walks a run to its end and records how it ended.
func (x *execution) run(ctx context.Context, resumed bool, opts ResumeOptions) (err error) {
	x.publish("", ports.RunBegan{Info: x.engine.info(ctx, x.book), Resumed: resumed})
	defer func() { x.publish("", ports.RunEnded{Err: err}) }()
	defer x.show()()
	if resumed {
		if err := x.recover(ctx); err != nil {
			return fmt.Errorf("resume %s: %w", x.label, err)
		}
	}
	x.since = x.book.Last()
	w, err := x.walkToEnd(ctx, resumed, opts)
	if w == nil || w.halted() != nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return err // it has not ended: resume it
	}
	if n := w.unreached(); n > 0 {
		x.note("", "recorded results that the workflow did not ask for: %d", n)
	}
	x.tellUnlanded()
	if failed := x.closeQuestions(context.WithoutCancel(ctx)); failed != nil {
		return errors.Join(err, failed)
	}
	if failed := x.recordEnd(context.WithoutCancel(ctx), err, w.unreached()); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// tellUnlanded names the worktrees that have commits which were not landed:
// they stay until the run is cleared.
func (x *execution) tellUnlanded() {
	for _, namespace := range slices.Sorted(slices.Values(x.book.Namespaces()[1:])) {
		opened, head := x.book.Opened(namespace), x.book.Head(namespace)
		if opened != nil && head != lastLanded(x.book.Live(namespace), opened.Head) {
			x.note(namespace, "branch %s, at %.12s, has commits that no landing took; it stays until the run is cleared", x.branch(namespace), head)
		}
	}
}

// walkToEnd calls the workflow until it has ended. Where it asks in the middle
// of a walk for something else than is recorded, which is to be bought again,
// what worked meanwhile has ended and is recorded; what is not reached is given
// up then, and the workflow called again, as a resume would. The walk is nil if
// the run has not ended.
func (x *execution) walkToEnd(ctx context.Context, resumed bool, opts ResumeOptions) (*walk, error) {
	x.rebuying = opts.Rebuy
	for {
		w, err := x.walkOnce(ctx, resumed, opts)
		var outdated *outdatedError
		switch {
		case !errors.As(err, &outdated):
			return w, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		if err := x.gives(outdated.plan); err != nil {
			return nil, err
		}
		if err := x.check(ctx); err != nil {
			return nil, err
		}
		x.note("", "the workflow is called again: %s", outdated.plan.Divergence())
		if err := x.recover(ctx); err != nil {
			return nil, err
		}
		if err := x.supersede(ctx, ledger.WhyRebuy, []*ledger.Entry{outdated.from}); err != nil {
			return nil, err
		}
		resumed, opts.Retry = true, false
	}
}

// walkOnce calls the workflow first dry, if it is resumed, then with misses
// run, then again while a recorded failure that it ended in is retried.
func (x *execution) walkOnce(ctx context.Context, resumed bool, opts ResumeOptions) (*walk, error) {
	retrying := map[int]bool{}
	if !resumed {
		return x.live(ctx, retrying)
	}
	var failed []*ledger.Entry
	if opts.Retry {
		failed = x.failures()
	}
	w := x.newWalk(true, retrying, x.standingOn(failed))
	err := w.call(ctx)
	if w.halted() != nil {
		return nil, err
	}
	plan := w.plan(err)
	if err := x.gives(plan); err != nil {
		return nil, err
	}
	if w.missed() || len(failed) > 0 {
		// What is refused is refused before anything is given up.
		if err := x.check(ctx); err != nil {
			return nil, err
		}
		if err := x.supersede(ctx, ledger.WhyRetry, failed); err != nil {
			return nil, err
		}
		if err := x.rebuy(ctx, plan); err != nil {
			return nil, err
		}
		w, err = x.live(ctx, retrying)
	}
	for w.halted() == nil {
		failures := x.retryable(err)
		switch {
		case len(failures) == 0:
			for _, e := range replayed(err) {
				e.stands = true
			}
			return w, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		for _, e := range failures {
			retrying[e.Seq] = true
		}
		w, err = x.live(ctx, retrying)
	}
	return w, err
}

// gives returns an error unless what a plan does not reach may be given up: that
// was asked for, now or in the resume that this one goes on with, and none of it
// is of this process. A workflow that does not ask for the same when it is
// called again would buy for ever.
func (x *execution) gives(plan ports.Plan) error {
	for _, ns := range plan.Namespaces {
		switch {
		case !ns.Diverged():
		case !x.rebuying && !x.book.Rebuying():
			return &ports.DivergedError{Plan: plan}
		case ns.Unreached[0].Seq > x.since:
			return fmt.Errorf("the workflow asks for something else each time it is called (what varies belongs into run.Do): %w", &ports.DivergedError{Plan: plan})
		}
	}
	return nil
}

// An outdatedError halts a walk whose workflow asks for something else than
// what is recorded from one record on, which is to be given up. That waits until
// no verb is in flight: their branches may move, and values that others were
// given from what goes are not to be used.
type outdatedError struct {
	plan ports.Plan
	from *ledger.Entry
}

func (e *outdatedError) Error() string {
	return "the workflow is called again, for " + e.plan.Divergence()
}

// diverge halts a walk in which a namespace asks for something else than the
// record from.
func (w *walk) diverge(p ports.NamespacePlan, from *ledger.Entry) error {
	plan := ports.Plan{Label: w.x.label, Namespaces: []ports.NamespacePlan{p}}
	if err := w.x.gives(plan); err != nil {
		return w.stop(err)
	}
	return w.stop(&outdatedError{plan, from})
}

func (x *execution) live(ctx context.Context, retrying map[int]bool) (*walk, error) {
	w := x.newWalk(false, retrying, nil)
	return w, w.call(ctx)
}

// retryable returns the replayed failures in err that nothing was called
// after: a resume tries them again, each once.
func (x *execution) retryable(err error) []*ledger.Entry {
	var found []*ledger.Entry
	for _, e := range replayed(err) {
		if x.lastFailure(e.entry) {
			found = append(found, e.entry)
		}
	}
	return found
}

// lastFailure reports whether a failure was recorded by an earlier process,
// and no live record of its namespace, or of one above it, was called after it.
func (x *execution) lastFailure(e *ledger.Entry) bool {
	if e.Seq > x.since {
		return false
	}
	for namespace := e.Namespace; ; {
		if slices.ContainsFunc(x.book.Live(namespace), func(other *ledger.Entry) bool { return other.Called >= e.Seq }) {
			return false
		}
		opened := x.book.Opened(namespace)
		if opened == nil {
			return true
		}
		namespace = opened.Parent
	}
}

// replayed returns the recorded failures that are in err's tree.
func replayed(err error) []*replayedError {
	switch e := err.(type) {
	case nil:
		return nil
	case *replayedError:
		return []*replayedError{e}
	case interface{ Unwrap() error }:
		return replayed(e.Unwrap())
	case interface{ Unwrap() []error }:
		var found []*replayedError
		for _, child := range e.Unwrap() {
			found = append(found, replayed(child)...)
		}
		return found
	}
	return nil
}

// endValue is what the record of a run's end says.
type endValue struct {
	Unreached int `json:"unreached"`
}

// recordEnd records how the run ended, unless the last record says so already.
func (x *execution) recordEnd(ctx context.Context, err error, unreached int) error {
	value, encodeErr := strictjson.Canonical(endValue{Unreached: unreached})
	if encodeErr != nil {
		return encodeErr
	}
	r := &ports.Record{
		Kind: ports.KindEnd, Namespace: ports.Base, Name: x.job.Workflow, Value: value,
		Terms: []ports.Term{}, Called: x.book.Last(), Started: x.engine.now(), Ended: x.engine.now(),
	}
	if err != nil {
		r.Failure = ports.FailureOf(err)
	}
	if last := x.book.End(); last != nil && sameEnd(last.Failure, r.Failure) && string(last.Value) == string(value) {
		return nil
	}
	_, failed := x.book.Append(ctx, r)
	return failed
}

func sameEnd(a, b *ports.Failure) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Message == b.Message
}
