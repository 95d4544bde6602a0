package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"example.com/agl/ports"
)

// A Conflict is a landing that cannot go on by itself: paths that two sides do
// not agree on, or a red gate. The parent's checkout holds the merge while its
// resolver runs.
type Conflict struct {
	Child   string
	Dir     string // the parent's checkout; "" where it is in memory
	Attempt int    // from 1
	Paths   []ports.ConflictPath
	Verdict *ports.Verdict // the gate's; nil if it did not run

	landing *landing

	mu      sync.Mutex
	busy    bool // a Step or Ask of it is in flight
	settled bool // its resolver has returned
}

// A Resolution is what a resolver decides about its conflict.
type Resolution struct {
	conflict *Conflict
	retry    bool
}

// A Resolver decides what becomes of a conflict.
type Resolver func(ctx context.Context, c *Conflict) (Resolution, error)

// Retry takes what is in the checkout as the resolution.
func (c *Conflict) Retry() Resolution { return Resolution{c, true} }

// Abort gives the landing up.
func (c *Conflict) Abort() Resolution { return Resolution{c, false} }

// Summary says in one line what the conflict is.
func (c *Conflict) Summary() string {
	if c.Verdict != nil && !c.Verdict.Passed {
		line := fmt.Sprintf("%s: the build gate failed (%s)", c.Child, c.Verdict.Command)
		if c.Verdict.Note != "" {
			line += ": " + c.Verdict.Note
		}
		return ports.Clip(ports.Printable(line), 400)
	}
	words := make([]string, 0, len(c.Paths))
	for _, p := range c.Paths {
		word := fmt.Sprintf("%s (%s)", p.Path, p.Kind)
		if p.Note != "" {
			word = fmt.Sprintf("%s (%s, %s)", p.Path, p.Kind, p.Note)
		}
		words = append(words, word)
	}
	const most = 5
	more := ""
	if len(words) > most {
		more = fmt.Sprintf(" and %d more", len(words)-most)
		words = words[:most]
	}
	return ports.Clip(ports.Printable(fmt.Sprintf("%s: conflicts in %s%s", c.Child, strings.Join(words, ", "), more)), 400)
}

// settle ends the conflict: its methods are Invalid from here on. What its
// resolver left running is cancelled, and waited for.
func (c *Conflict) settle(cancel context.CancelFunc) {
	c.mu.Lock()
	c.settled = true
	c.mu.Unlock()
	cancel()
	c.landing.inFlight.Wait()
}

// enter says whether a Step or Ask may be taken now, and which it is.
func (c *Conflict) enter(op string) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.settled:
		return 0, ports.Invalid.Errorf(op, "the conflict of %s is settled; a Conflict lives while its resolver runs", c.Child)
	case c.busy:
		return 0, ports.Invalid.Errorf(op, "another Step or Ask is in flight in the conflict of %s", c.Child)
	}
	c.busy = true
	c.landing.taken++
	c.landing.inFlight.Add(1)
	return c.landing.taken, nil
}

func (c *Conflict) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
	c.landing.inFlight.Done()
}

// resolve asks the resolver about a conflict. Whatever it does, the conflict is
// settled then.
func (l *landing) resolve(ctx context.Context, c *Conflict) (Resolution, error) {
	under, cancel := context.WithCancel(ctx)
	made, err := func() (Resolution, error) {
		defer c.settle(cancel) // also where the resolver ends its goroutine
		return guardPanic(l.x, "resolver of "+c.Child, func() (Resolution, error) { return l.resolver(under, c) })
	}()
	switch {
	case err != nil && ports.KindOf(err) == "" && ctx.Err() == nil:
		return made, ports.Conflicted.Errorf("resolver of "+c.Child, "%w (%w)", err, c.gaveUp())
	case err != nil:
		return Resolution{}, err
	case made == Resolution{}:
		return made, ports.Unexpected.Errorf("resolver of "+c.Child, "it returned no resolution; return c.Retry() or c.Abort()")
	case made.conflict != c:
		return made, ports.Unexpected.Errorf("resolver of "+c.Child, "it returned the resolution of another conflict")
	}
	return made, nil
}

// gaveUp is the error of a landing that was given up.
func (c *Conflict) gaveUp() error {
	return &ports.ConflictError{Child: c.Child, Paths: c.Paths, Verdict: c.Verdict}
}
