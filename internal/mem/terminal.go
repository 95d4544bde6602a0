package mem

import (
	"context"

	"example.com/agl/ports"
)

// A Terminal is a person who answers at once, by a function. It may be used by
// several goroutines, if the function may.
type Terminal func(ctx context.Context, q ports.Question) (string, error)

var _ ports.Terminal = Terminal(nil)

// Attended is true.
func (t Terminal) Attended() bool { return true }

// Ask calls the function.
func (t Terminal) Ask(ctx context.Context, q ports.Question) (string, error) { return t(ctx, q) }

// Watch does nothing.
func (t Terminal) Watch(ports.Watched) func() { return func() {} }
