package engine

import (
	"context"
	"encoding/json"
	"reflect"

	"example.com/agl/internal/schema"
	"example.com/agl/ports"
)

// A Job is a workflow with its parameters.
type Job struct {
	Workflow string
	Version  int
	Roles    []*Role
	Params   json.RawMessage // canonical
	Func     func(ctx context.Context, run *Run) error
}

// A Role is a role as it was declared.
type Role struct {
	Name   string
	Model  ports.Model
	Prompt string
	Report string
	Tools  []*Tool
	Deny   []ports.Restriction
	Writes bool           // an Editor
	Schema *schema.Schema // of the report; nil if the role reports nothing

	Payload reflect.Type // what Schema is of

	terms []ports.Term // but for those of Prompt and Tools, which a step may change
	tools []ports.Term
	ask   ports.Term // the prompt's
}

// A Tool is a tool as it was declared.
type Tool struct {
	Name   string
	Doc    string
	Schema *schema.Schema
	// Call runs the tool's handler. Its error is what the model reads.
	Call func(ctx context.Context, w ports.World, args json.RawMessage) (string, error)
	// Ask reads what a person is to be asked, of AskTool instead of Call.
	Ask func(args json.RawMessage) (AgentQuestion, error)
}

// An Input is a named value that a step's agent is given, or that a call
// depends on.
type Input struct {
	Name  string
	Value any
}

// An Ending is what becomes of a checkout when a verb has run.
type Ending string

// The endings.
const (
	EndCommit  Ending = "commit"
	EndDiscard Ending = "discard"
	EndRead    Ending = "read" // nothing may have changed
)

// A Step is one step to take.
type Step struct {
	Role       *Role
	Ending     Ending
	Message    string
	AllowEmpty bool
	Payload    reflect.Type // of the report; nil if the role reports nothing
	Inputs     []Input
	// Accept checks a report and returns its canonical form. Its error is what
	// the agent reads.
	Accept func(report json.RawMessage) (json.RawMessage, error)
	// Deliver hands a recorded value to the caller.
	Deliver func(value json.RawMessage) error
}

// A Call is one call of a Go function.
type Call struct {
	Name    string
	Ending  Ending // EndCommit or EndRead
	Message string
	Inputs  []Input
	// Func runs the function and returns its result's canonical form.
	Func func(ctx context.Context, w ports.World) (json.RawMessage, error)
	// Deliver hands a recorded value to the caller.
	Deliver func(value json.RawMessage) error
}

// ReportTool is the name of the tool that takes a role's report.
const ReportTool = "report"
