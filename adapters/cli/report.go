package cli

import (
	"context"
	"errors"
	"fmt"

	"example.com/agl"
	"example.com/agl/ports"
)

// errorLimit is how many bytes of an error a line has: what it quotes may be as
// long as a model, a tool or a file likes. A list of what a person has to put
// back, each with its path, is whole.
const errorLimit = 16 << 10

// report writes what went wrong: a line for each error, or one object.
func (s *session) report(err error) {
	if s.globals.JSON {
		kind := agl.KindOf(err)
		if kind == "" {
			kind = ports.Internal
			if errors.Is(err, context.Canceled) {
				kind = "cancelled"
			}
		}
		// The object holds text and no more: it can always be encoded.
		text, _ := encode(errorAnswer{errorObject{Kind: kind, Message: err.Error()}})
		fmt.Fprintln(s.stderr, text)
		return
	}
	if agl.KindOf(err) == agl.Stopped {
		for _, leaf := range ports.Leaves(err) {
			fmt.Fprintf(s.stdout, "stopped: %s\n", line(leaf.Error(), errorLimit))
		}
		return
	}
	for _, leaf := range ports.Leaves(err) {
		fmt.Fprintf(s.stderr, "%s: %s\n", s.program.Name, line(leaf.Error(), errorLimit))
	}
	var unlanded *unlandedError
	if errors.As(err, &unlanded) {
		fmt.Fprintf(s.stderr, "%s: %s\n", s.program.Name, unlanded.next)
	}
}
