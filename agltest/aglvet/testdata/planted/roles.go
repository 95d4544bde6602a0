// Package planted has copies of the workflow of examples/fix, each with a bug
// that only a resume would show.
package planted

import "example.com/agl"

// Params are the workflows' parameters.
type Params struct {
	Request string
	Rounds  int
}

// Patch is what the implementer reports.
type Patch struct {
	Summary string `json:"summary"`
}

// Findings is what the reviewer reports.
type Findings struct {
	Items []Finding `json:"items"`
}

// A Finding is one thing wrong with the change.
type Finding struct {
	Severity string `json:"severity"`
	Text     string `json:"text"`
}

var implementer = agl.Editor[Patch]{Name: "implementer", Model: "claude/opus", Prompt: "Implement the request."}

var reviewer = agl.Reader[Findings]{Name: "reviewer", Model: "codex/gpt-5-codex", Prompt: "Review the change."}

func spec(name string) agl.Spec {
	return agl.Spec{Name: name, Version: 1, Doc: "Fix with a bug.", Roles: []agl.Role{implementer, reviewer}}
}
