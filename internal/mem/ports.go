package mem

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"example.com/agl/ports"
)

// A Clock is a ports.Clock that moves when it is told to, and by a millisecond
// each time it is read, so that no two readings are equal.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

var _ ports.Clock = (*Clock)(nil)

// NewClock returns a clock that stands at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// Now returns the time, and moves it on by a millisecond.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A Verifier is a ports.Verifier that finds what it was told to.
type Verifier struct {
	Command string        // "": there is no gate
	Timeout time.Duration // of a run; 0: a minute
	// Find returns the verdict of the n-th run, from 1; nil: it passes. When
	// ctx ends it is to return: with what was written until then, if that was
	// the timeout. The verdict is given its command, and its output is cut.
	Find func(ctx context.Context, task ports.VerifyTask, n int) (ports.Verdict, error)

	mu sync.Mutex
	n  int
}

var _ ports.Verifier = (*Verifier)(nil)

// Gate returns the command and its timeout.
func (v *Verifier) Gate() ports.Gate {
	return ports.Gate{Command: v.Command, Timeout: cmp.Or(v.Timeout, time.Minute)}
}

// Verify returns the next verdict.
func (v *Verifier) Verify(ctx context.Context, task ports.VerifyTask) (ports.Verdict, error) {
	gate := v.Gate()
	switch {
	case ctx.Err() != nil:
		return ports.Verdict{}, ctx.Err()
	case gate.Command == "":
		return ports.Verdict{}, ports.Invalid.Errorf("", "there is no build gate")
	}
	v.mu.Lock()
	v.n++
	n := v.n
	v.mu.Unlock()
	if v.Find == nil {
		return ports.Verdict{Passed: true, Command: gate.Command}, nil
	}
	timed, cancel := context.WithTimeout(ctx, gate.Timeout)
	defer cancel()
	verdict, err := v.Find(timed, task, n)
	verdict.Command, verdict.Output = gate.Command, tail(verdict.Output)
	switch {
	case ctx.Err() != nil:
		return ports.Verdict{}, ctx.Err()
	case timed.Err() != nil:
		verdict.Passed, verdict.Note, verdict.Took = false, fmt.Sprintf("ended after %v (timeout)", gate.Timeout), gate.Timeout
		return verdict, nil
	case err != nil:
		return ports.Verdict{}, err
	}
	return verdict, nil
}

// tail returns the end of what a gate wrote, as verdicts have it.
func tail(output string) string {
	const kept = 64 << 10
	output = strings.ToValidUTF8(output, string(utf8.RuneError))
	cut := max(0, len(output)-kept)
	for cut < len(output) && !utf8.RuneStart(output[cut]) {
		cut++
	}
	return output[cut:]
}

// An Agent is a ports.Agent made of a function: it can do everything. What the
// function emits is held to the contract: one at a time, an activity on one
// line, and nothing once it has returned.
type Agent func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error)

var _ ports.Agent = Agent(nil)

// Capabilities are all there are.
func (Agent) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{
		Tools:   true,
		Enforce: []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite},
	}, nil
}

// Ready is always nil.
func (Agent) Ready(context.Context, ports.Model) error { return nil }

// Run calls the function, unless ctx has ended.
func (a Agent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return ports.Outcome{}, err
	}
	var mu sync.Mutex
	over := false
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}()
	return a(ctx, task, func(e ports.AgentEvent) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		if e.Kind == ports.AgentActivity {
			e.Text = ports.Printable(e.Text)
		}
		emit(e)
	})
}
