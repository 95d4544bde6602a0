package ports

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// A RecordKind tells records apart.
type RecordKind string

// The ordered kinds: each is at a position in its namespace.
const (
	KindStep    RecordKind = "step"
	KindCall    RecordKind = "call"    // Do
	KindAnswer  RecordKind = "answer"  // Ask
	KindVerdict RecordKind = "verdict" // Verify
	KindLanding RecordKind = "landing" // of this namespace into its parent
)

// The structural kinds: never walked.
const (
	KindOpened     RecordKind = "opened" // a worktree: Namespace, Parent, and its base as Head
	KindSuperseded RecordKind = "superseded"
	KindEnd        RecordKind = "end" // the run ended
)

// The supporting kinds: what a verb found out or bought on the way, and would
// use again. Never walked.
const (
	KindGreen   RecordKind = "green"   // the gate passed on a tree
	KindAttempt RecordKind = "attempt" // a landing met a conflict or a red gate
	KindFix     RecordKind = "fix"     // an agent worked in the checkout of a landing
	KindHold    RecordKind = "hold"    // what a person had made of a conflict when the run was interrupted
	KindReply   RecordKind = "reply"   // what a person answered to an agent, or about a conflict
)

// Ordered reports whether records of this kind have a position in their
// namespace.
func (k RecordKind) Ordered() bool {
	switch k {
	case KindStep, KindCall, KindAnswer, KindVerdict, KindLanding:
		return true
	}
	return false
}

// A Record is one durable point of a run.
type Record struct {
	Seq       int        `json:"seq"` // counts over the whole run, from 1
	Kind      RecordKind `json:"kind"`
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"` // the role, the call, the question

	Key   string `json:"key"`   // hex; equal keys at a position are a hit
	Terms []Term `json:"terms"` // what the key is made of

	Value   json.RawMessage `json:"value,omitempty"`   // the result, canonical JSON
	Failure *Failure        `json:"failure,omitempty"` // instead of a value

	Before string `json:"before"` // the namespace's head when it was called
	Head   string `json:"head"`   // and after it
	// Called is the highest Seq that it may depend on: of what the workflow had
	// been given when it was called, and of what its branch stood on.
	Called int `json:"called"`
	// Retry is the Seq of the record that this one supersedes, and whose place it
	// takes: of a failure, or of a landing that is made again; 0 if none.
	Retry int `json:"retry"`

	Model   Model     `json:"model,omitempty"`
	Ending  string    `json:"ending,omitempty"` // commit, discard, read
	Session string    `json:"session,omitempty"`
	Usage   Usage     `json:"usage"` // of a landing: of the agents in its conflicts
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`

	Parent     string      `json:"parent,omitempty"`     // of KindOpened: the namespace that the worktree is opened from
	Landing    *Landing    `json:"landing,omitempty"`    // of KindLanding, and of what belongs to one
	Superseded *Superseded `json:"superseded,omitempty"` // of KindSuperseded
}

// Moved reports whether the record moved its namespace's branch.
func (r *Record) Moved() bool { return r.Head != r.Before }

// A Landing is what a landing did to its parent.
type Landing struct {
	Into   string `json:"into"`   // the parent's namespace
	Before string `json:"before"` // the parent's head when it was called
	After  string `json:"after"`  // and after it: Before if nothing was landed
	Child  string `json:"child"`  // the child's head, which was landed
}

// Moved reports whether the landing moved its parent's branch.
func (l *Landing) Moved() bool { return l != nil && l.After != l.Before }

// A Term is one part of what a record's key is made of.
type Term struct {
	Name   string `json:"name"`   // "prompt", "input:request"
	Digest string `json:"digest"` // SHA-256 of Text, hex
	Text   string `json:"text,omitempty"`
}

// Superseded names records that are no longer live, and the branches that move
// because of it.
type Superseded struct {
	Records []int  `json:"records"`
	Again   []int  `json:"again,omitempty"` // landings among Records that are only to be made again, in their place
	Why     string `json:"why"`             // rebuy, retry
	Moves   []Move `json:"moves"`
}

// A Move is a branch's move.
type Move struct {
	Namespace string `json:"namespace"`
	Branch    string `json:"branch"`
	Old       string `json:"old"`
	New       string `json:"new"`
}

// A Failure is an error as it is recorded. Err gives it back, on the first run
// as on every replay: what it does not keep is not in the chain.
type Failure struct {
	Kind       Kind             `json:"kind"` // "" if it had none
	Message    string           `json:"message"`
	Deadline   bool             `json:"deadline,omitempty"` // it wraps context.DeadlineExceeded
	Limit      *LimitError      `json:"limit,omitempty"`
	Incomplete *IncompleteError `json:"incomplete,omitempty"`
	Conflict   *ConflictError   `json:"conflict,omitempty"`
}

// FailureOf returns err as it is recorded. There is no failure that cannot be:
// what is said in it is text (AsText), and a time that no document can hold is
// not known.
func FailureOf(err error) *Failure {
	f := &Failure{Kind: KindOf(err), Message: AsText(err.Error()), Deadline: errors.Is(err, context.DeadlineExceeded)}
	if errors.As(err, &f.Limit) {
		f.Limit = &LimitError{Reset: writable(f.Limit.Reset), Message: AsText(f.Limit.Message)}
	}
	if errors.As(err, &f.Incomplete) {
		e := *f.Incomplete
		e.Role, e.Stop, e.Said, e.Refused = AsText(e.Role), StopReason(AsText(string(e.Stop))), AsText(e.Said), AsText(e.Refused)
		f.Incomplete = &e
	}
	if errors.As(err, &f.Conflict) {
		e := *f.Conflict
		e.Child, e.Dir, e.Paths = AsText(e.Child), AsText(e.Dir), slices.Clone(e.Paths)
		for i, p := range e.Paths {
			e.Paths[i] = p.AsText()
		}
		if e.Verdict != nil {
			v := e.Verdict.AsText()
			e.Verdict = &v
		}
		f.Conflict = &e
	}
	return f
}

// writable returns t if it can be written in RFC 3339, or no time.
func writable(t time.Time) time.Time {
	for _, t := range []time.Time{t, t.UTC()} {
		if _, err := t.MarshalJSON(); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Err returns the error that f records.
func (f *Failure) Err() error {
	e := &recordedError{failure: f}
	if f.Limit != nil {
		e.chain = append(e.chain, f.Limit)
	}
	if f.Incomplete != nil {
		e.chain = append(e.chain, f.Incomplete)
	}
	if f.Conflict != nil {
		e.chain = append(e.chain, f.Conflict)
	}
	if f.Deadline {
		e.chain = append(e.chain, context.DeadlineExceeded)
	}
	return e
}

type recordedError struct {
	failure *Failure
	chain   []error
}

func (e *recordedError) Error() string   { return e.failure.Message }
func (e *recordedError) Unwrap() []error { return e.chain }
func (e *recordedError) Is(target error) bool {
	return target == e.failure.Kind && e.failure.Kind != ""
}
func (e *recordedError) kind() Kind { return e.failure.Kind }
