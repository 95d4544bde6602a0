// Package questions keeps the questions that wait for the person at one
// terminal: which of them is on the screen, what the person has typed for each,
// and whether a key that was pressed was meant for it.
package questions

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/agl/ports"
)

// Guard is how long after another question was on the screen no key is taken: a
// person who presses Enter then has read the other one.
const Guard = 300 * time.Millisecond

// An ID tells askings apart. Two questions of the same text have two; 0 is
// nobody's.
type ID uint64

// A Draft is what a person has done about a question so far.
type Draft struct {
	Text    string // typed, of a text of one's own
	Cursor  int    // in Text, in runes
	Writing bool   // whether it is a text of one's own that is being given
	Filter  string // typed, to find an option
	Option  int    // the selected one, of those that the filter leaves
	Scroll  int    // how many lines of the question are scrolled away
}

// A Shown is the question on the screen.
type Shown struct {
	ID       ID
	Question ports.Question
	Draft    Draft
	More     int // how many wait behind it
}

// A Queue is questions by priority, and first in, first out within one. The
// first of them is on the screen. It may be used by several goroutines.
type Queue struct {
	now     func() time.Time
	changed chan struct{}
	done    chan struct{} // closed by Close

	mu       sync.Mutex
	waiting  []*asking // the first is on the screen
	last     ID
	shown    ID        // on the screen; 0: none
	replaced time.Time // when a question last left the screen; zero: never
}

// An asking is one call of Ask.
type asking struct {
	id     ID
	q      ports.Question
	draft  Draft
	answer chan string // of one place
}

// New returns an empty queue. A nil now is time.Now.
func New(now func() time.Time) *Queue {
	if now == nil {
		now = time.Now
	}
	return &Queue{now: now, changed: make(chan struct{}, 1), done: make(chan struct{})}
}

// Ask puts a question and waits for its answer. When ctx ends, the question is
// taken back, and the error is the cause of that. A closed queue is Unavailable,
// and a question that nobody could answer Invalid.
func (qs *Queue) Ask(ctx context.Context, q ports.Question) (string, error) {
	if err := ports.CheckQuestion(q); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	q.Options = slices.Clone(q.Options)
	a := qs.add(q)
	if a == nil {
		return "", gone()
	}
	var otherwise error
	select {
	case answer := <-a.answer:
		return answer, nil
	case <-ctx.Done():
		otherwise = context.Cause(ctx)
	case <-qs.done:
		otherwise = gone()
	}
	if qs.remove(a) {
		return "", otherwise
	}
	return <-a.answer, nil // it was answered in that instant: the person has seen it go
}

func gone() error { return ports.Unavailable.Errorf("ask", "nobody sits at the terminal") }

// add queues a question, or returns nil if nobody answers any more.
func (qs *Queue) add(q ports.Question) *asking {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.closed() {
		return nil
	}
	qs.last++
	a := &asking{id: qs.last, q: q, answer: make(chan string, 1)}
	at := slices.IndexFunc(qs.waiting, func(other *asking) bool { return other.q.Priority < q.Priority })
	if at < 0 {
		at = len(qs.waiting)
	}
	qs.waiting = slices.Insert(qs.waiting, at, a)
	qs.settle()
	return a
}

// remove takes a question back, if it still waits.
func (qs *Queue) remove(a *asking) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	at := slices.Index(qs.waiting, a)
	if at >= 0 {
		qs.waiting = slices.Delete(qs.waiting, at, at+1)
		qs.settle()
	}
	return at >= 0
}

// settle is for when the questions that wait have changed.
func (qs *Queue) settle() {
	first := ID(0)
	if len(qs.waiting) > 0 {
		first = qs.waiting[0].id
	}
	if first != qs.shown {
		if qs.shown != 0 {
			qs.replaced = qs.now()
		}
		qs.shown = first
	}
	select {
	case qs.changed <- struct{}{}:
	default: // the last change was not looked at yet
	}
}

func (qs *Queue) closed() bool {
	select {
	case <-qs.done:
		return true
	default:
		return false
	}
}

// Changed returns a channel that has a value when the questions have changed
// since the last was received.
func (qs *Queue) Changed() <-chan struct{} { return qs.changed }

// Shown returns the question that belongs on the screen, if there is one.
func (qs *Queue) Shown() (Shown, bool) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if len(qs.waiting) == 0 {
		return Shown{}, false
	}
	a := qs.waiting[0]
	return Shown{ID: a.id, Question: a.q, Draft: a.draft, More: len(qs.waiting) - 1}, true
}

// Keep remembers what a person has done about a question, on the screen or not.
// Of one that does not wait any more it is forgotten.
func (qs *Queue) Keep(id ID, draft Draft) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	for _, a := range qs.waiting {
		if a.id == id {
			a.draft = draft
		}
	}
}

// Takes reports whether a key that is pressed now is meant for a question: it is
// on the screen, and no other was there a moment ago.
func (qs *Queue) Takes(id ID) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	return qs.takes(id)
}

func (qs *Queue) takes(id ID) bool {
	return id != 0 && id == qs.shown && (qs.replaced.IsZero() || qs.now().Sub(qs.replaced) >= Guard)
}

// Answer answers the question on the screen. The error is Conflicted if the
// question is not there, or took the place of another a moment ago, and Invalid
// if this is no answer to it; then it waits on.
func (qs *Queue) Answer(id ID, answer string) error {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if !qs.takes(id) {
		return ports.Conflicted.Errorf("answer", "another question was on the screen")
	}
	a := qs.waiting[0]
	if err := ports.CheckAnswer(a.q, answer); err != nil {
		return err
	}
	a.answer <- answer
	qs.waiting = slices.Delete(qs.waiting, 0, 1)
	qs.settle()
	return nil
}

// Close says that nobody answers any more: what waits, and what is asked later,
// is Unavailable. It may be called again.
func (qs *Queue) Close() {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if !qs.closed() {
		close(qs.done)
	}
}
