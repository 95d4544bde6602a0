package porttest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a rule may take. It is generous: it tells a hang from
// slowness, and no more.
const patience = time.Minute

// A rule is one sentence of a port's contract and the check of it.
type rule[S any] struct {
	name  string // a few words, the subtest's name
	text  string // the sentence, quoted by a failure
	check func(c *check, subject S)
}

// A check is the testing.TB of one rule. It quotes the rule in each failure,
// and its Context ends with the rule.
type check struct {
	testing.TB
	rule string
	ctx  context.Context

	mu      sync.Mutex
	failed  []string
	skipped string // why the rule was not checked
}

// Context returns a context that is cancelled when the rule's time is over.
func (c *check) Context() context.Context { return c.ctx }

// Errorf fails the rule.
func (c *check) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Error fails the rule.
func (c *check) Error(args ...any) { c.Errorf("%s", fmt.Sprintln(args...)) }

// FailNow fails the rule and ends it.
func (c *check) FailNow() {
	c.mu.Lock()
	if len(c.failed) == 0 {
		c.failed = append(c.failed, "it was ended")
	}
	c.mu.Unlock()
	runtime.Goexit()
}

// Fatalf fails the rule and ends it.
func (c *check) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	c.FailNow()
}

// Fatal fails the rule and ends it.
func (c *check) Fatal(args ...any) {
	c.Error(args...)
	c.FailNow()
}

// Fail fails the rule.
func (c *check) Fail() { c.Errorf("it failed") }

// Failed reports whether the rule has failed.
func (c *check) Failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.failed) > 0
}

// recovered fails the rule if its goroutine panics. It is to be deferred.
func (c *check) recovered() {
	if p := recover(); p != nil {
		c.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// needs ends the rule, unchecked, unless the suite's options have what it
// needs; option is the field's name.
func (c *check) needs(has bool, option string) {
	if !has {
		c.Skip("it needs " + option)
	}
}

// Skip ends the rule without having checked it.
func (c *check) Skip(args ...any) {
	c.mu.Lock()
	c.skipped = fmt.Sprint(args...)
	c.mu.Unlock()
	runtime.Goexit()
}

// Skipf ends the rule without having checked it.
func (c *check) Skipf(format string, args ...any) { c.Skip(fmt.Sprintf(format, args...)) }

// SkipNow ends the rule without having checked it.
func (c *check) SkipNow() { c.Skip("it was skipped") }

// failures returns how the rule was broken, each quoting it.
func (c *check) failures() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	quoted := make([]string, len(c.failed))
	for i, f := range c.failed {
		quoted[i] = fmt.Sprintf("broken rule: %s\n%s", c.rule, f)
	}
	return quoted
}

// run checks one rule against a fresh subject, for no longer than limit, and
// returns how it was broken. A check that hangs is left behind.
func (r rule[S]) run(t testing.TB, fresh func(testing.TB) S, limit time.Duration) []string {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := &check{TB: t, rule: r.text, ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.recovered()
		r.check(c, fresh(c))
	}()
	select {
	case <-done:
	case <-ctx.Done():
		// What honours its context is over in a moment.
		select {
		case <-done:
			c.Errorf("it took longer than %v", limit)
		case <-time.After(limit / 10):
			c.Errorf("it hangs: it has not returned after %v, nor when its context was cancelled", limit)
		}
	}
	if failed := c.failures(); len(failed) > 0 || c.skipped == "" {
		return failed
	}
	t.Skip(c.skipped)
	return nil
}

// grade runs every rule of a suite as a parallel subtest of t.
func grade[S any](t *testing.T, rules []rule[S], fresh func(testing.TB) S) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range r.run(t, fresh, patience) {
				t.Error(f)
			}
		})
	}
}
