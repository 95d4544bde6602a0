package porttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A brokenTerminal is a good one, some of whose calls are changed.
type brokenTerminal struct {
	*mem.Desk
	attended func() bool
	ask      func(ctx context.Context, q ports.Question) (string, error)
	watch    func(run ports.Watched) func()
}

func (b *brokenTerminal) Attended() bool { return b.attended() }
func (b *brokenTerminal) Ask(ctx context.Context, q ports.Question) (string, error) {
	return b.ask(ctx, q)
}
func (b *brokenTerminal) Watch(run ports.Watched) func() { return b.watch(run) }

// breakTerminal returns a maker of terminals with a person that are broken as
// change says.
func breakTerminal(change func(b *brokenTerminal, p *Person)) func(testing.TB) seat {
	return func(testing.TB) seat {
		d := &mem.Desk{}
		b := &brokenTerminal{d, d.Attended, d.Ask, d.Watch}
		p := &Person{Screen: d.Screen, Choose: d.Choose, Write: d.Write, Type: d.Type, Waiting: d.Waiting, Leave: d.Leave, Watches: true}
		change(b, p)
		return seat{b, p}
	}
}

// breakEmpty is the same of terminals that nobody sits at.
func breakEmpty(change func(b *brokenTerminal)) func(testing.TB) seat {
	return func(testing.TB) seat {
		d := &mem.Desk{}
		d.Leave()
		b := &brokenTerminal{d, func() bool { return false }, d.Ask, func(ports.Watched) func() { return func() {} }}
		change(b)
		return seat{b, nil}
	}
}

// misheard breaks what a terminal answers.
func misheard(answer func(q ports.Question, answer *string, err *error)) func(testing.TB) seat {
	return breakTerminal(func(b *brokenTerminal, _ *Person) {
		b.ask = func(ctx context.Context, q ports.Question) (string, error) {
			said, err := b.Desk.Ask(ctx, q)
			answer(q, &said, &err)
			return said, err
		}
	})
}

// asked breaks what a terminal asks.
func asked(ask func(b *brokenTerminal, ctx context.Context, q ports.Question) (string, error)) func(testing.TB) seat {
	return breakTerminal(func(b *brokenTerminal, _ *Person) {
		b.ask = func(ctx context.Context, q ports.Question) (string, error) { return ask(b, ctx, q) }
	})
}

// A shelf is questions whose order and drafts are wrong in one way.
type shelf struct {
	mu      sync.Mutex
	waiting []*shelved
	place   func(s *shelf, q *shelved) int // where a new one is put
	typed   *string                        // of all; nil: of each its own
}

type shelved struct {
	q     ports.Question
	typed string
	said  chan string
}

func (s *shelf) ask(ctx context.Context, q ports.Question) (string, error) {
	mine := &shelved{q: q, said: make(chan string, 1)}
	s.mu.Lock()
	s.waiting = slices.Insert(s.waiting, s.place(s, mine), mine)
	s.mu.Unlock()
	select {
	case said := <-mine.said:
		return said, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *shelf) write(text string, send bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.waiting[0]
	typed := &first.typed
	if s.typed != nil {
		typed = s.typed
	}
	*typed += text
	if send {
		s.waiting = s.waiting[1:]
		first.said <- *typed
		*typed = ""
	}
}

func (s *shelf) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return ""
	}
	return s.waiting[0].q.Text
}

func (s *shelf) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// shelve returns a maker of terminals that keep their questions on a shelf.
func shelve(make func() *shelf) func(testing.TB) seat {
	return breakTerminal(func(b *brokenTerminal, p *Person) {
		s := make()
		b.ask = s.ask
		p.Screen, p.Waiting = s.screen, s.len
		p.Type = func(text string) { s.write(text, false) }
		p.Write = func(text string) { s.write(text, true) }
	})
}

// behind is where a question belongs: behind those of its priority, if ahead is
// false.
func behind(s *shelf, q *shelved, ahead bool) int {
	at := slices.IndexFunc(s.waiting, func(other *shelved) bool {
		return other.q.Priority < q.q.Priority || ahead && other.q.Priority == q.q.Priority
	})
	if at < 0 {
		return len(s.waiting)
	}
	return at
}

func TestTheTerminalSuiteFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	names(t, terminalRules())
	const impatient = 400 * time.Millisecond
	find(t, terminalRules(), []broken[seat]{
		{fault: "nobody is said to be there", rule: "somebody is there or nobody", says: "Attended", fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			b.attended = func() bool { return false }
		})},
		{fault: "somebody comes", rule: "somebody is there or nobody", fresh: breakEmpty(func(b *brokenTerminal) {
			var n atomic.Int32
			b.attended = func() bool { return n.Add(1) > 1 }
		})},
		{fault: "answers by the number of an option", rule: "an option is an answer", fresh: misheard(func(q ports.Question, answer *string, _ *error) {
			*answer = fmt.Sprint(slices.Index(q.Options, *answer) + 1)
		})},
		{fault: "cleans an option", rule: "an option is an answer", says: `\x1b[31mred`, fresh: misheard(func(_ ports.Question, answer *string, _ *error) {
			*answer = ports.Printable(*answer)
		})},
		{fault: "trims a text", rule: "a text is an answer", says: `" spaces  around "`, fresh: misheard(func(_ ports.Question, answer *string, _ *error) {
			*answer = strings.TrimSpace(*answer)
		})},
		{fault: "reads a line", rule: "a text is an answer", says: `"one\ntwo\n\nfour"`, fresh: misheard(func(_ ports.Question, answer *string, _ *error) {
			*answer, _, _ = strings.Cut(*answer, "\n")
		})},
		{fault: "reads so much", rule: "a text is an answer", says: "(4096 bytes)", fresh: misheard(func(_ ports.Question, answer *string, _ *error) {
			*answer = (*answer)[:min(len(*answer), 4096)]
		})},
		{fault: "knows options only", rule: "a text may be an answer beside options", limit: impatient, fresh: asked(func(b *brokenTerminal, ctx context.Context, q ports.Question) (string, error) {
			q.Free = false
			return b.Desk.Ask(ctx, q)
		})},
		{fault: "takes nothing for an answer", rule: "a blank text is no answer", limit: impatient, fresh: shelve(func() *shelf {
			return &shelf{place: func(s *shelf, q *shelved) int { return behind(s, q, false) }}
		})},
		{fault: "asks what nobody can answer", rule: "what nobody could answer is not asked", limit: impatient, fresh: shelve(func() *shelf {
			return &shelf{place: func(s *shelf, q *shelved) int { return behind(s, q, false) }}
		})},
		{fault: "refuses without a kind", rule: "what nobody could answer is not asked", says: `kind is ""`, fresh: misheard(func(_ ports.Question, _ *string, err *error) {
			*err = fmt.Errorf("no: %v", *err)
		})},
		{fault: "asks all the same", rule: "what is asked too late is not asked", limit: impatient, fresh: asked(func(b *brokenTerminal, ctx context.Context, q ports.Question) (string, error) {
			return b.Desk.Ask(context.WithoutCancel(ctx), q)
		})},
		{fault: "does not say why", rule: "what is asked too late is not asked", says: "nobody wants to know", fresh: asked(func(b *brokenTerminal, ctx context.Context, q ports.Question) (string, error) {
			said, err := b.Desk.Ask(ctx, q)
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return said, err
		})},
		{fault: "leaves the question there", rule: "a question can be taken back", says: `"the third?" is not on the screen`, limit: impatient, fresh: shelve(func() *shelf {
			return &shelf{place: func(s *shelf, q *shelved) int { return behind(s, q, false) }}
		})},
		{fault: "cannot be told that nobody wants to know", rule: "a question can be taken back", says: "it has not returned", limit: impatient, fresh: asked(func(b *brokenTerminal, ctx context.Context, q ports.Question) (string, error) {
			return b.Desk.Ask(context.WithoutCancel(ctx), q)
		})},
		{fault: "takes all back", rule: "a question can be taken back", says: `asking "the third?": got error context canceled`, fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			all, end := context.WithCancel(context.Background())
			b.ask = func(ctx context.Context, q ports.Question) (string, error) {
				said, err := b.Desk.Ask(ctx, q)
				if err != nil {
					end()
				}
				return said, cmp.Or(err, all.Err())
			}
		})},
		{fault: "waits for who has gone", rule: "when the person has gone nobody answers", limit: impatient, fresh: breakTerminal(func(_ *brokenTerminal, p *Person) {
			p.Leave = func() {}
		})},
		{fault: "makes an answer up", rule: "where nobody is a question is refused", fresh: breakEmpty(func(b *brokenTerminal) {
			b.ask = func(context.Context, ports.Question) (string, error) { return "yes", nil }
		})},
		{fault: "waits for somebody to come", rule: "where nobody is a question is refused", says: "it has not returned", limit: impatient, fresh: breakEmpty(func(b *brokenTerminal) {
			b.ask = (&mem.Desk{}).Ask
		})},
		{fault: "shows nobody something", rule: "where nobody is nothing is shown", says: "looked at", fresh: breakEmpty(func(b *brokenTerminal) {
			b.watch = func(run ports.Watched) func() { run.View(run.Status()); return func() {} }
		})},
		{fault: "cannot be stopped twice", rule: "where nobody is nothing is shown", says: "panic: close of closed channel", fresh: breakEmpty(func(b *brokenTerminal) {
			b.watch = func(ports.Watched) func() {
				ended := make(chan struct{})
				return func() { close(ended) }
			}
		})},
		{fault: "shows one run at a time", rule: "runs are watched at once", limit: impatient, fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			one := make(chan struct{}, 1)
			b.watch = func(ports.Watched) func() {
				one <- struct{}{}
				return sync.OnceFunc(func() { <-one })
			}
		})},
		{fault: "has no watching twice", rule: "runs are watched at once", says: "panic: close of closed channel", fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			b.watch = func(ports.Watched) func() {
				ended := make(chan struct{})
				return func() { close(ended) }
			}
		})},
		{fault: "shows nothing", rule: "what a run shows is on the screen", says: `"harvest" is not on the screen`, limit: impatient, fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			b.watch = func(ports.Watched) func() { return func() {} }
		})},
		{fault: "shows what was", rule: "what a run shows is on the screen", says: `"apples: 7" is not on the screen`, limit: impatient, fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			b.watch = func(run ports.Watched) func() {
				was := run.Status()
				run.Status = func() ports.Status { return was }
				return b.Desk.Watch(run)
			}
		})},
		{fault: "shows it for ever", rule: "what a run shows is on the screen", says: "want it gone", limit: impatient, fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			b.watch = func(run ports.Watched) func() { b.Desk.Watch(run); return func() {} }
		})},
		{fault: "knows no priority", rule: "the most urgent is on the screen", says: `"normal?" is not on the screen`, limit: impatient, fresh: asked(func(b *brokenTerminal, ctx context.Context, q ports.Question) (string, error) {
			q.Priority = 0
			return b.Desk.Ask(ctx, q)
		})},
		{fault: "shows all there are", rule: "the most urgent is on the screen", says: "one of a higher priority waits", fresh: breakTerminal(func(b *brokenTerminal, p *Person) {
			var mu sync.Mutex
			all := ""
			b.ask = func(ctx context.Context, q ports.Question) (string, error) {
				mu.Lock()
				all += q.Text + "\n"
				mu.Unlock()
				return b.Desk.Ask(ctx, q)
			}
			p.Screen = func() string { mu.Lock(); defer mu.Unlock(); return all }
		})},
		{fault: "last in, first out", rule: "of equal ones the first comes first", says: `"in turn 0?" is not on the screen`, limit: impatient, fresh: shelve(func() *shelf {
			return &shelf{place: func(s *shelf, q *shelved) int { return behind(s, q, true) }}
		})},
		{fault: "puts what is displaced last", rule: "a displaced question keeps its place", says: `"first of all?" is not on the screen`, limit: impatient, fresh: shelve(func() *shelf {
			return &shelf{place: func(s *shelf, q *shelved) int {
				if at := behind(s, q, false); at > 0 || len(s.waiting) == 0 {
					return at
				}
				s.waiting = append(s.waiting[1:], s.waiting[0])
				return 0
			}}
		})},
		{fault: "forgets what was typed", rule: "what is typed stays with its question", says: `want "half and half"`, fresh: breakTerminal(func(_ *brokenTerminal, p *Person) {
			p.Type = func(string) {}
		})},
		{fault: "sends what was typed for another", rule: "what is typed stays with its question", says: `got the answer "half all"`, fresh: shelve(func() *shelf {
			return &shelf{typed: new(string), place: func(s *shelf, q *shelved) int { return behind(s, q, false) }}
		})},
		{fault: "answers all of one text", rule: "each call is a question of its own", limit: impatient, fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			var mu sync.Mutex
			said := map[string]chan struct{}{}
			answers := map[string]string{}
			b.ask = func(ctx context.Context, q ports.Question) (string, error) {
				mu.Lock()
				done, again := said[q.Text]
				if !again {
					done = make(chan struct{})
					said[q.Text] = done
				}
				mu.Unlock()
				if again {
					q.Text += " (again)"
					under, cancel := context.WithCancel(ctx)
					go func() { <-done; cancel() }()
					_, _ = b.Desk.Ask(under, q)
					return answers[strings.TrimSuffix(q.Text, " (again)")], nil
				}
				answer, err := b.Desk.Ask(ctx, q)
				answers[q.Text] = answer
				close(done)
				return answer, err
			}
		})},
		{fault: "gives answers to whoever comes", rule: "many may ask at once", fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			var mu sync.Mutex
			var last string
			b.ask = func(ctx context.Context, q ports.Question) (string, error) {
				answer, err := b.Desk.Ask(ctx, q)
				mu.Lock()
				defer mu.Unlock()
				answer, last = last, answer
				return answer, err
			}
		})},
		{fault: "asks one at a time, and the others never", rule: "many may ask at once", limit: impatient, fresh: breakTerminal(func(b *brokenTerminal, _ *Person) {
			var one atomic.Bool
			b.ask = func(ctx context.Context, q ports.Question) (string, error) {
				if one.Swap(true) {
					<-ctx.Done()
					return "", context.Cause(ctx)
				}
				return b.Desk.Ask(ctx, q)
			}
		})},
	})
}
