package ports

import (
	"context"
	"encoding/json"
)

// An Agent runs the turns of steps: a vendor's program, an in-process agent,
// or a script. It must be safe for use by several goroutines.
type Agent interface {
	// Capabilities says what the agent can do with model.
	Capabilities(ctx context.Context, model Model) (Capabilities, error)
	// Ready is the cheapest probe there is of whether a turn could start now.
	// Its error says what to do about it; its Kind is Unavailable, or Invalid
	// for a model the agent does not know.
	Ready(ctx context.Context, model Model) error
	// Run runs one turn to its end. emit may be called until Run returns, by
	// one goroutine at a time. A nil error means that the turn ended with the
	// vendor's own positive sign of an end; with an error, also where ctx was
	// cancelled, the outcome's Usage is what was used until then as far as that
	// is known, or zero and not Complete: then it is the last that was emitted.
	// When ctx is cancelled, Run ends what it started and returns an error that
	// wraps ctx.Err() and has no Kind, unless the turn has come to its good end
	// already. A tool that panics may make Run panic; it
	// leaves the agent as it was. Each turn is a conversation of its own.
	Run(ctx context.Context, task Task, emit func(AgentEvent)) (Outcome, error)
}

// A Task is one turn of an agent.
type Task struct {
	Run       string // the run's label
	Namespace string // the namespace of the step, Base for the run's own
	Role      string
	Ordinal   int // this is the Ordinal-th step of Role in Namespace, from 1, replayed ones counted; but see Landing

	// Landing is 0 for a step of a run. In a conflict it says which landing of
	// Namespace that is, from 1, and Ordinal counts the steps, of all roles, in
	// the conflicts of that landing alone.
	Landing int
	Model   Model

	Instructions string  // the whole prompt, inputs and what to report included: data, never parsed
	Inputs       []Input // the step's inputs once more, for an agent that is a program
	Dir          string  // the checkout, absolute; empty where the workspace is in memory
	Workspace    Workspace

	Tools        []Tool
	Report       string // the name of the tool among Tools that takes the report; empty if the role has none
	Restrictions []Restriction

	Env []string // "NAME=value" for every process the agent starts; what finds them again after a crash
}

// Instructions say which standing instructions agents get beside what a task
// says: a setting of the adapters for vendors' programs.
type Instructions string

// The settings there are.
const (
	Hermetic               Instructions = ""           // none
	RepositoryInstructions Instructions = "repository" // the files at the root of the checkout that speak to agents, CLAUDE.md and AGENTS.md for one, and nothing else of it
)

// An Input is a named value that a step was given.
type Input struct {
	Name  string
	Value json.RawMessage // canonical JSON
}

// Tool returns the tool of a name among the task's; its Call is nil if there
// is none.
func (t Task) Tool(name string) Tool {
	for _, tool := range t.Tools {
		if tool.Name == name {
			return tool
		}
	}
	return Tool{}
}

// A Tool is what the agent may call.
type Tool struct {
	Name   string
	Doc    string
	Schema json.RawMessage // of the arguments: an object's JSON Schema (2020-12)

	// Call runs the tool. The arguments are the model's, of any length and with
	// every digit of their numbers. Arguments it refuses are a rejected result, not an
	// error: the model reads it and tries again. It may be called in parallel.
	Call func(ctx context.Context, args json.RawMessage) ToolResult
}

// A ToolResult is what the model reads after a call, all of it.
type ToolResult struct {
	Text     string
	Rejected bool // the call was refused or failed
}

// A StopReason says why a turn ended.
type StopReason string

// The stop reasons.
const (
	StopCompleted StopReason = "completed" // the agent had nothing more to do
	StopLimit     StopReason = "limit"     // it was cut off by a limit on turns, tokens or output
)

// An Outcome is how a turn ended.
type Outcome struct {
	Stop    StopReason
	Text    string // the last text the agent wrote
	Session string // the vendor's id of the conversation, no other turn's; empty if it has none
	Usage   Usage
	// Denied names the permissions the agent asked for and was refused, also
	// where it went on without them.
	Denied []string
}

// An AgentEvent is something seen while a turn runs.
type AgentEvent struct {
	Kind  AgentEventKind
	Text  string // one line for an activity; a piece of text for a text; the id for a session
	Usage Usage  // for a usage: what the turn has used so far
}

// An AgentEventKind tells AgentEvents apart.
type AgentEventKind string

// The kinds of AgentEvent.
const (
	AgentActivity AgentEventKind = "activity" // what it is doing, in the vendor's words
	AgentText     AgentEventKind = "text"     // what it writes
	AgentUsage    AgentEventKind = "usage"
	AgentSession  AgentEventKind = "session" // the vendor's id of the conversation
)

// Usage is what was used: tokens, and money where the vendor reports it.
type Usage struct {
	Input     int64   `json:"input"`     // tokens, without the cached ones
	Output    int64   `json:"output"`    // tokens
	Cached    int64   `json:"cached"`    // tokens of the input that were read from a cache
	Reasoning int64   `json:"reasoning"` // tokens, as the vendor reports them
	Cost      float64 `json:"cost"`      // US dollars; 0 if unknown
	Complete  bool    `json:"complete"`  // whether the figures cover the whole turn
}

// Tokens returns what counts against a token budget: input and output.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// Add returns the sum of two usages. It is complete if both are.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:     u.Input + v.Input,
		Output:    u.Output + v.Output,
		Cached:    u.Cached + v.Cached,
		Reasoning: u.Reasoning + v.Reasoning,
		Cost:      u.Cost + v.Cost,
		Complete:  u.Complete && v.Complete,
	}
}
