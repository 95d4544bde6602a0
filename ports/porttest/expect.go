package porttest

import (
	"reflect"
	"runtime"
	"sync"
	"time"

	"example.com/agl/ports"
)

// must ends the rule unless err is nil.
func (c *check) must(err error, doing string) {
	if err != nil {
		c.Fatalf("%s: got error %v; want none", doing, err)
	}
}

// kind fails the rule unless err is of a kind.
func (c *check) kind(err error, want ports.Kind, doing string) {
	if got := ports.KindOf(err); got != want {
		c.Errorf("%s: the error's kind is %q, want %q; the error: %v", doing, got, want, err)
	}
}

// same fails the rule unless got is what was wanted. Two empty slices are the
// same.
func same[T any](c *check, got, want T, what string) {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Kind() == reflect.Slice && g.Len() == 0 && w.Len() == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		c.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// promptly is how long something may take that is to happen at once. It is
// generous, as a rule's own time is.
const promptly = 10 * time.Second

// promptly is how long something may take that is to happen at once: more where
// the rule may take more.
func (c *check) promptly() time.Duration { return max(promptly, c.limit/2) }

// soon calls fn, and ends the rule if that takes too long.
func (c *check) soon(doing string, fn func()) {
	if !c.wait(c.promptly(), 1, func(int) { fn() }) {
		c.told("%s: it has not returned; want it to, at once", doing)
		c.FailNow()
	}
}

// together calls fn n times at once and waits for all of them.
func (c *check) together(n int, fn func(i int)) {
	if !c.wait(max(longest, c.limit), n, fn) {
		c.told("of %d that work at once, not all have returned; want all", n)
		c.FailNow()
	}
}

// wait calls fn n times at once, and reports whether all of them return before
// limit and the end of the rule. A panic ends the rule.
func (c *check) wait(limit time.Duration, n int, fn func(i int)) bool {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			defer c.recovered()
			fn(i)
		})
	}
	all := make(chan struct{})
	go func() {
		group.Wait()
		close(all)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	returned := false
	select {
	case <-all:
		returned = true
	case <-timer.C:
	case <-c.ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.panicked {
		runtime.Goexit()
	}
	c.hung = c.hung || !returned
	return returned
}
