package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// maxRefused is how many reports of a turn may be refused. Whoever has not got it
// right by then goes on for ever, and each try is paid for.
const maxRefused = 10

// reporting takes a step's report: the first valid one wins.
type reporting struct {
	accept func(json.RawMessage) (json.RawMessage, error)
	giveUp func() // ends the turn

	mu      sync.Mutex
	got     bool
	with    json.RawMessage
	refused int
	why     string // the last was
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

// spent returns why the last report was refused, where no further one is taken;
// else "".
func (p *reporting) spent() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.got || p.refused < maxRefused {
		return ""
	}
	return p.why
}

// refuse tells the agent why its report is not taken.
func (p *reporting) refuse(why string) ports.ToolResult {
	p.refused++
	p.why = ports.Clip(why, 2000)
	if p.refused >= maxRefused {
		p.giveUp()
	}
	return ports.ToolResult{Text: why, Rejected: true}
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
			switch {
			case p.got:
				return ports.ToolResult{Text: "your report is recorded already; there is nothing more to report", Rejected: true}
			case p.refused >= maxRefused:
				return ports.ToolResult{Text: "too many reports were refused; no further one is taken", Rejected: true}
			}
			value, err := guardPanic(x, "report of "+role.Name, func() (json.RawMessage, error) { return p.accept(args) })
			if err != nil {
				return p.refuse(err.Error())
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
		b.WriteString(inputText(inputJSON(in.Value)))
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

// inputText is an input as the prompt has it.
func inputText(doc json.RawMessage) string {
	var text string
	if doc[0] == '"' && strictjson.Decode(doc, &text) == nil {
		return text
	}
	return string(doc)
}

func inputJSON(value any) json.RawMessage {
	doc, err := strictjson.Canonical(value)
	if err != nil {
		panic(err) // it was made into a term before
	}
	return doc
}

// guardPanic turns a panic of code that is not the engine's into an Internal
// error that says where it was; its stack goes to the log.
func guardPanic[T any](x *execution, what string, fn func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			x.engine.log.Error("panic", "in", what, "run", x.label, "panic", p, "stack", string(debug.Stack()))
			err = ports.Internal.Errorf(what, "panic: %v (%s)", p, panicked())
		}
	}()
	return fn()
}

// panicked returns the place of the panic that a deferred function recovers
// from, as file:line.
func panicked() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	panicking := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicking && !inRuntime {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		panicking = panicking || f.Function == "runtime.gopanic"
		if !more {
			return "in an unknown place"
		}
	}
}
