package ports

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// errorf is fmt.Errorf; it keeps vet's printf check from asking for constant
// formats in Kind.Errorf's wrapper.
func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// An InUseError says that a label, a branch or a run's lock is taken.
// Its Kind is Conflicted.
type InUseError struct {
	Label  string
	Branch string // the branch that exists already; empty if it is not about one
	Holder string // who holds the run's lock, for a person; empty if it is not about the lock
	Reason string // the whole message, if neither of the above says it
}

func (e *InUseError) Error() string {
	switch {
	case e.Holder != "":
		return fmt.Sprintf("run %q is in use by %s", e.Label, e.Holder)
	case e.Branch != "":
		return fmt.Sprintf("branch %s exists already and belongs to no run recorded here (it may belong to another AGL_HOME); choose another label", e.Branch)
	case e.Reason != "":
		return fmt.Sprintf("label %q is in use: %s", e.Label, e.Reason)
	default:
		return fmt.Sprintf("label %q is in use: resume it, clear it, or choose another label", e.Label)
	}
}

// Is reports whether target is Conflicted.
func (e *InUseError) Is(target error) bool { return target == Conflicted }
func (e *InUseError) kind() Kind           { return Conflicted }

// A LimitError says that the agent's vendor refused for now: a rate limit, a
// quota, a usage window. Its Kind is Unavailable.
type LimitError struct {
	Reset   time.Time `json:"reset"`   // when the limit ends; zero if it is not known
	Message string    `json:"message"` // the vendor's own words; may be empty
}

func (e *LimitError) Error() string {
	msg := e.Message
	if msg == "" {
		msg = "the agent's usage limit is reached"
	}
	if !e.Reset.IsZero() {
		msg += " (it ends at " + e.Reset.UTC().Format(time.RFC3339) + ")"
	}
	return msg
}

// Is reports whether target is Unavailable.
func (e *LimitError) Is(target error) bool { return target == Unavailable }
func (e *LimitError) kind() Kind           { return Unavailable }

// An IncompleteError says that a step ended without the report its role
// promises. Its Kind is Unexpected.
type IncompleteError struct {
	Role string     `json:"role"`
	Stop StopReason `json:"stop"` // why the agent stopped
	Said string     `json:"said"` // the last text it wrote; may be empty
	// Refused is why the last of its reports was refused, where the turn was
	// ended because so many were.
	Refused string `json:"refused,omitempty"`
}

func (e *IncompleteError) Error() string {
	if e.Refused != "" {
		return fmt.Sprintf("role %s was ended after too many reports that were refused, the last because: %s", e.Role, Clip(e.Refused, 500))
	}
	msg := fmt.Sprintf("role %s ended without its report", e.Role)
	switch e.Stop {
	case StopCompleted:
	case "":
		msg = fmt.Sprintf("role %s: its agent gave no reason for its end", e.Role)
	default:
		msg = fmt.Sprintf("role %s was cut off (%s)", e.Role, e.Stop)
	}
	if said := strings.TrimSpace(e.Said); said != "" {
		msg += fmt.Sprintf("; it last said: %q", Clip(said, 200))
	}
	return msg
}

// Is reports whether target is Unexpected.
func (e *IncompleteError) Is(target error) bool { return target == Unexpected }
func (e *IncompleteError) kind() Kind           { return Unexpected }

// A DivergedError says that the workflow, called again, no longer asks for
// what is recorded. Nothing was started. Its Kind is Conflicted.
type DivergedError struct{ Plan Plan }

func (e *DivergedError) Error() string {
	return "the workflow no longer asks for what is recorded: " + e.Plan.Divergence() +
		"; resume with --rebuy (ResumeOptions.Rebuy) to give up what is not reached and go on"
}

// Is reports whether target is Conflicted.
func (e *DivergedError) Is(target error) bool { return target == Conflicted }
func (e *DivergedError) kind() Kind           { return Conflicted }

// A TamperedError says that something in the repository that makes git run
// programs, or look elsewhere, changed while a step ran. AGL runs no git in
// that checkout until it is as it was. Its Kind is Conflicted.
type TamperedError struct {
	Step    string   // the step that ran meanwhile, "namespace/role"; may be empty
	Changes []string // one line a change, naming the configuration key or the file
}

func (e *TamperedError) Error() string {
	during := ""
	if e.Step != "" {
		during = " while " + e.Step + " ran"
	}
	return fmt.Sprintf("the repository's git configuration changed%s: %s; AGL runs no git there until that is undone, then resume",
		during, strings.Join(e.Changes, "; "))
}

// Is reports whether target is Conflicted.
func (e *TamperedError) Is(target error) bool { return target == Conflicted }
func (e *TamperedError) kind() Kind           { return Conflicted }

// A RejectedError says that a checkout, as its step left it, cannot become a
// commit: an unfinished merge, unmerged paths, a nested repository, a replaced
// .git. It is the step's failure. Its Kind is Unexpected.
type RejectedError struct{ Reasons []string }

func (e *RejectedError) Error() string {
	return "the checkout cannot be committed as the step left it: " + strings.Join(e.Reasons, "; ")
}

// Is reports whether target is Unexpected.
func (e *RejectedError) Is(target error) bool { return target == Unexpected }
func (e *RejectedError) kind() Kind           { return Unexpected }

// An UnmergeableError says that two commits cannot be merged in a checkout,
// however often it is tried: they have no history in common, or a filter that
// one of them requires fails. It is the landing's failure. Its Kind is that of
// Err.
type UnmergeableError struct{ Err error }

func (e *UnmergeableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnmergeableError) Unwrap() error { return e.Err }

// A ConflictError says that a child's work could not be landed. Its Kind is
// Conflicted.
type ConflictError struct {
	Child   string         `json:"child"`
	Dir     string         `json:"dir,omitempty"` // the checkout in which files are in the way (ConflictOverwrite); "" where it is in memory
	Paths   []ConflictPath `json:"paths"`
	Verdict *Verdict       `json:"verdict"` // the gate's, if it was the gate that refused
}

func (e *ConflictError) Error() string {
	if e.Verdict != nil && !e.Verdict.Passed {
		return fmt.Sprintf("%s was not landed: the build gate failed (%s)", e.Child, e.Verdict.Command)
	}
	paths := make([]string, len(e.Paths))
	for i, p := range e.Paths {
		paths[i] = p.Path
		if p.Kind == ConflictOverwrite && p.Note != "" {
			paths[i] = fmt.Sprintf("%s (%s)", p.Path, p.Note)
		}
	}
	list := strings.Join(paths, ", ")
	if len(e.Paths) > 0 && e.Paths[0].Kind == ConflictOverwrite { // then all are: nothing was merged
		where, are, them := "in its parent's checkout", "is", "it"
		if e.Dir != "" {
			where = "in " + e.Dir
		}
		if len(e.Paths) > 1 {
			are, them = "are", "them"
		}
		return fmt.Sprintf("%s was not landed: %s %s %s in no commit and would be overwritten; move %s away and resume", e.Child, list, where, are, them)
	}
	return fmt.Sprintf("%s was not landed: conflicts in %s", e.Child, list)
}

// Is reports whether target is Conflicted.
func (e *ConflictError) Is(target error) bool { return target == Conflicted }
func (e *ConflictError) kind() Kind           { return Conflicted }

// A CorruptError says that a stored document cannot be read: torn, of another
// format, with unknown or missing keys. Its Kind is Unexpected.
type CorruptError struct {
	File string // where a person finds it
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s cannot be read: %v; restore it, or clear the run", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// Is reports whether target is Unexpected.
func (e *CorruptError) Is(target error) bool { return target == Unexpected }
func (e *CorruptError) kind() Kind           { return Unexpected }

// Leaves returns the errors at the ends of err's tree of joins, so that each
// can be named. A chain without a join is one leaf: err itself.
func Leaves(err error) []error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		join, ok := e.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		if k, ok := e.(kinded); ok && k.kind() != "" {
			break
		}
		var leaves []error
		for _, child := range join.Unwrap() {
			if _, ok := child.(Kind); ok {
				return []error{err}
			}
			leaves = append(leaves, Leaves(child)...)
		}
		return leaves
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// An UnansweredError says that a run waits for answers, and nobody is there to
// give them: nothing else is left to do. Its Kind is Unavailable. The questions
// stay open; give answers (Engine.Answer), and resume.
type UnansweredError struct {
	Label     string
	Questions []Question // the most urgent first
}

func (e *UnansweredError) Error() string {
	if len(e.Questions) == 0 {
		return fmt.Sprintf("run %s waits for a person, and nobody is there", e.Label)
	}
	q := e.Questions[0]
	who := q.Namespace
	if q.From != "" {
		who += ", " + q.From
	}
	more := ""
	if n := len(e.Questions) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("nobody is there to answer question %s (%s): %s%s; answer it (Engine.Answer; on the command line: answer %s %s ...), then resume the run",
		q.ID, who, Clip(Printable(q.Text), 200), more, e.Label, q.ID)
}

// Is reports whether target is Unavailable.
func (e *UnansweredError) Is(target error) bool { return target == Unavailable }
func (e *UnansweredError) kind() Kind           { return Unavailable }
