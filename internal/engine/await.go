package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// inboxInterval is how often it is looked whether a question was answered from
// elsewhere.
const inboxInterval = 400 * time.Millisecond

// await waits for the answer to a question: at the terminal, from elsewhere, or
// otherwise, where nobody is there. While it waits, the question is a document
// of the run, which Questions lists and Answer checks answers by; it stays there
// when the run is stopped or killed, until it is asked again. Where only what
// asked has been given up, it goes: nothing waits for an answer any more.
func (a *attempt) await(ctx context.Context, q ports.Question, otherwise *string) (answer string, err error) {
	x := a.x
	by := ports.NotAnswered
	defer func() { x.publish(q.Namespace, ports.Answered{Question: q, Answer: answer, By: by}) }()
	given, err := x.inbox(ctx, q)
	switch {
	case err != nil:
		return "", a.unasked(ctx, q, err)
	case given != nil:
		by = ports.AnsweredElsewhere
		return given.Answer, nil
	case otherwise != nil && !x.attended():
		by = ports.AnsweredDefault
		return *otherwise, nil
	}
	if err := ledger.WriteQuestion(ctx, x.engine.set.Store, q, x.engine.now()); err != nil {
		return "", a.unasked(ctx, q, err)
	}
	x.publish(q.Namespace, ports.Asked{Question: q})
	a.waits(1)
	defer a.waits(-1)
	answer, by, err = a.wait(ctx, q, otherwise)
	if err != nil && a.walk.goesOn() { // nothing waits for an answer any more
		x.dropQuestion(ctx, q.ID)
	}
	return answer, err
}

// unasked is the error of a question that could not be put.
func (a *attempt) unasked(ctx context.Context, q ports.Question, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return a.walk.stop(fmt.Errorf("ask %q: %w", ports.Clip(q.Text, 60), err))
}

// wait waits for the answer to a question that is written down.
func (a *attempt) wait(ctx context.Context, q ports.Question, otherwise *string) (string, ports.AnsweredBy, error) {
	x, w := a.x, a.walk
	person := a.put(ctx, q)
	defer person.leave()
	ticker := time.NewTicker(inboxInterval)
	defer ticker.Stop()
	end := func(err error) (string, ports.AnsweredBy, error) {
		if answer, ok := person.last(); ok && ports.CheckAnswer(q, answer) == nil {
			return answer, ports.AnsweredHere, nil
		}
		return "", "", err
	}
	for quiet := 0; ; {
		halting := w.halting
		if person.there() && a.verb.kind != ports.KindAnswer {
			halting = nil // what an agent or a resolver has done so far is worth the wait
		}
		select {
		case said := <-person.said:
			switch {
			case said.err != nil && ctx.Err() != nil:
				return "", "", ctx.Err()
			case said.err == nil:
				if err := ports.CheckAnswer(q, said.answer); err != nil {
					return "", "", w.stop(ports.Internal.Errorf("ask", "the terminal gave an answer that is none: %w", err))
				}
				return said.answer, ports.AnsweredHere, nil
			case !errors.Is(said.err, ports.Unavailable):
				return "", "", a.unasked(ctx, q, said.err)
			}
			person.gone()
			if otherwise != nil {
				return *otherwise, ports.AnsweredDefault, nil
			}
		case <-ticker.C:
			given, err := x.inbox(ctx, q)
			switch {
			case err != nil:
				return end(a.unasked(ctx, q, err))
			case given != nil:
				return given.Answer, ports.AnsweredElsewhere, nil
			case person.there() || !w.quiet():
				quiet = 0
				continue
			}
			if quiet++; quiet > 1 { // a verb that was about to begin has begun by now
				return "", "", w.stop(w.unanswered())
			}
		case <-ctx.Done():
			return end(ctx.Err())
		case <-halting:
			return end(w.halted())
		}
	}
}

// inbox returns the answer that was given to a question from elsewhere, or nil.
// One that is none is dropped, and told of.
func (x *execution) inbox(ctx context.Context, q ports.Question) (*ledger.Given, error) {
	given, err := x.given(ctx, q.Namespace, q.ID)
	if err != nil || given == nil {
		return nil, err
	}
	if err := ports.CheckAnswer(q, given.Answer); err != nil {
		return nil, x.dropGiven(ctx, q.Namespace, q.ID, err)
	}
	return given, nil
}

// given returns the answer of an id that waits to be taken, or nil. What cannot
// be read is dropped, and told of: anybody writes there, and what an agent or a
// person does meanwhile is worth more.
func (x *execution) given(ctx context.Context, namespace, id string) (*ledger.Given, error) {
	given, err := ledger.ReadAnswer(ctx, x.engine.set.Store, x.label, id)
	var corrupt *ports.CorruptError
	if errors.As(err, &corrupt) {
		return nil, x.dropGiven(ctx, namespace, id, fmt.Errorf("%s: %w", corrupt.File, corrupt.Err))
	}
	return given, err
}

func (x *execution) dropGiven(ctx context.Context, namespace, id string, why error) error {
	x.note(namespace, "what was given as the answer to question %s is dropped: %v", id, why)
	return ledger.DropAnswer(ctx, x.engine.set.Store, x.label, id)
}

// settle removes the documents of a question that is answered. An answer that
// stays, because the process dies here, is dropped by the next. Who leaves one
// when the question has gone sees that (Engine.Answer); the answer that was taken
// goes before it.
func (x *execution) settle(ctx context.Context, q ports.Question, answer string) {
	ctx = context.WithoutCancel(ctx)
	err := x.dropAnswer(ctx, q, answer)
	x.dropQuestion(ctx, q.ID)
	if err == nil {
		err = x.dropAnswer(ctx, q, answer)
	}
	if err != nil {
		x.note(q.Namespace, "what is left of question %s could not be removed: %v", q.ID, err)
	}
}

// dropAnswer removes what was given to a question from elsewhere, and tells of it
// if that is not the answer that counts.
func (x *execution) dropAnswer(ctx context.Context, q ports.Question, answer string) error {
	given, err := x.given(ctx, q.Namespace, q.ID)
	if err != nil || given == nil {
		return err
	}
	if given.Answer != answer {
		x.note(q.Namespace, "question %s was answered from elsewhere as well (%s): that is not used", q.ID, ports.Clip(ports.Printable(given.Answer), 100))
	}
	return ledger.DropAnswer(ctx, x.engine.set.Store, x.label, q.ID)
}

// dropQuestion removes the document of a question that waits no more: from then
// on nobody can answer it from elsewhere.
func (x *execution) dropQuestion(ctx context.Context, id string) {
	if err := ledger.DropQuestion(context.WithoutCancel(ctx), x.engine.set.Store, x.label, id); err != nil {
		x.note("", "question %s could not be removed: %v", id, err)
	}
}

// A person is whoever sits at the terminal, asked one question.
type person struct {
	x      *execution
	said   chan said // nil when nobody is there
	cancel context.CancelFunc
	ended  chan struct{} // closed when the terminal has been left
}

type said struct {
	answer string
	err    error
}

// put asks the person at the terminal, if there is one.
func (a *attempt) put(ctx context.Context, q ports.Question) *person {
	x, p := a.x, &person{x: a.x}
	if !x.attended() {
		return p
	}
	terminal := x.engine.set.Terminal
	p.said, p.ended = make(chan said, 1), make(chan struct{})
	ctx, p.cancel = context.WithCancel(ctx)
	go func() {
		defer close(p.ended)
		answer, err := guardPanic(x, "terminal", func() (string, error) { return terminal.Ask(ctx, q) })
		p.said <- said{answer, err}
	}()
	return p
}

// attended reports whether somebody sits at the terminal.
func (x *execution) attended() bool {
	terminal := x.engine.set.Terminal
	return terminal != nil && !x.left.Load() && terminal.Attended()
}

func (p *person) there() bool { return p.said != nil }

// gone says that nobody sits there any more.
func (p *person) gone() {
	p.x.left.Store(true)
	p.said = nil
}

// leave takes the question back.
func (p *person) leave() {
	if p.cancel != nil {
		p.cancel()
		<-p.ended
	}
}

// last takes the question back, and returns the answer that was given in that
// instant: the person has seen the question go.
func (p *person) last() (answer string, ok bool) {
	p.leave()
	select {
	case said := <-p.said:
		return said.answer, said.err == nil
	default:
		return "", false
	}
}

// waits counts the questions that the attempt waits for. While there is one its
// verb stands still.
func (a *attempt) waits(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.waiting
	a.waiting += n
	switch {
	case was == 0:
		a.walk.still.Add(1)
	case a.waiting == 0:
		a.walk.still.Add(-1)
	}
}

// quiet reports whether every verb in flight waits for a person, or for another
// that does: without an answer nothing goes on.
func (w *walk) quiet() bool { return w.still.Load() >= w.flight.Load() }

// unanswered is the error of a run that cannot go on without answers.
func (w *walk) unanswered() error {
	var open []ports.Question
	for _, ns := range w.x.snapshot().Namespaces {
		open = append(open, ns.Asking...)
	}
	slices.SortStableFunc(open, func(a, b ports.Question) int { return b.Priority - a.Priority })
	return &ports.UnansweredError{Label: w.x.label, Questions: open}
}
