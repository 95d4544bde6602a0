package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"example.com/agl/internal/instructions"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/toolserve"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// A turn is one run of the program. All but the tools run in Run's goroutine.
type turn struct {
	agent    *Agent
	task     ports.Task
	standing string // the repository's instructions
	emit     func(ports.AgentEvent)

	ch      *channel
	tools   *toolserve.Server
	toolCtx context.Context
	watch   *vendorprog.Watch

	session string // the id that the program was given
	told    string // and the one that it tells
	asked   bool   // the program was given the request
	begun   bool   // the model has begun to answer
	spoken  bool   // the model has answered
	text    string
	deltas  bool // the text of the message so far was told in pieces
	used    tally
	failed  apiError // the class of the last failure of the service
	said    string   // what the program says about it
	reset   time.Time
	last    string // the last line's kind, for messages
	result  *message
}

// Run runs one turn.
func (a *Agent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	if ctx.Err() != nil {
		return ports.Outcome{}, a.prog.Cancelled(ctx)
	}
	if len(task.Instructions) > MaxPrompt {
		return ports.Outcome{}, ports.Invalid.Errorf(op, "the request is %d bytes long, and %d is all that is taken; have the agent read what is long from a file", len(task.Instructions), MaxPrompt)
	}
	standing, err := instructions.For(a.opts.Instructions, "claude", task.Dir)
	if err != nil {
		return ports.Outcome{}, err
	}
	t := &turn{agent: a, task: task, standing: standing, emit: emit, tools: toolserve.New(task.Tools), session: newSession()}
	err = t.run(ctx)
	return t.outcome(err), err
}

func (t *turn) run(ctx context.Context) error {
	program, err := t.agent.prog.Find()
	if err != nil {
		return t.agent.prog.Unstarted(ctx, err)
	}
	toolCtx, cancelTools := context.WithCancel(ctx)
	t.toolCtx = toolCtx
	t.ch = open(ctx, &proc.Cmd{
		Args: append([]string{program}, arguments(t.task, t.session)...), Dir: t.task.Dir, Env: t.agent.environ(t.task.Env...),
		Grace: t.agent.grace(), Mark: vendorprog.MarkOf(t.task.Env),
	}, t.agent.idle())
	defer t.tools.Wait() // no tool runs after its turn
	defer t.ch.close()
	defer cancelTools()

	t.ch.send(control(initialize, fields{
		"subtype": "initialize", "sdkMcpServers": []string{server}, "appendSystemPrompt": vendorprog.Situation(t.task.Restrictions) + t.standing,
	}))
	t.watch = vendorprog.NewWatch(t.agent.idle(), t.tools.Running)
	defer t.watch.Stop()
	for t.result == nil {
		select {
		case <-ctx.Done():
			cancelTools()
			t.interrupt()
			return t.agent.prog.Cancelled(ctx)
		case <-t.ch.deaf:
			return ports.Unexpected.Errorf(op, "it read nothing for %v, last %s, and was ended: %w", t.agent.idle(), t.lastSeen(), context.DeadlineExceeded)
		case <-t.watch.Replies():
		case <-t.watch.C():
			if t.watch.Silent() {
				return ports.Unexpected.Errorf(op, "it wrote nothing for %v, last %s, and was ended: %w", t.agent.idle(), t.lastSeen(), context.DeadlineExceeded)
			}
		case m, ok := <-t.ch.lines:
			if !ok {
				return t.broken(ctx)
			}
			if err := t.take(m); err != nil {
				return err
			}
		}
		t.watch.Seen()
	}
	return t.ended(ctx)
}

// The ids of our own requests.
const (
	initialize   = "agl-initialize"
	interruption = "agl-interrupt"
)

// interrupt has the program end its turn, if it does so soon: then it ends what
// it started itself, and says what was used.
func (t *turn) interrupt() {
	t.ch.send(control(interruption, fields{"subtype": "interrupt"}))
	soon := time.NewTimer(t.agent.grace() / 2)
	defer soon.Stop()
	for t.result == nil {
		select {
		case m, ok := <-t.ch.lines:
			if !ok || t.take(m) != nil {
				return
			}
		case <-soon.C:
			return
		}
	}
}

// ended waits for the program to end after its last line, and says what came of
// the turn. One that does not end is ended: the turn has.
func (t *turn) ended(ctx context.Context) error {
	t.ch.closeInput()
	late := time.NewTimer(t.agent.grace())
	defer late.Stop()
	for {
		select {
		case _, ok := <-t.ch.lines:
			if !ok {
				return t.judge(true)
			}
		case <-late.C:
			return t.judge(false)
		case <-ctx.Done(): // what is bought already is kept
			if t.judge(false) == nil {
				return nil
			}
			return t.agent.prog.Cancelled(ctx)
		}
	}
}

// take takes one line.
func (t *turn) take(m *message) error {
	t.last = m.Type
	if m.Subtype != "" {
		t.last += "/" + m.Subtype
	}
	switch m.Type {
	case "control_request":
		t.serve(m)
	case "control_response":
		return t.answered(m)
	case "system":
		return t.system(m)
	case "stream_event":
		t.streamed(m)
	case "assistant":
		t.assistant(m)
	case "rate_limit_event":
		if m.Limit != nil && m.Limit.Status == "rejected" {
			t.reset = cmp.Or(vendorprog.Reset(m.Limit.ResetsAt), t.reset)
		}
	case "result":
		t.result = m
		if m.SessionID != "" {
			t.told = vendorprog.Word(m.SessionID)
		}
		t.tell(t.used.final(m))
	}
	return nil
}

// serve answers what the program asks of us.
func (t *turn) serve(m *message) {
	if m.Request.Subtype != "mcp_message" {
		t.ch.send(refusal(m.RequestID, m.Request.Subtype))
		return
	}
	t.tools.Take(t.toolCtx, m.Request.Message, func(response json.RawMessage) {
		t.ch.send(mcpReply(m.RequestID, response))
		t.watch.Replied()
	})
}

// answered takes the answer to a request of ours. The turn begins when the
// program is set up.
func (t *turn) answered(m *message) error {
	switch {
	case m.Response.RequestID != initialize, t.asked:
	case m.Response.Subtype == "error":
		return ports.Unavailable.Errorf(op, "it does not take AGL's settings: %s; AGL works with version %s and later", vendorprog.Quote(m.Response.Error), versions.Oldest)
	default:
		// The white space keeps a "/" at the beginning from being a command.
		t.asked = true
		t.ch.send(userMessage("\n" + t.task.Instructions))
	}
	return nil
}

func (t *turn) system(m *message) error {
	switch m.Subtype {
	case "init":
		t.told = cmp.Or(vendorprog.Word(m.SessionID), t.session)
		t.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: t.told})
		return t.checkTools(m)
	case "api_retry":
		t.failed = m.APIErr
		t.emit(vendorprog.Activity(fmt.Sprintf("the service failed (%s); trying again, %d", vendorprog.Quote(string(m.APIErr)), m.Attempt)))
	}
	return nil
}

// checkTools refuses a turn in which the model could not call its tools: the
// program itself would run it without them.
func (t *turn) checkTools(m *message) error {
	has := make(map[string]bool, len(m.Tools))
	for _, name := range m.Tools {
		has[name] = true
	}
	for _, tool := range t.task.Tools {
		if has[toolName(tool.Name)] {
			continue
		}
		status := "not there"
		for _, s := range m.MCPServers {
			if s.Name == server {
				status = vendorprog.Word(s.Status)
			}
		}
		return ports.Unavailable.Errorf(op, "it does not serve the tool %s to its model (AGL's server is %s)", tool.Name, status)
	}
	return nil
}

// streamed takes a piece of a message.
func (t *turn) streamed(m *message) {
	e := m.Event
	if e == nil {
		return
	}
	switch e.Type {
	case "message_start":
		t.begun = true
		if e.Message != nil {
			t.tell(t.used.message(e.Message.ID, e.Message.Usage))
		}
	case "message_delta":
		t.tell(t.used.more(e.Usage))
	case "content_block_start":
		t.deltas = false
	case "content_block_delta":
		if e.Delta.Type == "text_delta" && m.Parent == "" && e.Delta.Text != "" {
			t.deltas = true
			t.emit(ports.AgentEvent{Kind: ports.AgentText, Text: e.Delta.Text})
		}
	}
}

// assistant takes a block of a message, or the program's own account of why
// there is none.
func (t *turn) assistant(m *message) {
	if m.Message == nil {
		return
	}
	if m.APIErr != "" || m.IsAPI {
		t.failed = m.APIErr
		for _, b := range m.Message.Content {
			t.said = b.Text
		}
		return
	}
	t.begun, t.spoken, t.failed, t.said = true, true, "", "" // what failed before was made up for
	t.tell(t.used.message(m.Message.ID, m.Message.Usage))
	for _, b := range m.Message.Content {
		switch {
		case b.Type == "tool_use":
			t.emit(describe(b, t.task.Dir))
		case b.Type == "text" && m.Parent == "" && b.Text != "":
			t.text = b.Text
			if !t.deltas {
				t.emit(ports.AgentEvent{Kind: ports.AgentText, Text: b.Text})
			}
		}
	}
	t.deltas = false
}

// tell tells what was used so far, if that has changed.
func (t *turn) tell(changed bool) {
	if changed {
		t.emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: t.used.sum()})
	}
}
