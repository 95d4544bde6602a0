package ports

import "time"

// An Event is something that happened in a run.
type Event struct {
	Seq       int64 // counts over the engine, from 1; a gap is what was dropped
	Run       string
	Namespace string // "" for what is about the whole run
	Time      time.Time
	What      Happening
}

// A Happening is what an Event tells. The set is closed: Began, Activity,
// Text, UsageSeen, Hit, Missed, Ended, Gated, Opened, Waits, Met, Asked,
// Answered, WasSalvaged, Noted, RunBegan and RunEnded.
type Happening interface{ happening() }

type (
	// RunBegan tells that a run was started or resumed.
	RunBegan struct {
		Info    RunInfo
		Resumed bool
	}
	// RunEnded tells that the function returned, or that the run stopped
	// before it could. Err is nil if it ended well.
	RunEnded struct{ Err error }
	// Hit tells that a verb was answered from its record.
	Hit struct {
		Record  PlanRecord
		Ordinal int  // the how manieth of its kind and name in its namespace
		Failed  bool // what is recorded is a failure
	}
	// Missed tells that a verb is not recorded and is about to run.
	Missed struct{ Miss Miss }
	// Began tells that a verb runs.
	Began struct {
		Kind    RecordKind
		Name    string
		Ordinal int // the how manieth of its kind and name in its namespace
		Model   Model
	}
	// Activity tells what an agent does, in one line.
	Activity struct{ Text string }
	// Text is a piece of what an agent writes.
	Text struct{ Text string }
	// UsageSeen tells what a step has used so far.
	UsageSeen struct{ Usage Usage }
	// Ended tells that a verb was recorded.
	Ended struct{ Record Record }
	// Gated tells what the build gate found.
	Gated struct {
		Verdict Verdict
		Again   bool // it had passed on this tree before, and did not run
	}
	// WasSalvaged tells that something was kept before a checkout was put
	// back.
	WasSalvaged struct{ Salvage Salvage }
	// Opened tells that a worktree was opened, from the namespace Parent.
	Opened struct{ Parent, Base string }
	// Waits tells that a verb waits until one of the namespace For has ended,
	// again where another has come first, and at last that it does not wait any
	// more: For is "".
	Waits struct{ For string }
	// Met tells that a landing met a conflict, or a red gate, and that it is
	// about to be resolved.
	Met struct {
		Attempt int
		Paths   []ConflictPath
		Verdict *Verdict // nil: the gate did not run
	}
	// Asked tells that a verb waits for a person's answer.
	Asked struct{ Question Question }
	// Answered tells that it does not any more.
	Answered struct {
		Question Question
		Answer   string // "" where the question was taken back
		By       AnsweredBy
	}
	// Noted is something a person should know.
	Noted struct{ Text string }
)

func (RunBegan) happening()    {}
func (RunEnded) happening()    {}
func (Hit) happening()         {}
func (Missed) happening()      {}
func (Began) happening()       {}
func (Activity) happening()    {}
func (Text) happening()        {}
func (UsageSeen) happening()   {}
func (Ended) happening()       {}
func (Gated) happening()       {}
func (WasSalvaged) happening() {}
func (Opened) happening()      {}
func (Waits) happening()       {}
func (Met) happening()         {}
func (Asked) happening()       {}
func (Answered) happening()    {}
func (Noted) happening()       {}

// AnsweredBy says where an answer came from.
type AnsweredBy string

// Where answers come from.
const (
	AnsweredHere      AnsweredBy = "here"       // the terminal
	AnsweredElsewhere AnsweredBy = "elsewhere"  // Engine.Answer, by this process or another
	AnsweredBefore    AnsweredBy = "before"     // an earlier attempt of the same step was answered
	AnsweredDefault   AnsweredBy = "unattended" // its value for when nobody is there
	NotAnswered       AnsweredBy = ""           // it was taken back
)
