package agl

import (
	"fmt"

	"example.com/agl/ports"
)

// A Kind is the class of a failure. It is an error itself, so
// errors.Is(err, agl.Unavailable) works, and fmt.Errorf("%w: …", agl.Denied)
// makes an error of that kind.
type Kind = ports.Kind

// The kinds, and the exit code of each.
const (
	Invalid     = ports.Invalid     // 2: unusable input, nothing was attempted
	NotFound    = ports.NotFound    // 3: what was named does not exist
	Conflicted  = ports.Conflicted  // 4: it would have to take or overwrite something
	Denied      = ports.Denied      // 5: a refusal that stands until something changes
	Unavailable = ports.Unavailable // 6: could not be reached; the same call may work later
	Unexpected  = ports.Unexpected  // 6: it answered in terms that cannot be used
	Stopped     = ports.Stopped     // 7: a workflow's deliberate end
	Internal    = ports.Internal    // 70: a fault of the program
)

// Error types, for errors.As.
type (
	// An InUseError says that a label, a branch or a run is taken.
	InUseError = ports.InUseError
	// A LimitError says that a vendor refused for now, and until when.
	LimitError = ports.LimitError
	// An IncompleteError says that a step ended without its report.
	IncompleteError = ports.IncompleteError
	// A DivergedError says that the workflow no longer asks for what is
	// recorded, with the plan of what would be given up.
	DivergedError = ports.DivergedError
	// A ConflictError says that a child's work could not be landed.
	ConflictError = ports.ConflictError
	// A TamperedError says that a step changed what makes git run programs.
	TamperedError = ports.TamperedError
	// A RejectedError says that a checkout cannot be committed as its step
	// left it.
	RejectedError = ports.RejectedError
	// A CorruptError says that a record cannot be read, naming its file.
	CorruptError = ports.CorruptError
	// An UnansweredError says that a run waits for a person, and nobody is there.
	UnansweredError = ports.UnansweredError
)

// Stopf returns the error by which a workflow ends itself deliberately, short
// of what it was asked for. Its Kind is Stopped, and exit code 7.
func Stopf(format string, args ...any) error {
	return &ports.Error{Kind: Stopped, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the outermost Kind in err's chain, or "" if it has none.
func KindOf(err error) Kind { return ports.KindOf(err) }

// ExitCode returns the exit code of a command that ends with err: 0 for nil,
// that of its Kind, or 70.
func ExitCode(err error) int { return ports.ExitCode(err) }
