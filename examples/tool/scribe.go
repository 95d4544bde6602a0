package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"example.com/agl"
	"example.com/agl/ports"
)

// scribe is an agent in this process. A vendor's program, a model behind an
// interface of your own, or plain Go like this: to AGL they are the same.
type scribe struct{}

var _ ports.Agent = scribe{}

// Capabilities says that scribe calls tools, and keeps every restriction that a
// role can declare: it runs nothing and reaches no network. It does write, so
// that NoWrite, to which a Reader is held, is not among them.
func (scribe) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{Tools: true, Enforce: []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS}}, nil
}

// Ready returns nil: there is nothing to be missing.
func (scribe) Ready(context.Context, ports.Model) error { return nil }

// Run does the task. Its instructions are prose for a model; what this agent
// needs it asks of its tools.
func (scribe) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: "asks what changed"})
	var change Change
	if err := call(ctx, task, "what_changed", agl.None{}, &change); err != nil {
		return ports.Outcome{}, err
	}
	var version Version
	if err := call(ctx, task, "next_version", Bump{Part: "patch"}, &version); err != nil {
		return ports.Outcome{}, err
	}
	note := Note{Version: version.Next, Line: "- " + change.What}

	emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: "writes CHANGELOG.md"})
	changelog := filepath.Join(task.Dir, "CHANGELOG.md")
	old, err := os.ReadFile(changelog)
	if err != nil && !os.IsNotExist(err) {
		return ports.Outcome{}, ports.Unexpected.Errorf("scribe", "%w", err)
	}
	text := fmt.Sprintf("## %s\n\n%s\n\n%s", note.Version, note.Line, old)
	if err := os.WriteFile(changelog, []byte(text), 0o644); err != nil {
		return ports.Outcome{}, ports.Unexpected.Errorf("scribe", "%w", err)
	}
	if err := os.WriteFile(filepath.Join(task.Dir, "VERSION"), []byte(note.Version+"\n"), 0o644); err != nil {
		return ports.Outcome{}, ports.Unexpected.Errorf("scribe", "%w", err)
	}
	if err := call(ctx, task, task.Report, note, nil); err != nil {
		return ports.Outcome{}, err
	}
	return ports.Outcome{Stop: ports.StopCompleted, Text: "noted " + note.Version, Usage: ports.Usage{Complete: true}}, nil
}

// call calls a tool of the task and decodes its answer, if out is not nil.
func call(ctx context.Context, task ports.Task, name string, in, out any) error {
	args, err := json.Marshal(in)
	if err != nil {
		return ports.Internal.Errorf("call "+name, "%w", err)
	}
	for _, tool := range task.Tools {
		if tool.Name != name {
			continue
		}
		result := tool.Call(ctx, args)
		switch {
		case result.Rejected:
			return ports.Unexpected.Errorf("call "+name, "%s", result.Text)
		case out == nil:
			return nil
		}
		if err := json.Unmarshal([]byte(result.Text), out); err != nil {
			return ports.Unexpected.Errorf("call "+name, "%w", err)
		}
		return nil
	}
	return ports.Internal.Errorf("call "+name, "the task has no such tool")
}
