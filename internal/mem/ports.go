package mem

import (
	"context"
	"sync"
	"time"

	"example.com/agl/ports"
)

// A Clock is a ports.Clock that moves when it is told to, and by a millisecond
// each time it is read, so that no two readings are equal.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

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
	Command string // "": there is no gate
	// Find returns the verdict of the n-th run, from 1; nil: it passes.
	Find func(n int) (ports.Verdict, error)

	mu sync.Mutex
	n  int
}

// Gate returns the command.
func (v *Verifier) Gate() ports.Gate {
	return ports.Gate{Command: v.Command, Timeout: time.Minute}
}

// Verify returns the next verdict.
func (v *Verifier) Verify(ctx context.Context, _ ports.VerifyTask) (ports.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return ports.Verdict{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.n++
	if v.Find == nil {
		return ports.Verdict{Passed: true}, nil
	}
	return v.Find(v.n)
}

// An Agent is a ports.Agent made of a function: it can do everything.
type Agent func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error)

// Capabilities are all there are.
func (Agent) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{
		Tools:   true,
		Enforce: []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite},
	}, nil
}

// Ready is always nil.
func (Agent) Ready(context.Context, ports.Model) error { return nil }

// Run calls the function.
func (a Agent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	return a(ctx, task, emit)
}
