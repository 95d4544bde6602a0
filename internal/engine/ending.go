package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// A result is what a verb that ran came to.
type result struct {
	ending     Ending
	message    string
	allowEmpty bool
}

// succeed ends an attempt that has its value. It cannot be cancelled: what is
// bought is recorded. The entry it returns may be a failure, where the
// checkout is not fit for the ending. An error says that it could not be
// concluded: a resume will.
func (a *attempt) succeed(ctx context.Context, r result) (*ledger.Entry, error) {
	ctx = context.WithoutCancel(ctx)
	a.record.Ended = a.x.engine.now()
	a.record.Ending = string(r.ending)
	note := ledger.Note{
		Key: a.record.Key, Started: a.record.Started, Name: a.verb.op(), Guard: a.guard,
		Ending: &ledger.Ending{Commit: r.ending == EndCommit, AllowEmpty: r.allowEmpty, Message: r.message, Identity: a.committer},
		Record: a.record,
	}
	noted := a.x.book.WriteNote(ctx, a.space.name, note) // first: from here on nothing can make it be bought again
	if err := a.reap(ctx); err != nil {
		return nil, errors.Join(err, noted)
	}
	e, err := a.x.conclude(ctx, a.ws, a.at.branch, note)
	if err != nil {
		return nil, errors.Join(err, noted)
	}
	return e, nil
}

// conclude does what is left of a verb that has run: its checks, its commit,
// its record, its branch. It may be repeated at any point.
func (x *execution) conclude(ctx context.Context, ws ports.Workspace, branch string, n ledger.Note) (*ledger.Entry, error) {
	r := n.Record
	if err := guarded(ctx, ws, n); err != nil {
		return nil, err
	}
	left := false // whether there is something to put back
	var refused error
	switch {
	case n.Ending.Commit:
		c, err := ws.Commit(ctx, ports.CommitSpec{Head: r.Before, Message: n.Ending.Message, Identity: n.Ending.Identity, Date: r.Ended})
		x.tell(r.Namespace, c.Notes)
		var rejected *ports.RejectedError
		switch {
		case errors.As(err, &rejected):
			refused = fmt.Errorf("%s: %w", n.Name, rejected)
		case err != nil:
			return nil, fmt.Errorf("commit %s: %w", n.Name, err)
		case c.Empty && !n.Ending.AllowEmpty:
			refused = ports.Unexpected.Errorf(n.Name, "there is nothing to commit: the checkout is as it was")
		default:
			r.Head = c.ID
		}
	case r.Ending == string(EndDiscard):
		left = true
	default:
		changes, err := ws.Inspect(ctx, r.Before)
		if err != nil {
			return nil, err
		}
		left = len(changes.Untracked) > 0
		refused = trespass(n.Name, r, changes)
	}
	if refused != nil {
		return x.recordFailure(ctx, place{ws, r.Namespace, r.Before}, r, n.Name, refused)
	}
	e, err := x.record(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.Moved() {
		if err := x.trees.Move(ctx, branch, r.Before, r.Head); err != nil {
			return nil, err
		}
	}
	if left {
		// What was recorded stands; the next verb puts back what is still there.
		if err := x.putBack(ctx, r.Namespace, ws, r.Before, "left by "+n.Name); err != nil {
			x.note(r.Namespace, "the checkout could not be put back after %s: %v", n.Name, err)
		}
	}
	return e, nil
}

// guarded checks that nothing was planted while the note's verb ran, before
// the first git call after it.
func guarded(ctx context.Context, ws ports.Workspace, n ledger.Note) error {
	err := ws.Verify(ctx, n.Guard)
	var tampered *ports.TamperedError
	if errors.As(err, &tampered) && tampered.Step == "" {
		tampered.Step = n.Name
	}
	return err
}

// trespass says what a verb changed that was to change nothing.
func trespass(name string, r *ports.Record, c ports.Changes) error {
	var what []string
	if c.Detached {
		what = append(what, "switched the checkout's branch")
	}
	if c.Head != r.Before {
		what = append(what, fmt.Sprintf("moved it to commit %.12s", c.Head))
	}
	if len(c.Tracked) > 0 {
		what = append(what, "changed "+list(c.Tracked))
	}
	if r.Kind == ports.KindCall && len(c.Untracked) > 0 {
		what = append(what, "left "+list(c.Untracked))
	}
	switch {
	case len(what) == 0:
		return nil
	case r.Kind == ports.KindCall:
		return ports.Unexpected.Errorf(name, "it %s, and has no Commit", strings.Join(what, ", "))
	default:
		return ports.Unexpected.Errorf(name, "it is held to reading, and %s", strings.Join(what, ", "))
	}
}

// list names a few paths.
func list(paths []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for _, p := range paths[:min(len(paths), most)] {
		shown = append(shown, ports.Printable(p))
	}
	text := strings.Join(shown, ", ")
	if len(paths) > most {
		text += fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return text
}

// fail ends an attempt that has no value. A cancelled one is not recorded;
// else the failure is. Either way the checkout is salvaged and put back.
func (a *attempt) fail(ctx context.Context, cause error) (*ledger.Entry, error) {
	halt := a.interrupted()
	stopping := halt != nil || errors.Is(ctx.Err(), context.Canceled)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		cause = late(cause)
	}
	ctx = context.WithoutCancel(ctx)
	a.record.Ended = a.x.engine.now()
	if err := a.reap(ctx); err != nil {
		return nil, errors.Join(cause, err)
	}
	note := ledger.Note{Name: a.verb.op(), Guard: a.guard}
	if err := guarded(ctx, a.ws, note); err != nil {
		return nil, fmt.Errorf("%w (it failed itself: %v)", err, cause)
	}
	if !stopping {
		return a.x.recordFailure(ctx, place{a.ws, a.at.name, a.base}, a.record, a.verb.op(), cause)
	}
	if err := a.x.putBack(ctx, a.at.name, a.ws, a.base, "cancelled: "+a.verb.op()); err != nil {
		a.x.note(a.space.name, "the checkout could not be put back: %v", err)
		return nil, context.Canceled
	}
	if err := a.x.book.DropNote(ctx, a.space.name); err != nil {
		return nil, errors.Join(context.Canceled, err)
	}
	if halt != nil {
		return nil, halt
	}
	return nil, fmt.Errorf("%s: %w", a.verb.op(), context.Canceled)
}

// late returns the failure of a verb whose deadline has passed. What has a
// reason of its own keeps it.
func late(cause error) error {
	switch kind := ports.KindOf(cause); {
	case kind != "" && kind != ports.Unexpected, kind == ports.Unexpected && errors.Is(cause, context.DeadlineExceeded):
		return cause
	case errors.Is(cause, context.DeadlineExceeded):
		return ports.Unexpected.Errorf("", "%w", cause)
	}
	return ports.Unexpected.Errorf("", "%w (%w)", cause, context.DeadlineExceeded)
}

// A place is a checkout, whose it is, and the commit that it is to stand at.
type place struct {
	ws        ports.Workspace
	namespace string
	head      string
}

// recordFailure records how a verb failed, and puts its checkout back.
func (x *execution) recordFailure(ctx context.Context, at place, r *ports.Record, name string, cause error) (*ledger.Entry, error) {
	r.Value = nil
	r.Head = r.Before
	r.Failure = ports.FailureOf(cause)
	e, err := x.record(ctx, r)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	if err := x.putBack(ctx, at.namespace, at.ws, at.head, fmt.Sprintf("left by %s, which failed", name)); err != nil {
		x.note(at.namespace, "the checkout could not be put back after %s: %v", name, err)
	}
	return e, nil
}

// record appends a record and tells of it.
func (x *execution) record(ctx context.Context, r *ports.Record) (*ledger.Entry, error) {
	e, err := x.book.Append(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("record %s %s: %w", r.Kind, r.Name, err)
	}
	x.publish(r.Namespace, ports.Ended{Record: *r})
	return e, nil
}
