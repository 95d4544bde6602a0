package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/internal/ledger"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// Integrate lands the run's commits into its parent, unless that is recorded.
func (r *Run) Integrate(ctx context.Context, resolve Resolver) error {
	op := "landing " + r.space.name
	switch {
	case r.space.parent == nil:
		return ports.Invalid.Errorf(op, "it is the run's own branch, which is landed by a person; Integrate is for what Worktree returns")
	case resolve == nil:
		return ports.Invalid.Errorf(op, "the resolver is nil; pass Abandon to give up what conflicts")
	}
	return r.take(ctx, &verb{
		kind: ports.KindLanding, name: r.space.name, terms: []ports.Term{}, commits: true,
		deliver: func(json.RawMessage) error { return nil },
		run: func(ctx context.Context, a *attempt) (*ledger.Entry, error) {
			l := &landing{attempt: a, parent: r.space.parent, resolver: resolve}
			return l.land(ctx)
		},
	})
}

// A landing is an attempt at landing a namespace in its parent, whose lease it
// holds as well.
type landing struct {
	*attempt
	parent   *namespace
	resolver Resolver
	spec     ports.MergeSpec
	last     int // the namespace's last landing, made or failed; 0 if there was none
	since    int // the last that ended what supported it: what supports this one is later
	note     ledger.Note
	inFlight sync.WaitGroup // Steps and Asks of a conflict
	taken    int            // how many of them so far
	steps    int            // and how many Steps among them
	restored int            // the record of what a person had made of the conflict at hand; 0 if none
}

func (l *landing) land(ctx context.Context) (*ledger.Entry, error) {
	x, r := l.x, l.record
	into := x.book.Head(l.parent.name)
	r.Landing = &ports.Landing{Into: l.parent.name, Before: into, After: into, Child: r.Before}
	r.Started, r.Usage = x.engine.now(), ports.Usage{Complete: true}
	l.last, l.since = x.lastLanding(l.space.name)
	if r.Before == lastLanded(l.space.live[:l.space.pos], x.book.Opened(l.space.name).Head) {
		return l.nothing(ctx)
	}
	l.spec = ports.MergeSpec{Head: into, Theirs: r.Before, Branch: l.space.branch, Into: l.parent.branch}
	l.note = ledger.Note{Landing: r.Landing}
	err := l.enter(ctx, l.parent)
	if err == nil {
		err = l.begin(ctx, l.note)
	}
	if err != nil {
		return nil, l.unprepared(ctx, err)
	}
	l.note.Key, l.note.Started, l.note.Name, l.note.Guard = r.Key, r.Started, l.verb.op(), l.guard
	l.began()
	return l.merge(ctx)
}

// lastLanded returns the head that the last of a namespace's records to have
// landed it did land; base if none has.
func lastLanded(records []*ledger.Entry, base string) string {
	for _, e := range slices.Backward(records) {
		if e.Kind == ports.KindLanding && e.Failure == nil {
			return e.Landing.Child
		}
	}
	return base
}

// lastLanding returns the number of a namespace's last landing, live or not, and
// of the last that ended what supported it: what supports the next one is later.
func (x *execution) lastLanding(namespace string) (last, since int) {
	opened := x.book.Opened(namespace)
	if opened == nil {
		return 0, 0
	}
	for _, e := range x.book.Entries() {
		if e.Namespace == namespace && e.Kind == ports.KindLanding && e.Seq > opened.Seq {
			last = e.Seq
			if endsSupport(e) {
				since = e.Seq
			}
		}
	}
	return last, since
}

// endsSupport reports whether what was found out, paid for and typed for a
// landing is done with when that is recorded. It is not, where the landing
// failed for a reason that is not its own: a gate that could not start, an
// agent's limit, a budget that is spent. That is mended elsewhere, and the
// landing then made with what there is.
func endsSupport(e *ledger.Entry) bool {
	return e.Failure == nil || !fromOutside(e.Failure.Kind)
}

func fromOutside(kind ports.Kind) bool { return kind == ports.Unavailable || kind == ports.Denied }

// nothing records a landing of nothing.
func (l *landing) nothing(ctx context.Context) (*ledger.Entry, error) {
	l.record.Ended, l.record.Value = l.x.engine.now(), null
	return l.x.record(context.WithoutCancel(ctx), l.record)
}

var null = json.RawMessage("null")

// merge merges, and goes on until the gate has passed or it is given up.
func (l *landing) merge(ctx context.Context) (*ledger.Entry, error) {
	x := l.x
	m, err := l.tryMerge(ctx)
	switch {
	case errors.Is(err, ports.Invalid) && l.contained(ctx):
		return l.fail(ctx, ports.Unexpected.Errorf(l.verb.op(), "its commits are in %s already, and no landing put them there", l.parent.branch))
	case err != nil:
		return l.stopped(ctx, err)
	case m.Blocked: // there is no merge to decide about, and what is in the way is not of these commits: nothing is recorded of it
		paths := asText(m.Conflicts)
		l.x.publish(l.space.name, ports.Met{Attempt: 1, Paths: paths})
		return l.fail(ctx, &ports.ConflictError{Child: l.space.name, Dir: l.ws.Dir(), Paths: paths})
	}
	var were []ports.ConflictPath // that were in conflict, in any try
	for n := 1; ; n++ {
		c, err := l.met(ctx, n, m)
		if err != nil {
			return l.stopped(ctx, err)
		}
		if c == nil {
			return l.succeed(ctx, m)
		}
		if err := l.restoreHold(ctx, n); err != nil {
			return l.stopped(ctx, err)
		}
		l.note.Try, l.note.Tree = n, ""
		if err := l.rewrite(ctx, ledger.Resolving); err != nil {
			return l.stopped(ctx, err)
		}
		made, err := l.resolve(ctx, c)
		switch halt := l.walk.halted(); {
		case halt != nil && ctx.Err() == nil: // whatever the resolver made of that
			return l.left(ctx, halt)
		case err != nil:
			return l.fail(ctx, fmt.Errorf("%s: %w", l.verb.op(), err))
		case !made.retry:
			return l.fail(ctx, c.gaveUp())
		case ctx.Err() != nil:
			return l.fail(ctx, ctx.Err())
		}
		switch held, err := x.engine.set.Integrator.Rehold(ctx, l.ws, l.spec); {
		case err != nil:
			return l.stopped(ctx, err)
		case !held:
			return l.fail(ctx, mergeEnded(l.verb.op()))
		}
		if err := l.rewrite(ctx, ledger.Merging); err != nil {
			return l.stopped(ctx, err)
		}
		were = union(were, c.Paths)
		if m, err = x.engine.set.Integrator.Resolve(ctx, l.ws, l.spec, were); err != nil {
			return l.stopped(ctx, err)
		}
		if l.note.Tree = m.Tree; m.Tree != "" {
			if err := l.rewrite(ctx, ledger.Merging); err != nil { // the gate may leave something of its own
				return l.stopped(ctx, err)
			}
		}
	}
}

// tryMerge merges in a checkout that is clean, as it is after all that AGL does
// there. One that is not is put back first: to look before each landing would
// cost a third of it.
func (l *landing) tryMerge(ctx context.Context) (ports.Merge, error) {
	m, err := l.x.engine.set.Integrator.Merge(ctx, l.ws, l.spec)
	if !errors.Is(err, ports.Conflicted) {
		return m, err
	}
	if err := l.clean(ctx); err != nil {
		return m, err
	}
	return l.x.engine.set.Integrator.Merge(ctx, l.ws, l.spec)
}

// contained reports whether what is to be landed is in the parent already. It
// is asked only where no merge could be made: to ask before each landing would
// be one more process of git.
func (l *landing) contained(ctx context.Context) bool {
	in, err := l.x.engine.set.History.Contains(ctx, l.spec.Theirs, l.spec.Head)
	return err == nil && in
}

// union returns the paths of both, each once.
func union(a, b []ports.ConflictPath) []ports.ConflictPath {
	all := slices.Clone(a)
	for _, p := range b {
		if !slices.ContainsFunc(all, func(other ports.ConflictPath) bool { return other.Path == p.Path }) {
			all = append(all, p)
		}
	}
	return all
}

// restoreHold writes back what a person, or an agent of the resolver's own, had
// made of the n-th conflict when the run was interrupted.
func (l *landing) restoreHold(ctx context.Context, n int) error {
	key, _, err := l.supportKey("hold", n)
	if err != nil {
		return err
	}
	l.restored = 0
	e := l.x.book.Support(ports.KindHold, l.space.name, key, l.since)
	if e == nil {
		return nil
	}
	l.restored = e.Seq
	done, err := l.x.engine.set.Integrator.Restore(ctx, l.ws, e.Head, "found before what had been left there was written back")
	l.x.tellPutBack(l.parent.name, done)
	l.x.note(l.space.name, "what was left in %s when the run was interrupted is there again", l.ws.Dir())
	return err
}

// met returns the conflict that the n-th try has met, or nil if the gate has
// passed on what it merged to. What an earlier process has met is taken from
// its record, so that the resolver is asked about the same.
func (l *landing) met(ctx context.Context, n int, m ports.Merge) (*Conflict, error) {
	c := &Conflict{Child: l.space.name, Dir: l.ws.Dir(), Attempt: n, Paths: asText(m.Conflicts), landing: l}
	of := []string{m.Tree}
	if len(m.Conflicts) == 0 { // what it meets is the gate's verdict
		gate := l.x.engine.set.Verifier.Gate()
		of = append(of, gate.Command, gate.Timeout.String())
	}
	key, terms, err := l.supportKey("attempt", n, of...)
	if err != nil {
		return nil, err
	}
	if e := l.x.book.Support(ports.KindAttempt, l.space.name, key, l.since); e != nil {
		var met attemptValue
		if err := l.x.supportValue(ctx, e, &met); err != nil {
			return nil, err
		}
		c.Paths, c.Verdict = met.Paths, met.Verdict
		l.x.publish(l.space.name, ports.Met{Attempt: n, Paths: c.Paths, Verdict: c.Verdict})
		return c, nil
	}
	if len(m.Conflicts) == 0 {
		verdict, err := l.build(ctx, m.Tree)
		if err != nil {
			return nil, err
		}
		if verdict.Passed {
			return nil, nil
		}
		c.Verdict = &verdict
		if err := l.settled(ctx, m.Tree); err != nil {
			held, heldErr := l.x.engine.set.Integrator.Held(ctx, l.ws, l.spec)
			if heldErr == nil && (held == ports.HoldNone || held == ports.HoldOther) {
				return nil, &gateError{ports.Unexpected.Errorf("", "the build gate failed (%s) and ended the merge in its checkout; a build leaves HEAD and the merge alone", verdict.Command)}
			}
			return nil, err
		}
	}
	if err := l.support(ctx, ports.KindAttempt, key, terms, attemptValue{c.Paths, c.Verdict}, ""); err != nil {
		return nil, err
	}
	l.x.publish(l.space.name, ports.Met{Attempt: n, Paths: c.Paths, Verdict: c.Verdict})
	return c, nil
}

// asText returns conflicts as they can be recorded, and given to an agent: a name
// is any bytes to git, a document holds text. The Integrator knows them again.
func asText(conflicts []ports.ConflictPath) []ports.ConflictPath {
	text := make([]ports.ConflictPath, len(conflicts))
	for i, c := range conflicts {
		text[i] = c.AsText()
	}
	return text
}

// attemptValue is what is recorded of a conflict.
type attemptValue struct {
	Paths   []ports.ConflictPath `json:"paths"`
	Verdict *ports.Verdict       `json:"verdict"`
}

// settled makes the checkout hold tree and no more, after a gate that has left
// its own there.
func (l *landing) settled(ctx context.Context, tree string) error {
	done, err := l.x.engine.set.Integrator.Settle(ctx, l.ws, tree, "left by the gate in "+l.verb.op())
	l.x.tellPutBack(l.parent.name, done)
	return err
}

// landingKey is the key of what supports a landing: it is about these commits,
// and about the n-th try.
func landingKey(spec ports.MergeSpec, what string, n int, more ...string) (string, []ports.Term, error) {
	terms, err := makeTerms([]Input{
		{"what", what}, {"parent", spec.Head}, {"child", spec.Theirs}, {"try", n}, {"of", more},
	})
	return fingerprint.Key(ports.KindAttempt, terms), terms, err
}

func (l *landing) supportKey(what string, n int, more ...string) (string, []ports.Term, error) {
	return landingKey(l.spec, what, n, more...)
}

// support records something that this landing has found out.
func (l *landing) support(ctx context.Context, kind ports.RecordKind, key string, terms []ports.Term, value any, head string) error {
	doc, err := strictjson.Canonical(value)
	if err != nil {
		return ports.Internal.Errorf(l.verb.op(), "%w", err)
	}
	now := l.x.engine.now()
	_, err = l.x.book.Append(context.WithoutCancel(ctx), &ports.Record{
		Kind: kind, Namespace: l.space.name, Name: l.space.name, Key: key, Terms: terms, Value: doc, Head: head,
		Landing: l.record.Landing, Called: l.record.Called, Started: now, Ended: now,
	})
	return err
}

func (x *execution) supportValue(ctx context.Context, e *ledger.Entry, into any) error {
	doc, err := x.book.Value(ctx, e)
	if err != nil {
		return err
	}
	return strictjson.Decode(doc, into)
}

// rewrite notes what the landing is in the middle of.
func (l *landing) rewrite(ctx context.Context, phase ledger.Phase) error {
	l.note.Phase = phase
	return l.x.book.WriteNote(context.WithoutCancel(ctx), l.space.name, l.note)
}

// succeed commits the tree that the gate has passed, and moves the parent's
// branch there. It cannot be cancelled.
func (l *landing) succeed(ctx context.Context, m ports.Merge) (*ledger.Entry, error) {
	x, r := l.x, l.record
	ctx = context.WithoutCancel(ctx)
	switch at, err := x.engine.set.Workspaces.Branch(ctx, l.parent.branch); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", l.verb.op(), err)
	case at != l.spec.Head: // before anything is recorded that could not be made true
		return l.fail(ctx, ports.Unexpected.Errorf(l.verb.op(),
			"branch %s was moved while it was built, by the build or by somebody else, from %.12s to %.12s; it is put back", l.parent.branch, l.spec.Head, cmp.Or(at, "nowhere")))
	}
	r.Ended = x.engine.now()
	c, err := x.engine.set.Integrator.Commit(ctx, l.spec, m.Tree, ports.CommitSpec{
		Head: l.spec.Head, Message: m.Message, Identity: l.committer, Date: r.Ended,
	})
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", l.verb.op(), err)
	}
	x.tell(l.parent.name, c.Notes)
	r.Value, r.Landing.After, r.Usage = null, c.ID, l.used()
	e, err := x.record(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := x.trees.Move(ctx, l.parent.branch, l.spec.Head, c.ID); err != nil {
		return nil, err
	}
	done, err := x.engine.set.Integrator.Conclude(ctx, l.ws, c.ID, "left by "+l.verb.op())
	x.tellPutBack(l.parent.name, done)
	if err != nil {
		x.note(l.parent.name, "the checkout could not be put back after %s: %v", l.verb.op(), err)
	}
	return e, nil
}

// used returns what the agents in the landing's conflicts were bought for, by
// this process and by those before it.
func (l *landing) used() ports.Usage {
	sum := ports.Usage{Complete: true}
	for _, e := range l.x.book.Entries() {
		if e.Kind == ports.KindFix && e.Namespace == l.space.name && e.Seq > l.since &&
			e.Landing.Before == l.record.Landing.Before && e.Landing.Child == l.record.Landing.Child {
			sum = sum.Add(e.Usage)
		}
	}
	return sum
}

// fail ends a landing that is not made: the merge is ended, what is in it is
// salvaged, and the failure is recorded, unless it was cancelled.
func (l *landing) fail(ctx context.Context, cause error) (*ledger.Entry, error) {
	l.record.Usage = l.used()
	if ctx.Err() == nil && l.note.Try > 0 && fromOutside(ports.KindOf(cause)) { // it will be made with this
		if err := l.x.recordHold(ctx, l.ws, l.spec, l.space.name, &l.note, l.committer); err != nil {
			return l.left(ctx, errors.Join(cause, err))
		}
	}
	return l.attempt.fail(ctx, cause)
}

// stopped ends a landing that could not be concluded, by no fault of what is
// landed. A resume makes it again.
func (l *landing) stopped(ctx context.Context, cause error) (*ledger.Entry, error) {
	var rejected *ports.RejectedError
	var gate *gateError
	var unmergeable *ports.UnmergeableError
	if ctx.Err() != nil || errors.As(cause, &rejected) || errors.As(cause, &gate) || errors.As(cause, &unmergeable) {
		return l.fail(ctx, fmt.Errorf("%s: %w", l.verb.op(), cause))
	}
	return l.left(ctx, cause)
}

// left leaves a landing as it is, with its hold: a resume settles it.
func (l *landing) left(ctx context.Context, cause error) (*ledger.Entry, error) {
	if err := l.reap(context.WithoutCancel(ctx)); err != nil {
		return nil, errors.Join(cause, err)
	}
	return nil, fmt.Errorf("%s: %w", l.verb.op(), cause)
}
