package ports

import (
	"context"
	"errors"
	"strings"
)

// A Kind is the class of a failure: what the reader can do about it. It is an
// error itself, so errors.Is(err, ports.Unavailable) works and a caller may
// wrap one: fmt.Errorf("%w: no such branch", ports.NotFound).
type Kind string

// The kinds, and the exit code of each.
const (
	Invalid     Kind = "invalid"     // 2: unusable input, nothing was attempted
	NotFound    Kind = "not found"   // 3: what was named does not exist
	Conflicted  Kind = "conflicted"  // 4: it would have to take or overwrite something; nothing was changed
	Denied      Kind = "denied"      // 5: a refusal that stands until something changes
	Unavailable Kind = "unavailable" // 6: could not be reached or started; the same call may work later
	Unexpected  Kind = "unexpected"  // 6: it answered in terms that cannot be used
	Stopped     Kind = "stopped"     // 7: a workflow's deliberate end
	Internal    Kind = "internal"    // 70: a fault of the program
)

// Error is the kind's own word.
func (k Kind) Error() string { return string(k) }

func (k Kind) code() int {
	switch k {
	case Invalid:
		return 2
	case NotFound:
		return 3
	case Conflicted:
		return 4
	case Denied:
		return 5
	case Unavailable, Unexpected:
		return 6
	case Stopped:
		return 7
	default:
		return exitInternal
	}
}

const exitInternal = 70

// An Error is a failure with its Kind.
type Error struct {
	Kind Kind
	Op   string // what was being done, to what; may be empty
	Err  error  // why it failed, and what the reader can do; not nil
}

// Errorf returns an *Error of this kind. The format's %w verbs stay in the
// chain.
func (k Kind) Errorf(op, format string, args ...any) error {
	return &Error{Kind: k, Op: op, Err: errorf(format, args...)}
}

func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return strings.TrimPrefix(e.Op+": "+string(e.Kind), ": ")
	case e.Op == "":
		return e.Err.Error()
	default:
		return e.Op + ": " + e.Err.Error()
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is this error's Kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

func (e *Error) kind() Kind { return e.Kind }

// kinded is implemented by the error types of this package. Other packages
// give an error a kind by wrapping one of these, or a Kind.
type kinded interface{ kind() Kind }

// KindOf returns the outermost Kind in err's chain, or "" if it has none. In a
// join the kinds must agree on the exit code; a bare Kind among what one
// fmt.Errorf wraps is the kind of that error.
func KindOf(err error) Kind {
	kind, _ := classify(err)
	return kind
}

// ExitCode returns the exit code of a command that ends with err: 0 for nil,
// the code of err's outermost Kind, or 70 if it has none or if the errors of a
// join disagree.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if kind, ok := classify(err); ok {
		return kind.code()
	}
	return exitInternal
}

// classify returns the outermost kind, and whether there is one.
func classify(err error) (Kind, bool) {
	for err != nil {
		switch e := err.(type) {
		case Kind:
			return e, true
		case kinded:
			if k := e.kind(); k != "" {
				return k, true
			}
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			return classifyJoin(e.Unwrap())
		default:
			return "", false
		}
	}
	return "", false
}

func classifyJoin(errs []error) (Kind, bool) {
	for _, err := range errs {
		if k, ok := err.(Kind); ok {
			return k, true
		}
	}
	var first Kind
	for _, err := range errs {
		kind, ok := classify(err)
		switch {
		case !ok && errors.Is(err, context.Canceled):
			continue // a sibling that was told to stop says nothing about why
		case !ok:
			return "", false
		case first == "":
			first = kind
		case first.code() != kind.code():
			return "", false
		}
	}
	return first, first != ""
}
