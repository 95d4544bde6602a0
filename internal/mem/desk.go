package mem

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.com/agl/ports"
)

// A Desk is a terminal in memory: its person reads and answers by its methods.
// It may be used by several goroutines.
type Desk struct {
	mu      sync.Mutex
	waiting []*waiting // the first is on the screen
	runs    []*ports.Watched
	left    bool
}

var _ ports.Terminal = (*Desk)(nil)

// A waiting question.
type waiting struct {
	q     ports.Question
	typed string
	said  chan said // of one place
}

type said struct {
	answer string
	err    error
}

// Attended is true.
func (d *Desk) Attended() bool { return true }

// Ask puts a question, and waits for its answer.
func (d *Desk) Ask(ctx context.Context, q ports.Question) (string, error) {
	if err := ports.CheckQuestion(q); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	w := &waiting{q: q, said: make(chan said, 1)}
	d.put(w)
	select {
	case s := <-w.said:
		return s.answer, s.err
	case <-ctx.Done():
	}
	if d.takeBack(w) {
		return "", context.Cause(ctx)
	}
	s := <-w.said // in that instant
	return s.answer, s.err
}

// takeBack removes a question, if it still waits.
func (d *Desk) takeBack(w *waiting) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.Index(d.waiting, w)
	if at >= 0 {
		d.waiting = slices.Delete(d.waiting, at, at+1)
	}
	return at >= 0
}

func (d *Desk) put(w *waiting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left {
		w.said <- said{err: errLeft}
		return
	}
	at := slices.IndexFunc(d.waiting, func(other *waiting) bool { return other.q.Priority < w.q.Priority })
	if at < 0 {
		at = len(d.waiting)
	}
	d.waiting = slices.Insert(d.waiting, at, w)
}

var errLeft = ports.Unavailable.Errorf("", "the person has left")

// Watch shows a run.
func (d *Desk) Watch(run ports.Watched) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	shown := &run
	d.runs = append(d.runs, shown)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.runs = slices.DeleteFunc(d.runs, func(other *ports.Watched) bool { return other == shown })
	}
}

// Screen returns what is on the screen: the first question, or what the runs show
// that are watched.
func (d *Desk) Screen() string {
	d.mu.Lock()
	runs := slices.Clone(d.runs)
	if len(d.waiting) > 0 {
		defer d.mu.Unlock()
		return d.waiting[0].q.Text
	}
	d.mu.Unlock()
	var all strings.Builder
	for _, run := range runs {
		if run.View == nil {
			continue
		}
		if s, ok := run.View(run.Status()); ok {
			fmt.Fprintln(&all, s)
		}
	}
	return all.String()
}

// Waiting returns how many questions wait, that on the screen included.
func (d *Desk) Waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)
}

// Type adds to what is typed for the question on the screen.
func (d *Desk) Type(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > 0 {
		d.waiting[0].typed += text
	}
}

// Write adds to what is typed for the question on the screen, and answers it by
// that, if it is an answer to it.
func (d *Desk) Write(text string) {
	d.Type(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > 0 {
		d.send(d.waiting[0].typed)
	}
}

// Choose answers the question on the screen by its i-th option, from 0.
func (d *Desk) Choose(i int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > 0 && i < len(d.waiting[0].q.Options) {
		d.send(d.waiting[0].q.Options[i])
	}
}

func (d *Desk) send(answer string) {
	if w := d.waiting[0]; ports.CheckAnswer(w.q, answer) == nil {
		d.waiting = d.waiting[1:]
		w.said <- said{answer: answer}
	}
}

// Leave says that nobody sits there any more.
func (d *Desk) Leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = true
	for _, w := range d.waiting {
		w.said <- said{err: errLeft}
	}
	d.waiting = nil
}
