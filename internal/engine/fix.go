package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// Step runs an agent in the checkout that holds the conflict's merge, unless
// it is recorded for these very commits. Nothing is put back and nothing
// committed: what it leaves is there for Retry.
func (c *Conflict) Step(ctx context.Context, s *Step) error {
	l := c.landing
	op := "step " + s.Role.Name + " in " + l.verb.op()
	n, err := c.enter("step in a conflict")
	if err != nil {
		return err
	}
	defer c.leave()
	l.steps++ // one at a time is in flight
	if err := l.x.job.resolve(s); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	terms, err := stepTerms(s)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	stepKey := fingerprint.Key(ports.KindStep, terms)
	key, _, err := l.supportKey("fix", c.Attempt, fmt.Sprint(n), stepKey)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	e := l.x.book.Support(ports.KindFix, l.space.name, key, l.since)
	if e != nil && (e.Failure == nil || e.Seq > l.last) { // one that failed the landing by that is tried again
		return l.refix(ctx, s, e)
	}
	f := &fix{landing: l, op: op, ordinal: l.steps, key: key, terms: terms}
	return f.run(ctx, s)
}

// refix answers a step in a conflict from its record: the files are made those
// that its agent left, unless they are what a person has made of these since.
func (l *landing) refix(ctx context.Context, s *Step, e *ledger.Entry) error {
	l.x.publish(l.space.name, ports.Hit{Record: planRecord(e), Failed: e.Failure != nil})
	if e.Head != "" && l.restored < e.Seq {
		done, err := l.x.engine.set.Integrator.Restore(ctx, l.ws, e.Head, "found before what "+s.Role.Name+" had left was written back")
		l.x.tellPutBack(l.parent.name, done)
		if err != nil {
			return l.walk.stop(fmt.Errorf("%s: %w", l.verb.op(), err))
		}
	}
	if e.Failure != nil {
		return e.Failure.Err()
	}
	value, err := l.x.book.Value(ctx, e)
	if err != nil {
		return l.walk.stop(fmt.Errorf("%s: %w", l.verb.op(), err))
	}
	return s.Deliver(value)
}

// A fix is one agent's turn in a conflict.
type fix struct {
	landing *landing
	op      string
	ordinal int
	key     string
	terms   []ports.Term
}

func (f *fix) run(ctx context.Context, s *Step) error {
	l := f.landing
	x := l.x
	if err := l.walk.halted(); err != nil {
		return err
	}
	// What a person has typed is kept before an agent works on it.
	err := x.recordHold(context.WithoutCancel(ctx), l.ws, l.spec, l.space.name, &l.note, l.committer)
	if err == nil {
		err = l.rewrite(ctx, ledger.Fixing)
	}
	if err != nil {
		return l.walk.stop(fmt.Errorf("%s: %w", f.op, err))
	}
	a := &attempt{
		x: x, walk: l.walk, space: l.space, at: l.parent, base: l.spec.Head, ws: l.ws, guard: l.guard, mark: rand.Text(), committer: l.committer,
		since: l.since, note: l.note,
		verb: &verb{kind: ports.KindFix, name: s.Role.Name, ordinal: f.ordinal, landing: l.verb.ordinal, model: s.Role.Model, key: f.key},
		record: &ports.Record{
			Kind: ports.KindFix, Namespace: l.space.name, Name: s.Role.Name, Key: f.key, Terms: f.terms,
			Model: s.Role.Model, Landing: l.record.Landing, Called: l.record.Called, Started: x.engine.now(),
		},
	}
	ctx = ports.WithVerb(ctx, ports.Verb{
		Namespace: l.space.name, Kind: ports.KindFix, Name: s.Role.Name, Ordinal: f.ordinal,
		Within: fmt.Sprintf("landing #%d", l.verb.ordinal),
	})
	value, failure := a.turn(ctx, s)
	cancelled := failure != nil && (errors.Is(ctx.Err(), context.Canceled) || a.interrupted() != nil)
	ctx = context.WithoutCancel(ctx)
	if err := a.reap(ctx); err != nil {
		return l.walk.stop(errors.Join(failure, err))
	}
	if cancelled {
		return f.cancelled(ctx)
	}
	if err := f.record(ctx, a, value, failure); err != nil {
		return l.walk.stop(fmt.Errorf("%s: %w", f.op, err))
	}
	if a.record.Failure != nil {
		return a.record.Failure.Err()
	}
	return s.Deliver(value)
}

// cancelled ends a turn that is not recorded. What it left stays, and from here
// on what is in the checkout may be a person's.
func (f *fix) cancelled(ctx context.Context) error {
	l := f.landing
	err := guarded(ctx, l.ws, l.note)
	if err == nil {
		err = l.resolving(ctx)
	}
	if err != nil {
		return l.walk.stop(fmt.Errorf("%s: %w", f.op, err))
	}
	return fmt.Errorf("%s: %w", f.op, context.Canceled)
}

// resolving notes that the resolver decides again, after an agent. Where that
// has ended the merge, it does not: the branch may be where no note but this
// one accounts for it.
func (l *landing) resolving(ctx context.Context) error {
	held, err := l.x.engine.set.Integrator.Rehold(ctx, l.ws, l.spec)
	if err != nil || !held {
		return err
	}
	return l.rewrite(ctx, ledger.Resolving)
}

// record records a turn, with the files that it left. From its note on it is
// bought: what is interrupted after that, recover does.
func (f *fix) record(ctx context.Context, a *attempt, value json.RawMessage, failure error) error {
	l := f.landing
	a.record.Ended = l.x.engine.now()
	if failure != nil {
		a.record.Failure = ports.FailureOf(failure)
	} else {
		a.record.Value = value
	}
	l.note.Record = a.record
	if err := l.rewrite(ctx, ledger.Fixing); err != nil {
		return err
	}
	if err := guarded(ctx, l.ws, l.note); err != nil {
		return err
	}
	if err := l.x.recordFix(ctx, l.ws, l.spec, a.record, l.committer); err != nil {
		return err
	}
	l.note.Record = nil
	return l.resolving(ctx)
}

// recordFix records a turn that has ended in a checkout that holds a merge, or
// that held it: an agent that has ended the merge, and not by committing it, has
// failed, and so has one that left what no commit can hold. Either way it is
// paid for.
func (x *execution) recordFix(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, r *ports.Record, committer string) error {
	held, err := x.engine.set.Integrator.Rehold(ctx, ws, spec)
	if err != nil {
		return err
	}
	op := fmt.Sprintf("step %s in the conflict of %s", r.Name, r.Namespace)
	failed := func(cause error) error {
		if r.Failure == nil {
			r.Failure, r.Value = ports.FailureOf(cause), nil
		}
		_, err := x.record(ctx, r)
		return err
	}
	if !held {
		return failed(mergeEnded(op))
	}
	snapshot, err := x.engine.set.Integrator.Snapshot(ctx, ws, ports.CommitSpec{
		Head: r.Landing.Before, Message: fmt.Sprintf("what %s made of the conflict of %s", r.Name, r.Namespace), Identity: committer, Date: r.Ended,
	})
	var rejected *ports.RejectedError
	switch {
	case errors.As(err, &rejected):
		return failed(fmt.Errorf("%s: %w", op, rejected))
	case err != nil:
		return err
	}
	if err := x.trees.Keep(ctx, "fix-"+snapshot, snapshot); err != nil {
		return err
	}
	r.Head = snapshot
	_, err = x.record(ctx, r)
	return err
}

// mergeEnded says that somebody has ended a merge that AGL held.
func mergeEnded(op string) error {
	return ports.Unexpected.Errorf(op, "the merge was ended in its checkout (git merge --abort, or a commit that is not of it); change the files there, and leave the rest to AGL")
}
