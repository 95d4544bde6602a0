package agl

import "example.com/agl/ports"

// Reading a run.
type (
	// RunInfo is what is known of a run without its records.
	RunInfo = ports.RunInfo
	// A State is how a run stands.
	State = ports.State
	// A Journal is a run and its live ordered records.
	Journal = ports.Journal
	// A Record is one durable point of a run.
	Record = ports.Record
	// A RecordKind tells records apart.
	RecordKind = ports.RecordKind
	// A Term is one part of what a record's key is made of.
	Term = ports.Term
	// A Failure is an error as it is recorded.
	Failure = ports.Failure
	// Usage is what was used: tokens, and money where it is known.
	Usage = ports.Usage
	// A Verdict is what the build gate found.
	Verdict = ports.Verdict
	// A Plan is what a resume would do.
	Plan = ports.Plan
	// A NamespacePlan is a Plan's part about one namespace.
	NamespacePlan = ports.NamespacePlan
	// A Status is a run at one instant.
	Status = ports.Status
	// A Salvage is what was in a checkout before it was put back.
	Salvage = ports.Salvage
	// Cleared is what clearing a run removed and what it left.
	Cleared = ports.Cleared
	// A NamespaceStatus is what one namespace of a run is doing.
	NamespaceStatus = ports.NamespaceStatus
	// A PlanRecord names a record.
	PlanRecord = ports.PlanRecord
	// A Miss is a verb that is not recorded, and why.
	Miss = ports.Miss
	// A TermChange is a part of a key that is not what it was.
	TermChange = ports.TermChange
	// A StopReason says why an agent's turn ended.
	StopReason = ports.StopReason
	// Superseded names records that are no longer live.
	Superseded = ports.Superseded
	// A Tip is where a branch was when it was removed.
	Tip = ports.Tip
	// A ConflictPath is one path two sides do not agree on.
	ConflictPath = ports.ConflictPath
	// A Landing is what a landing did to its parent.
	Landing = ports.Landing
	// A LandingState says whether what a worktree has made is in its parent.
	LandingState = ports.LandingState
	// A Reply is what a person answered to an agent, or about a conflict.
	Reply = ports.Reply
	// An OpenQuestion is one that waits for an answer.
	OpenQuestion = ports.OpenQuestion
)

// What a view shows.
type (
	// A Screen is what is shown of a run.
	Screen = ports.Screen
	// A Block is a part of a Screen: a Paragraph, a Table or a Progress.
	Block = ports.Block
	// A Paragraph is text, of one or more lines.
	Paragraph = ports.Paragraph
	// A Table is rows of cells.
	Table = ports.Table
	// A Progress is how much of something is done.
	Progress = ports.Progress
)

// The states of a run.
const (
	StateRunning     = ports.StateRunning
	StateInterrupted = ports.StateInterrupted
	StateDone        = ports.StateDone
	StateStopped     = ports.StateStopped
	StateFailed      = ports.StateFailed
)

// The kinds of ordered records.
const (
	KindStep    = ports.KindStep
	KindCall    = ports.KindCall
	KindAnswer  = ports.KindAnswer
	KindVerdict = ports.KindVerdict
	KindLanding = ports.KindLanding
)

// The states of landings.
const (
	LandingNone     = ports.LandingNone
	LandingUnderWay = ports.LandingUnderWay
	LandingConflict = ports.LandingConflict
	LandingDone     = ports.LandingDone
	LandingFailed   = ports.LandingFailed
)

// Following a run.
type (
	// An Event is something that happened in a run; its What is one of the
	// types below.
	Event = ports.Event
	// A Happening is what an Event tells.
	Happening = ports.Happening

	RunBegan    = ports.RunBegan    // a run was started or resumed
	RunEnded    = ports.RunEnded    // the function returned
	Hit         = ports.Hit         // a verb was answered from its record
	Missed      = ports.Missed      // a verb is not recorded and is about to run
	Began       = ports.Began       // a verb runs
	Activity    = ports.Activity    // what an agent does
	Said        = ports.Text        // what an agent writes
	UsageSeen   = ports.UsageSeen   // what a step has used so far
	Ended       = ports.Ended       // a verb was recorded
	Gated       = ports.Gated       // what the build gate found
	WasSalvaged = ports.WasSalvaged // something was kept before a checkout was put back
	Opened      = ports.Opened      // a worktree was opened
	Waits       = ports.Waits       // a verb waits for another namespace's
	Met         = ports.Met         // a landing met a conflict, or a red build
	Asked       = ports.Asked       // a verb waits for a person's answer
	Answered    = ports.Answered    // it was answered, or taken back
	Noted       = ports.Noted       // something a person should know
)
