package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/internal/ledger"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Query is a question to a person, as a workflow asks it.
type Query struct {
	Text     string
	Options  []string
	Priority int
	Default  *string // what it comes to where nobody is there; nil: it waits
	Inputs   []Input
	// Deliver hands the answer to the caller: a JSON string.
	Deliver func(value json.RawMessage) error
}

// question returns what a person is asked.
func (q *Query) question(x *execution, namespace, from string) (ports.Question, error) {
	options := q.Options
	if options == nil {
		options = []string{}
	}
	asked := ports.Question{Run: x.label, Namespace: namespace, From: from, Text: q.Text, Options: options, Priority: q.Priority}
	if err := ports.CheckQuestion(asked); err != nil {
		return asked, err
	}
	if q.Default != nil {
		if err := ports.CheckAnswer(asked, *q.Default); err != nil {
			return asked, fmt.Errorf("question %q: its value for when nobody is there: %w", ports.Clip(q.Text, 200), err)
		}
	}
	return asked, nil
}

// terms are what the key of an answer is made of.
func (q *Query) terms(asked ports.Question) ([]ports.Term, error) {
	terms, err := makeTerms([]Input{{"question", asked.Text}, {"options", asked.Options}})
	if err != nil {
		return nil, err
	}
	inputs, err := inputTerms(q.Inputs)
	return append(terms, inputs...), err
}

// questionID is what a question is answered under from elsewhere: it follows
// from its key, its namespace, and the how manieth of its name it is there, so
// that no other is ever given its answer.
func questionID(namespace, key string, ordinal int) string {
	term, err := fingerprint.Term("question", []string{namespace, key, fmt.Sprint(ordinal)})
	if err != nil {
		panic(err) // strings of our own are always JSON
	}
	return term.Digest[:idLength]
}

// idLength is how long a question's id is, in hex digits: enough for those of one
// run, and short enough to type.
const idLength = 10

// Ask asks a person, unless it is recorded. It needs no checkout: children land
// meanwhile.
func (r *Run) Ask(ctx context.Context, q *Query) error {
	asked, err := q.question(r.walk.x, r.space.name, "")
	if err != nil {
		return fmt.Errorf("%w; nobody was asked: mend the workflow, then resume", err)
	}
	terms, err := q.terms(asked)
	if err != nil {
		return fmt.Errorf("question %q: %w", ports.Clip(q.Text, 200), err)
	}
	return r.take(ctx, &verb{
		kind: ports.KindAnswer, name: ports.Clip(ports.Printable(q.Text), 60), terms: terms, deliver: q.Deliver,
		run: func(ctx context.Context, a *attempt) (*ledger.Entry, error) {
			asked.ID = questionID(a.space.name, a.verb.key, a.verb.ordinal)
			return a.ask(ctx, asked, q.Default)
		},
	})
}

// ask asks, and records the answer. A deadline that passes is a failure; nobody
// being there is not: a resume asks again.
func (a *attempt) ask(ctx context.Context, q ports.Question, otherwise *string) (*ledger.Entry, error) {
	x, r := a.x, a.record
	r.Started, r.Usage = x.engine.now(), ports.Usage{Complete: true}
	a.began()
	answer, err := a.await(ctx, q, otherwise)
	r.Ended = x.engine.now()
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.Failure = ports.FailureOf(ports.Unexpected.Errorf(a.verb.op(), "it was not answered: %w", context.DeadlineExceeded))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", a.verb.op(), err)
	default:
		if r.Value, err = strictjson.Canonical(answer); err != nil {
			return nil, ports.Internal.Errorf(a.verb.op(), "%w", err)
		}
	}
	e, err := x.record(context.WithoutCancel(ctx), r)
	if err == nil {
		x.settle(ctx, q, answer)
	}
	return e, err
}

// Ask asks a person about the conflict as it stands, unless that was answered for
// these very commits: a landing that was interrupted goes on where it was. One
// that was given up, and is tried again, asks again.
func (c *Conflict) Ask(ctx context.Context, q *Query) error {
	l := c.landing
	asked, err := q.question(l.x, l.space.name, l.verb.op())
	if err != nil {
		return err
	}
	terms, err := q.terms(asked)
	if err != nil {
		return fmt.Errorf("question %q: %w", ports.Clip(q.Text, 200), err)
	}
	n, err := c.enter("ask in a conflict")
	if err != nil {
		return err
	}
	defer c.leave()
	key, about, err := l.supportKey("ask", c.Attempt, fmt.Sprint(n), fingerprint.Key(ports.KindAnswer, terms))
	if err != nil {
		return err
	}
	asked.ID = questionID(l.space.name, key, 1)
	value, err := l.reply(ctx, asked, reply{key: key, terms: append(about, terms...), since: l.since, otherwise: q.Default, landing: l.record.Landing})
	if err != nil {
		return fmt.Errorf("ask in %s: %w", l.verb.op(), err)
	}
	return q.Deliver(value)
}
