package engine

import (
	"context"
	"errors"
	"fmt"

	"example.com/agl/internal/ledger"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// run walks a run to its end and records how it ended.
func (x *execution) run(ctx context.Context, resumed bool, opts ResumeOptions) (err error) {
	x.publish("", ports.RunBegan{Info: x.engine.info(ctx, x.book), Resumed: resumed})
	x.since = x.book.Last()
	defer func() { x.publish("", ports.RunEnded{Err: err}) }()
	w, err := x.walkToEnd(ctx, resumed, opts)
	if w == nil || w.halted() != nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return err // it has not ended: resume it
	}
	if n := w.unreached(); n > 0 {
		x.note("", "the workflow ended without asking for %d recorded results", n)
	}
	if failed := x.recordEnd(context.WithoutCancel(ctx), err, w.unreached()); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// walkToEnd calls the workflow until it has ended: first dry, if it is
// resumed, then with misses run, then again while a recorded failure that it
// ended in is retried. The walk is nil if the function did not get to run.
func (x *execution) walkToEnd(ctx context.Context, resumed bool, opts ResumeOptions) (*walk, error) {
	retrying := map[int]bool{}
	if !resumed {
		return x.live(ctx, retrying)
	}
	if opts.Retry {
		if err := x.retryAll(ctx); err != nil {
			return nil, err
		}
	}
	w := x.newWalk(true, retrying)
	err := w.call(ctx)
	switch plan := w.plan(err); {
	case w.halted() != nil:
		return nil, err
	case plan.Diverged():
		if !opts.Rebuy && !x.book.Rebuying() {
			return nil, &ports.DivergedError{Plan: plan}
		}
		if err := x.rebuy(ctx, plan); err != nil {
			return nil, err
		}
		w, err = x.live(ctx, retrying)
	case w.missed():
		w, err = x.live(ctx, retrying)
	}
	for w.halted() == nil && ctx.Err() == nil {
		failures := x.retryable(err)
		if len(failures) == 0 {
			break
		}
		for _, e := range failures {
			retrying[e.Seq] = true
		}
		w, err = x.live(ctx, retrying)
	}
	return w, hint(err)
}

func (x *execution) live(ctx context.Context, retrying map[int]bool) (*walk, error) {
	w := x.newWalk(false, retrying)
	return w, w.call(ctx)
}

// retryable returns the replayed failures in err that nothing was called
// after: a resume tries them again, each once.
func (x *execution) retryable(err error) []*ledger.Entry {
	var found []*ledger.Entry
	for _, e := range replayed(err) {
		later := e.Seq > x.since
		for _, other := range x.book.Live(e.Namespace) {
			later = later || other.Called >= e.Seq
		}
		if !later {
			found = append(found, e)
		}
	}
	return found
}

// replayed returns the recorded failures that are in err's tree.
func replayed(err error) []*ledger.Entry {
	switch e := err.(type) {
	case nil:
		return nil
	case *replayedError:
		return []*ledger.Entry{e.entry}
	case interface{ Unwrap() error }:
		return replayed(e.Unwrap())
	case interface{ Unwrap() []error }:
		var found []*ledger.Entry
		for _, child := range e.Unwrap() {
			found = append(found, replayed(child)...)
		}
		return found
	}
	return nil
}

// hint says how to try a failure again that a resume does not retry by
// itself.
func hint(err error) error {
	if failures := replayed(err); len(failures) > 0 {
		return fmt.Errorf("%w (recorded; the workflow went on after it: resume with --retry to try it again)", err)
	}
	return err
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
