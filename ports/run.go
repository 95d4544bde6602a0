package ports

import (
	"encoding/json"
	"time"
)

// RunInfo is what is known of a run without its records.
type RunInfo struct {
	Label    string          `json:"label"`
	Workflow string          `json:"workflow"`
	Version  int             `json:"version"`
	Branch   string          `json:"branch"`
	Base     string          `json:"base"` // the commit it began at
	Head     string          `json:"head"` // the commit its branch is at
	Params   json.RawMessage `json:"params"`
	Created  time.Time       `json:"created"`
	Ended    time.Time       `json:"ended,omitzero"` // zero while it has not ended
	State    State           `json:"state"`
	Error    string          `json:"error"` // why it ended, if not well
	// Unreached counts live records that the last walk did not ask for.
	Unreached int `json:"unreached"`
}

// A State is how a run stands.
type State string

// The states.
const (
	StateRunning     State = "running"     // a living process holds it
	StateInterrupted State = "interrupted" // it has not ended, and nobody holds it: resume it
	StateDone        State = "done"
	StateStopped     State = "stopped" // the workflow ended it with Stopf
	StateFailed      State = "failed"
)

// A Journal is a run and its live ordered records.
type Journal struct {
	Run     RunInfo  `json:"run"`
	Records []Record `json:"records"`
	Replies []Reply  `json:"replies"`
}

// A Reply is what a person answered to an agent, or about a conflict. It belongs
// to the step, or the landing, in which that was asked.
type Reply struct {
	Seq       int       `json:"seq"`
	Namespace string    `json:"namespace"`
	From      string    `json:"from"` // the role, or the worktree that lands
	Question  string    `json:"question"`
	Answer    string    `json:"answer"`
	Time      time.Time `json:"time"` // of the answer
}

// A ConflictPath is one path two sides do not agree on.
type ConflictPath struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // one of the conflict kinds
	Note string `json:"note"` // where in it, or which other path it is about; may be empty
}

// AsText returns p with its path and note as text.
func (p ConflictPath) AsText() ConflictPath {
	p.Path, p.Note = AsText(p.Path), AsText(p.Note)
	return p
}

// The kinds of conflict.
const (
	ConflictContent      = "content"
	ConflictAddAdd       = "add/add"
	ConflictDeleteModify = "delete/modify"
	ConflictRename       = "rename"    // a rename against another, or against a deletion
	ConflictMode         = "mode"      // of type or permission: a link where a file was, a file where a folder is needed
	ConflictSubmodule    = "submodule" // both sides moved it
	ConflictOverwrite    = "would-overwrite-ignored"
	ConflictMarkers      = "markers" // a resolution has conflict markers left
)

// A Status is a run at one instant, for views. It is never changed after it
// was made.
type Status struct {
	Run        RunInfo
	Namespaces []NamespaceStatus
	Usage      Usage    // bought in this run so far
	Notes      []string // the last that a person should know, oldest first; at most StatusNotes
}

// StatusNotes is how many notes a Status has at most.
const StatusNotes = 5

// A NamespaceStatus is what one namespace is doing.
type NamespaceStatus struct {
	Namespace string
	Parent    string     // "" for Base
	Verb      RecordKind // what runs now; "" when nothing does
	Name      string     // the role or the call
	Ordinal   int
	Activity  string     // its last activity
	Session   string     // the vendor's id of the conversation that its agent is in, or was in when the run was interrupted
	Waiting   string     // the namespace whose verb it waits for; "" while it does not wait
	Asking    []Question // that a person is to answer before it goes on; an agent may ask several
	Since     time.Time
	Records   int // how many it has
	Usage     Usage
	Verdict   *Verdict     // what the gate found last in this process, of its tree or of what it wants to land; nil: nothing yet
	Landing   LandingState // of what it has made so far
}

// A LandingState says whether what a worktree has made is in its parent.
type LandingState string

// The states of landings.
const (
	LandingNone     LandingState = ""           // it has not asked for that, or has made something since
	LandingUnderWay LandingState = "landing"    // it waits for that, or is at it
	LandingConflict LandingState = "conflict"   // at it, and a conflict or a red gate is being resolved
	LandingDone     LandingState = "landed"     // it is
	LandingFailed   LandingState = "not landed" // its landing has failed
)

// An OpenQuestion is one that waits for an answer, or an answer that waits for
// its question.
type OpenQuestion struct {
	Question Question  // of an unused answer, its ID alone
	Asked    time.Time // or, of an unused answer, when it was given
	Answer   string    // given by Engine.Answer and not taken yet; "" if none is
	Unused   bool      // nothing asks for the answer, or not yet
}
