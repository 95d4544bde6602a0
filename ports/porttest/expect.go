package porttest

import (
	"reflect"
	"sync"
	"time"

	"example.com/agl/ports"
)

// must ends the rule unless err is nil.
func (c *check) must(err error, doing string) {
	if err != nil {
		c.Fatalf("%s: %v", doing, err)
	}
}

// kind fails the rule unless err is of a kind.
func (c *check) kind(err error, want ports.Kind, doing string) {
	if got := ports.KindOf(err); got != want {
		c.Errorf("%s: the error's kind is %q, want %q: %v", doing, got, want, err)
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
const promptly = 15 * time.Second

// soon calls fn, and ends the rule if that takes too long.
func (c *check) soon(doing string, fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.recovered()
		fn()
	}()
	select {
	case <-done:
	case <-c.ctx.Done():
		c.Fatalf("%s: it has not returned when the time of the rule was over", doing)
	case <-time.After(promptly):
		c.Fatalf("%s: it has not returned after %v", doing, promptly)
	}
}

// together calls fn n times at once and waits for all of them.
func together(n int, fn func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { fn(i) })
	}
	group.Wait()
}
