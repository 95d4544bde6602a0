package agltest

import (
	"context"
	"encoding/json"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/agl"
	"example.com/agl/internal/intercept"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Turn is one run of a scripted agent: what it was given, and what it can
// do. A method that cannot do what it was asked for fails the test and ends
// the goroutine that called it: the handler, or one of its own.
type Turn struct {
	N            int // this is the N-th step of Role in Namespace, from 1; the same when it is run again
	Landing      int // 0; in a conflict, the how manieth landing of Namespace it is: N counts the steps in that one's conflicts
	Attempt      int // this is the Attempt-th time that its agent was started, from 1
	Role         string
	Namespace    string // "_base" for the run's own
	Model        agl.Model
	Instructions string // the whole prompt
	Dir          string // the checkout; empty without Options.Git
	Tree         fs.FS  // the checkout as it is at each moment, to read

	h     *Harness
	at    place
	life  *life
	over  atomic.Bool // its handler has returned
	ctx   context.Context
	task  ports.Task
	emit  func(ports.AgentEvent)
	reply int

	mu       sync.Mutex
	outcome  ports.Outcome
	reported bool
}

// A Result is what an agent is told after it has called a tool.
type Result = ports.ToolResult

// Input decodes the input of a name into what into points at.
func (t *Turn) Input(name string, into any) {
	t.h.t.Helper()
	for _, in := range t.task.Inputs {
		if in.Name != name {
			continue
		}
		if err := strictjson.Decode(in.Value, into); err != nil {
			t.failf("input %q of role %q does not fit into a %T: %v", name, t.Role, into, err)
		}
		return
	}
	t.failf("role %q has no input %q; it has %s", t.Role, name, inputs(t.task))
}

// WriteFile writes a file of the checkout, and makes its folders.
func (t *Turn) WriteFile(path, text string) {
	t.h.t.Helper()
	t.change("write "+path, func() error { return t.task.Workspace.WriteFile(t.ctx, path, []byte(text)) })
}

// Remove removes a file of the checkout, or a folder with all that is in it.
func (t *Turn) Remove(path string) {
	t.h.t.Helper()
	t.change("remove "+path, func() error { return t.task.Workspace.Remove(t.ctx, path) })
}

func (t *Turn) change(op string, do func() error) {
	t.h.t.Helper()
	t.point(op)
	if err := do(); err != nil {
		t.failf("role %q: %s: %v", t.Role, op, err)
	}
}

// Call calls one of the role's tools, as its agent would: the tool's handler
// runs. args are written as JSON; a json.RawMessage is taken as it is.
func (t *Turn) Call(tool string, args any) Result {
	t.h.t.Helper()
	found := t.task.Tool(tool)
	if found.Call == nil || tool == t.task.Report {
		var names []string
		for _, other := range t.task.Tools {
			if other.Name != t.task.Report {
				names = append(names, other.Name)
			}
		}
		t.failf("role %q has no tool %q; it has [%s]", t.Role, tool, strings.Join(names, " "))
	}
	t.point("tool " + tool)
	return found.Call(t.ctx, t.json(args))
}

// Ask asks a person by the role's agl.AskTool, with options or, where there are
// none, for a text, and returns the answer. Where none comes, because the run
// stops, the goroutine ends. A question with options that also takes a text is
// turn.Call("ask", map[string]any{"question": …, "options": …, "free": true}).
func (t *Turn) Ask(question string, options ...string) string {
	t.h.t.Helper()
	said := t.Call("ask", map[string]any{"question": question, "options": options})
	switch {
	case t.ctx.Err() != nil, t.life.isDead():
		runtime.Goexit()
	case said.Rejected:
		t.failf("role %q asks %q: %s", t.Role, question, said.Text)
	}
	return said.Text
}

// Report reports payload, fit or not, and returns what the agent is told. The
// first report that is fit is the step's; the handler's own is not reported
// then.
func (t *Turn) Report(payload any) Result {
	t.h.t.Helper()
	t.use()
	if t.task.Report == "" {
		t.failf("role %q reports nothing", t.Role)
	}
	told := t.task.Tool(t.task.Report).Call(t.ctx, t.json(payload))
	if !told.Rejected {
		t.mu.Lock()
		t.reported = true
		t.mu.Unlock()
	}
	return told
}

// Activity tells what the agent is doing, in a line.
func (t *Turn) Activity(text string) {
	t.tell(ports.AgentEvent{Kind: ports.AgentActivity, Text: text})
}

// Say writes text as the agent: the last is what an incomplete step's error
// quotes.
func (t *Turn) Say(text string) {
	t.mu.Lock()
	t.outcome.Text = text
	t.mu.Unlock()
	t.tell(ports.AgentEvent{Kind: ports.AgentText, Text: text})
}

// Usage says what the turn has used so far.
func (t *Turn) Usage(u agl.Usage) {
	t.mu.Lock()
	t.outcome.Usage = u
	t.mu.Unlock()
	t.tell(ports.AgentEvent{Kind: ports.AgentUsage, Usage: u})
}

// StopAtLimit lets the turn end cut off by a limit, so that its step is an
// IncompleteError.
func (t *Turn) StopAtLimit() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcome.Stop = ports.StopLimit
}

// Refused lets the agent have been refused a permission, so that its step is
// Denied.
func (t *Turn) Refused(permission string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcome.Denied = append(t.outcome.Denied, permission)
}

// Crash lets the process die here: the goroutine that calls it ends, no port
// does anything any more, and Start or Resume returns ErrCrashed.
func (t *Turn) Crash() {
	t.life.die()
	runtime.Goexit()
}

// point is a place where CrashEverywhere lets the process die.
func (t *Turn) point(op string) {
	t.use()
	if t.life.pass(t.at.verb, intercept.AgentOp(t.Role)+": "+op) != nil {
		runtime.Goexit()
	}
}

// use ends a goroutine that works on when the handler has returned.
func (t *Turn) use() {
	t.h.t.Helper()
	if t.over.Load() {
		t.failf("the turn of role %q is over: its handler has returned", t.Role)
	}
}

func (t *Turn) tell(e ports.AgentEvent) {
	t.use()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emit(e)
}

func (t *Turn) json(v any) json.RawMessage {
	t.h.t.Helper()
	if doc, ok := v.(json.RawMessage); ok {
		return doc
	}
	doc, err := strictjson.Canonical(v)
	if err != nil {
		t.failf("role %q: %T cannot be written as JSON: %v", t.Role, v, err)
	}
	return doc
}

// failf fails the test, unless it has ended, and ends the goroutine.
func (t *Turn) failf(format string, args ...any) {
	t.h.t.Helper()
	t.h.failf(format, args...)
	runtime.Goexit()
}
