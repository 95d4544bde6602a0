// Package errgroup has the declarations that the cases use.
package errgroup

// A Group is a group of goroutines.
type Group struct{ err error }

// Go calls fn in one of them.
func (g *Group) Go(fn func() error) { g.err = fn() }

// Wait waits for them.
func (g *Group) Wait() error { return g.err }
