package ports

import "context"

// An Examiner is an Agent that can say more than whether it is ready: what a
// person needs to know to make it so. It is asked by a person who is stuck
// (doctor), never by a run.
type Examiner interface {
	// Examine looks at everything there is to look at, within ctx. It spends no
	// money and leaves nothing behind, but what a vendor's program writes in its
	// user's home whenever it is asked whether somebody is logged in. What is wrong is a finding, and not an
	// error; when ctx has ended, it returns soon, with what it has found.
	Examine(ctx context.Context) Examination
}

// An Examination is what an agent found out about itself.
type Examination struct {
	Program   string // the path of the program it runs; "" if it runs none, or found none
	Version   string // of that program, as a number; "" if it is not known
	Supported string // the versions that the agent is made for, in words; "" if it has none
	Findings  []Finding
}

// A Finding is one thing that was looked at.
type Finding struct {
	Name   string // what: "version", "channel", "login"
	State  FindingState
	Detail string // what was found; it may quote a program
	Fix    string // what a person can do about it; "" where nothing has to be done
}

// A FindingState says how a thing was found.
type FindingState string

// The states of a Finding.
const (
	FoundOK      FindingState = "ok"
	FoundWarning FindingState = "warning" // a run would begin, and may meet something
	FoundProblem FindingState = "problem" // a run that needs it would fail
	FoundAbsent  FindingState = "absent"  // it is not there, which is fine for who does not need it
)

// Usable reports whether a run could begin: nothing is a problem, and nothing
// absent.
func (e Examination) Usable() bool {
	for _, f := range e.Findings {
		if f.State == FoundProblem || f.State == FoundAbsent {
			return false
		}
	}
	return true
}
