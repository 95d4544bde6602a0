package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// reporting takes a step's report: the first valid one wins.
type reporting struct {
	accept func(json.RawMessage) (json.RawMessage, error)

	mu   sync.Mutex
	got  bool
	with json.RawMessage
}

// value returns the accepted report, null for a role that reports nothing.
func (p *reporting) value() (json.RawMessage, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.got {
		return json.RawMessage("null"), false
	}
	return p.with, true
}

func (p *reporting) tool(x *execution, role *Role) ports.Tool {
	doc := role.Report
	if doc == "" {
		doc = "Report the result of your work. Call this once, when you are done."
	}
	return ports.Tool{
		Name: ReportTool, Doc: doc, Schema: role.Schema.JSON(),
		Call: func(_ context.Context, args json.RawMessage) ports.ToolResult {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.got {
				return ports.ToolResult{Text: "your report is recorded already; there is nothing more to report", Rejected: true}
			}
			value, err := guardPanic(x, "report of "+role.Name, func() (json.RawMessage, error) { return p.accept(args) })
			if err != nil {
				return ports.ToolResult{Text: err.Error(), Rejected: true}
			}
			p.got, p.with = true, value
			return ports.ToolResult{Text: "recorded"}
		},
	}
}

// instructions is a step's whole prompt: the role's, the inputs, what to
// report. A string is given as it is, anything else as JSON.
func instructions(s *Step) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(s.Role.Prompt))
	b.WriteString("\n")
	if len(s.Inputs) > 0 {
		b.WriteString("\n# Inputs\n")
	}
	for _, in := range s.Inputs {
		fmt.Fprintf(&b, "\n## %s\n\n", in.Name)
		if text, ok := in.Value.(string); ok {
			b.WriteString(text)
		} else {
			doc, err := strictjson.Canonical(in.Value)
			if err != nil {
				panic(err) // it was made into a term before
			}
			b.Write(doc)
		}
		b.WriteString("\n")
	}
	if s.Role.Schema != nil {
		b.WriteString("\n# Report\n\n")
		if s.Role.Report != "" {
			b.WriteString(s.Role.Report + "\n")
		}
		fmt.Fprintf(&b, "When you are done, call the tool %q once.\n", ReportTool)
	}
	return b.String()
}

// guardPanic turns a panic of code that is not the engine's into an Internal
// error; its stack goes to the log.
func guardPanic[T any](x *execution, what string, fn func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			x.engine.log.Error(what+" panicked", "run", x.label, "panic", p, "stack", string(debug.Stack()))
			err = ports.Internal.Errorf(what, "panic: %v", p)
		}
	}()
	return fn()
}
