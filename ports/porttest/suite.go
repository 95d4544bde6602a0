package porttest

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A patience is how long the rules of a suite may take. It is generous: it tells
// a hang from slowness, and no more. Once a rule has hung, the implementation is
// known to, and the others get less.
type patience struct {
	limit, hurried time.Duration
	hung           atomic.Bool
}

// now is how long a rule may take that begins now.
func (p *patience) now() time.Duration {
	if p.hung.Load() {
		return p.hurried
	}
	return p.limit
}

const longest = 20 * time.Second

// A rule is one sentence of a port's contract and the check of it.
type rule[S any] struct {
	name  string // a few words, the subtest's name
	text  string // the sentence, quoted by a failure
	check func(c *check, subject S)
}

// A check is the testing.TB of one rule. Its Context ends with the rule.
type check struct {
	testing.TB
	limit time.Duration // how long the rule may take
	ctx   context.Context
	end   context.CancelFunc // ends ctx

	mu       sync.Mutex
	failed   []string
	panicked bool
	hung     bool   // something did not return
	over     bool   // the test is over; a check that hung may still wake
	cleaning bool   // a cleanup runs: the rule was judged before
	skipped  string // why the rule was not checked
}

// Context returns a context that is cancelled when the rule's time is over.
func (c *check) Context() context.Context { return c.ctx }

// Errorf fails the rule. When its time is over, or something panicked, what
// else goes wrong comes of that and is not told.
func (c *check) Errorf(format string, args ...any) {
	c.mu.Lock()
	cleaning := c.cleaning
	c.mu.Unlock()
	switch {
	case cleaning: // what an agent's own test finds at its end
		c.asked(func() { c.TB.Errorf(format, args...) })
	case c.ctx.Err() == nil:
		c.told(format, args...)
	}
}

// told is Errorf for what says why the rule's time is over.
func (c *check) told(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Error fails the rule.
func (c *check) Error(args ...any) { c.Errorf("%s", fmt.Sprintln(args...)) }

// FailNow fails the rule and ends it.
func (c *check) FailNow() {
	c.mu.Lock()
	if len(c.failed) == 0 && c.ctx.Err() == nil {
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
	return len(c.failed) > 0 || c.cleaning && c.TB.Failed()
}

// recovered fails the rule if its goroutine panics, and ends its context. It
// is to be deferred in every goroutine that calls the implementation.
func (c *check) recovered() {
	if p := recover(); p != nil {
		c.told("panic: %v\n%s", p, debug.Stack())
		c.mu.Lock()
		c.panicked = true
		c.mu.Unlock()
		c.end()
	}
}

// Cleanup calls fn when the rule's test is over: at once, if it is already.
func (c *check) Cleanup(fn func()) {
	clean := func() {
		c.clean(true)
		defer c.clean(false)
		defer func() {
			if p := recover(); p != nil {
				c.asked(func() { c.TB.Errorf("panic in a cleanup: %v\n%s", p, debug.Stack()) })
			}
		}()
		fn()
	}
	if !c.asked(func() { c.TB.Cleanup(clean) }) {
		clean()
	}
}

func (c *check) clean(begins bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleaning = begins
}

// Log writes to the test's log.
func (c *check) Log(args ...any) {
	c.TB.Helper()
	c.Logf("%s", strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}

// Logf writes to the test's log.
func (c *check) Logf(format string, args ...any) {
	c.TB.Helper()
	c.asked(func() { c.TB.Helper(); c.TB.Logf(format, args...) })
}

// Attr gives the test an attribute.
func (c *check) Attr(key, value string) { c.asked(func() { c.TB.Attr(key, value) }) }

// Output returns what writes to the test's log.
func (c *check) Output() io.Writer { return logged{c} }

// A logged is the Output of a check.
type logged struct{ c *check }

func (l logged) Write(p []byte) (n int, err error) {
	if !l.c.asked(func() { n, err = l.c.TB.Output().Write(p) }) {
		return len(p), nil
	}
	return n, err
}

// TempDir returns a new folder, which is removed when the rule's test is over.
// When it is over already, it ends the goroutine.
func (c *check) TempDir() string { return c.folder(c.TB.TempDir) }

// ArtifactDir returns the folder of what the test leaves. When it is over
// already, it ends the goroutine.
func (c *check) ArtifactDir() string { return c.folder(c.TB.ArtifactDir) }

func (c *check) folder(of func() string) (dir string) {
	if !c.asked(func() { dir = of() }) {
		runtime.Goexit()
	}
	return dir
}

// asked calls fn, which asks something of the test, and reports whether it did:
// not when the test is over, as that would panic and end all other tests too.
func (c *check) asked(fn func()) bool {
	c.TB.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		fn()
	}
	return !c.over
}

// leave says that the test is over.
func (c *check) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
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

// run checks one rule against a fresh subject, for no longer than limit, and
// returns the failure: the rule and how it was broken; "" if it was not. hung
// says that something did not return. A check that hangs is left behind: when it
// wakes after the test's end, what it asks of the test comes to nothing.
func (r rule[S]) run(t testing.TB, fresh func(testing.TB) S, limit time.Duration) (failure string, hung bool) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := &check{TB: t, limit: limit, ctx: ctx, end: cancel}
	t.Cleanup(c.leave) // the last of its cleanups, as it is the first
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.recovered()
		r.check(c, fresh(c))
	}()
	hangs := false
	select {
	case <-done:
	case <-ctx.Done():
		// What honours its context is over in a moment.
		select {
		case <-done:
		case <-time.After(max(limit/10, 100*time.Millisecond)):
			hangs = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	failed := c.failed
	switch {
	case c.panicked:
	case hangs:
		failed = append([]string{fmt.Sprintf("it hangs: it has not returned after %v, nor when its context was cancelled", limit)}, failed...)
	case ctx.Err() != nil:
		failed = append([]string{fmt.Sprintf("it took longer than %v", limit)}, failed...)
	}
	if len(failed) > 0 {
		return "broken rule: " + r.text + "\n" + strings.Join(failed, "\n"), c.hung || !c.panicked && ctx.Err() != nil
	}
	if c.skipped != "" {
		t.Skip(c.skipped)
	}
	return "", false
}

// grade runs every rule of a suite as a parallel subtest of t.
func grade[S any](t *testing.T, rules []rule[S], fresh func(testing.TB) S) {
	t.Helper()
	gradeWith(t, &patience{limit: longest, hurried: 3 * time.Second}, rules, fresh)
}

// gradeWith is grade with another patience.
func gradeWith[S any](t *testing.T, p *patience, rules []rule[S], fresh func(testing.TB) S) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if failure := r.graded(t, fresh, p); failure != "" {
				t.Error(failure)
			}
		})
	}
}

// graded is run with as much patience as there is.
func (r rule[S]) graded(t testing.TB, fresh func(testing.TB) S, p *patience) string {
	failure, hung := r.run(t, fresh, p.now())
	if hung {
		p.hung.Store(true)
	}
	return failure
}
