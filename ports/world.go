package ports

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"
)

// History answers questions about commits.
type History interface {
	// Default returns the branch the operator's checkout is on, or "HEAD" if
	// it is detached.
	Default(ctx context.Context) (string, error)
	// Resolve returns the full id of the commit a revision names. The error's
	// Kind is NotFound if it names none.
	Resolve(ctx context.Context, rev string) (string, error)
	// Contains reports whether ancestor is reachable from descendant (or is
	// it). A commit that is not in the repository is NotFound.
	Contains(ctx context.Context, ancestor, descendant string) (bool, error)
	// Tree returns the id of a commit's tree.
	Tree(ctx context.Context, commit string) (string, error)
	// Message returns a commit's message without trailing white space.
	Message(ctx context.Context, commit string) (string, error)
}

// A Verifier runs the project's build gate.
type Verifier interface {
	// Gate says what the gate runs. An empty Command means that there is none.
	Gate() Gate
	// Verify runs the gate in a checkout, each time it is asked: it remembers
	// no verdict. A failing build and one that took too long are verdicts; only
	// what could not be started is an error (Unavailable), or a gate that is not
	// there (Invalid). When ctx ends, so does the gate: there is no verdict, and
	// the error wraps ctx.Err(). Tree is not filled in. It may be called by
	// several goroutines at once.
	Verify(ctx context.Context, task VerifyTask) (Verdict, error)
}

// A Gate is a build command.
type Gate struct {
	Command string
	Timeout time.Duration
}

// A VerifyTask is one run of the gate.
type VerifyTask struct {
	Dir  string   // the checkout; "" where it is in memory
	Tree fs.FS    // the same, to read; may be nil where Dir is given
	Env  []string // "NAME=value" for every process it starts
}

// A Verdict is what a gate found.
type Verdict struct {
	Passed  bool
	Output  string // the last 64 KiB as they were written, but valid UTF-8
	Tree    string // the id of the tree it was run on
	Command string
	Note    string // how it failed, where the output does not say: a timeout, a signal; empty where all is well
	Took    time.Duration
}

// AsText returns v with what is said in it as text.
func (v Verdict) AsText() Verdict {
	v.Output, v.Command, v.Note = AsText(v.Output), AsText(v.Command), AsText(v.Note)
	return v
}

// verdictJSON is a Verdict with its time as text, as records have it.
type verdictJSON struct {
	Passed  bool   `json:"passed"`
	Output  string `json:"output"`
	Tree    string `json:"tree"`
	Command string `json:"command"`
	Note    string `json:"note"`
	Took    string `json:"took"`
}

// MarshalJSON writes Took as Go duration text.
func (v Verdict) MarshalJSON() ([]byte, error) {
	return json.Marshal(verdictJSON{v.Passed, v.Output, v.Tree, v.Command, v.Note, v.Took.String()})
}

// UnmarshalJSON reads Took as Go duration text.
func (v *Verdict) UnmarshalJSON(doc []byte) error {
	var j verdictJSON
	if err := json.Unmarshal(doc, &j); err != nil {
		return err
	}
	took, err := time.ParseDuration(j.Took)
	if err != nil {
		return err
	}
	*v = Verdict{j.Passed, j.Output, j.Tree, j.Command, j.Note, took}
	return nil
}

// A Clock tells the time, which does not go back. It must be safe for use by
// several goroutines.
type Clock interface {
	Now() time.Time
}

// A Reaper ends processes that carry a mark in their environment, wherever
// they have gone: that is how what a killed run left behind is found.
type Reaper interface {
	// Reap ends every process whose environment holds entry ("NAME=value"),
	// and returns a line about each that it ended. A process that may be ours
	// and cannot be proven so is Conflicted, listed.
	Reap(ctx context.Context, entry string) ([]string, error)
}

// A Set is every port, implemented.
type Set struct {
	Store      Store
	Workspaces Workspaces
	Integrator Integrator
	History    History
	Verifier   Verifier
	Terminal   Terminal // may be nil: nobody is there
	Clock      Clock
	Reaper     Reaper           // may be nil: nothing is left behind
	Agents     map[string]Agent // by provider; AnyProvider stands in for all that have none
	Close      func() error     // may be nil
}

// AnyProvider is the key in Set.Agents of the agent for every model whose
// provider has none of its own.
const AnyProvider = "*"

// What agents' and gates' processes carry in their environment.
const (
	EnvRun  = "AGL_RUN"  // the run's nonce
	EnvStep = "AGL_STEP" // one attempt of one step or gate
)
