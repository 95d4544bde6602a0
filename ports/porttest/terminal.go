package porttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/agl/ports"
)

// A Person is the hand and the eyes of whoever sits at a terminal that is
// graded. One goroutine at a time calls its functions. A terminal that takes no
// key for a moment is the business of those that press one: they wait.
type Person struct {
	// Screen returns what is on the screen, as text. The questions that the
	// suite looks for are a short line each, so that they are not wrapped: one is
	// shown if its text is in the screen's.
	Screen func() string
	// Choose answers the question on the screen by its i-th option, from 0.
	Choose func(i int)
	// Write answers the question on the screen by a text: it is typed behind what
	// is there, and sent. A question with options has it entered where it takes
	// a text of one's own.
	Write func(text string)

	// Type types a text and sends nothing. Nil: what is typed cannot be kept.
	Type func(text string)
	// Waiting returns how many questions wait, that on the screen included. Nil:
	// nobody is told.
	Waiting func() int
	// Leave goes away, as by closing the terminal's window. Nil: nobody can.
	Leave func()
	// Watches says that what the watched runs show is on the screen while there is
	// no question.
	Watches bool
}

// TerminalOptions say how to get at the terminals to be graded. New is
// required; a rule that needs something that is not given is skipped, saying
// so.
type TerminalOptions struct {
	// New returns a terminal that shares nothing with any other, and the person
	// who sits at it: nil if nobody does.
	New func(t testing.TB) (ports.Terminal, *Person)
}

// Terminal grades an implementation of ports.Terminal. Each rule of its
// contract is a parallel subtest.
func Terminal(t *testing.T, opts TerminalOptions) {
	t.Helper()
	grade(t, terminalRules(), opts.subject)
}

// A seat is what the rules are checked against.
type seat struct {
	ports.Terminal
	person *Person
}

func (o TerminalOptions) subject(t testing.TB) seat {
	terminal, person := o.New(t)
	return seat{terminal, person}
}

// taken skips a rule about a person where there is none.
func (s seat) taken(c *check) { c.needs(s.person != nil, "a Person of TerminalOptions.New") }

// empty skips a rule about nobody where somebody is.
func (s seat) empty(c *check) { c.needs(s.person == nil, "a TerminalOptions.New without a Person") }

// A reply is what comes of a question.
type reply struct {
	text   string
	answer string
	err    error
	done   chan struct{} // closed when there is one
}

// put asks a question in a goroutine of its own.
func (s seat) put(ctx context.Context, c *check, q ports.Question) *reply {
	r := &reply{text: q.Text, done: make(chan struct{})}
	if q.ID == "" {
		q.ID = "0123456789"
	}
	q.Run, q.Namespace = "label", "_base"
	go func() {
		defer close(r.done)
		defer c.recovered()
		r.answer, r.err = s.Ask(ctx, q)
	}()
	return r
}

// ask puts a question and waits until it is on the screen.
func (s seat) ask(c *check, q ports.Question) *reply {
	r := s.put(c.Context(), c, q)
	s.shows(c, q.Text)
	return r
}

// shows waits until a question is on the screen, and ends the rule if it does
// not come there.
func (s seat) shows(c *check, text string) {
	s.until(c, func() bool { return strings.Contains(s.person.Screen(), text) },
		func() {
			c.told("%q is not on the screen; want it there, it is its turn; there is:\n%s", text, s.person.Screen())
		})
}

// waits waits until so many questions wait.
func (s seat) waits(c *check, n int) {
	s.until(c, func() bool { return s.person.Waiting() == n },
		func() { c.told("%d questions are said to wait; want %d", s.person.Waiting(), n) })
}

// until polls a condition, and ends the rule if it does not come true.
func (s seat) until(c *check, holds func() bool, otherwise func()) {
	deadline := time.NewTimer(promptly)
	defer deadline.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-poll.C:
			continue
		case <-deadline.C:
		case <-c.Context().Done():
		}
		otherwise()
		c.FailNow()
	}
}

// hidden fails the rule if a question is on the screen that is not to be.
func (s seat) hidden(c *check, text, why string) {
	if strings.Contains(s.person.Screen(), text) {
		c.Errorf("%q is on the screen; want it not there, as %s", text, why)
	}
}

// wait waits for what comes of a question.
func (r *reply) wait(c *check) {
	c.soon("asking "+excerpt(r.text), func() {
		select {
		case <-r.done:
		case <-c.Context().Done():
		}
	})
}

// wants fails the rule unless the question was answered by a text.
func (r *reply) wants(c *check, answer string) {
	r.wait(c)
	switch {
	case r.err != nil:
		c.Errorf("asking %q: got error %v; want the answer %s", r.text, r.err, excerpt(answer))
	case r.answer != answer:
		c.Errorf("asking %q: got the answer %s; want %s", r.text, excerpt(r.answer), excerpt(answer))
	}
}

// fails fails the rule unless the question was not answered, because of a cause.
func (r *reply) fails(c *check, cause error, doing string) {
	r.wait(c)
	if !errors.Is(r.err, cause) {
		c.Errorf("%s: got the answer %s, error %v; want the error to be %v", doing, excerpt(r.answer), r.err, cause)
	}
}

// open fails the rule if the question has been answered.
func (r *reply) open(c *check, when string) {
	select {
	case <-r.done:
		c.Errorf("%s, asking %q has returned %s, error %v; want it to wait on", when, r.text, excerpt(r.answer), r.err)
	default:
	}
}
