package copilot

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"example.com/agl/internal/instructions"
	"example.com/agl/internal/jsonrpc"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/toolserve"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// A turn is one run of the program. All but the tools run in Run's goroutine.
type turn struct {
	agent *Agent
	task  ports.Task
	emit  func(ports.AgentEvent)

	standing string // the repository's instructions

	run     *vendorprog.Process
	conn    *jsonrpc.Conn
	events  chan event
	answers chan answer // of create and send
	quit    chan struct{}
	asking  sync.WaitGroup // our calls that were not answered
	watch   *vendorprog.Watch
	calls   *calls
	toolCtx context.Context

	byok    bool   // the models are not GitHub's
	session string // the id that the program tells
	spoken  bool   // the model has answered
	text    string
	deltas  string // the message that was told in pieces
	used    tally
	finish  string // why the model's last answer ended
	refused bool   // by a filter
	denied  []string
	failed  *data // the last request that failed, and was not made up for
	failure *data // what the program says that the turn has failed by
	gaveUp  bool  // AGL has, before the program did
	last    string
	at      map[string]bool // the tools that run, by their calls
	waited  bool            // for one of them, once
	idle    bool            // the agent has nothing more to do
	aborted bool
	over    bool // and nothing runs any more
	asked   bool // when the quota is renewed
	renewed time.Time
}

// An answer is what came of a call of ours.
type answer struct {
	method string
	result json.RawMessage
	err    error
}

// settling is how long after the agent's end a turn may wait for commands to end
// that it has left running. They are ended with it.
const settling = 2 * time.Second

// Run runs one turn.
func (a *Agent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	if ctx.Err() != nil {
		return ports.Outcome{}, a.program.Cancelled(ctx)
	}
	if len(task.Instructions) > MaxPrompt {
		return ports.Outcome{}, ports.Invalid.Errorf(op, "the request is %d bytes long, and %d is all that is taken; have the agent read what is long from a file", len(task.Instructions), MaxPrompt)
	}
	standing, err := instructions.For(a.opts.Instructions, "copilot", task.Dir)
	if err != nil {
		return ports.Outcome{}, err
	}
	t := &turn{agent: a, task: task, standing: standing, emit: emit, at: make(map[string]bool), events: make(chan event), answers: make(chan answer), quit: make(chan struct{})}
	err = t.play(ctx)
	return t.outcome(err), err
}

func (t *turn) play(ctx context.Context) error {
	program, err := t.agent.program.Find()
	if err != nil {
		return t.agent.program.Unstarted(ctx, err)
	}
	config, err := os.MkdirTemp("", "agl-copilot-")
	if err != nil {
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	defer os.RemoveAll(config)
	toolCtx, cancelTools := context.WithCancel(ctx)
	t.toolCtx = toolCtx
	env := t.agent.environ(t.task.Model, t.task.Env...)
	t.run = vendorprog.Start(&proc.Cmd{
		Args: append([]string{program}, arguments...), Dir: t.task.Dir, Env: env,
		Grace: t.agent.grace(), Mark: vendorprog.MarkOf(t.task.Env),
	})
	t.conn = jsonrpc.New(context.WithoutCancel(ctx), t.run.Stdout, t.run.Stdin, jsonrpc.Options{Framing: jsonrpc.Headers(0), Prefix: ids, Notified: t.notified})
	t.calls = &calls{tools: toolserve.New(t.task.Tools), cancels: make(map[string]context.CancelFunc), reply: t.replyTool}
	t.watch = vendorprog.NewWatch(t.agent.idle(), t.calls.running)
	t.calls.done = t.watch.Replied
	defer func() {
		cancelTools()
		t.watch.Stop()
		close(t.quit)
		t.run.End()
		if mark := vendorprog.MarkOf(t.task.Env); mark != "" { // its shell has sessions of its own
			_, _ = proc.Reaper{Grace: t.agent.grace()}.Reap(context.WithoutCancel(ctx), mark)
		}
		t.conn.Close()
		t.asking.Wait()
		t.calls.all.Wait() // no tool runs after its turn
	}()

	provider := providerOf(env)
	t.byok = provider != nil
	t.call(create, creation(t.task, t.standing, config, provider))
	settled := time.NewTimer(settling)
	settled.Stop()
	for !t.over || t.asked {
		select {
		case <-ctx.Done():
			cancelTools()
			t.interrupt()
			return t.agent.program.Cancelled(ctx)
		case <-t.watch.Replies():
		case <-t.watch.C():
			if t.watch.Silent() && !t.atWork() {
				return ports.Unexpected.Errorf(op, "it wrote nothing for %v, last %s, and was ended: %w", t.agent.idle(), t.lastSeen(), context.DeadlineExceeded)
			}
		case <-settled.C:
			t.over, t.asked = true, false
		case <-t.conn.Done():
			return t.broken(ctx)
		case a := <-t.answers:
			if err := t.answered(ctx, a); err != nil {
				return err
			}
		case e := <-t.events:
			was := t.idle
			t.take(e)
			switch {
			case t.gaveUp:
				return t.failing()
			case !t.idle:
				settled.Stop()
			case !was: // what a command writes that runs on is no reason to wait longer
				settled.Reset(settling)
			}
		}
		t.watch.Seen()
	}
	return t.ended(ctx)
}

// atWork reports whether the program, which was silent, is given as long again: a
// command of its own runs, which may write nothing for ten minutes.
func (t *turn) atWork() bool {
	if len(t.at) == 0 || t.waited {
		return false
	}
	t.waited = true
	return true
}

// notified takes a notification, and waits until the turn has taken it.
func (t *turn) notified(method string, params json.RawMessage) {
	if method != "session.event" {
		return
	}
	select {
	case t.events <- parse(params):
	case <-t.quit:
	}
}

// Our calls.
const (
	create     = "session.create"
	send       = "session.send"
	abort      = "session.abort"
	quota      = "account.getQuota"
	permit     = "session.permissions.handlePendingPermissionRequest"
	returnTool = "session.tools.handlePendingToolCall"
)

// call calls a method of the program. What is answered to create, send and quota
// is taken by answered; of the others nothing depends on it.
func (t *turn) call(method string, params fields) {
	t.asking.Go(func() {
		a := answer{method: method}
		a.err = t.conn.Call(context.Background(), method, params, &a.result) // it ends with the connection
		if method != create && method != send && method != quota {
			return
		}
		select {
		case t.answers <- a:
		case <-t.quit:
		}
	})
}

func (t *turn) replyTool(request string, result fields) {
	_ = t.conn.Call(context.Background(), returnTool, fields{"sessionId": t.session, "requestId": request, "result": result}, nil)
}

// answered takes the answer to a call of ours.
func (t *turn) answered(ctx context.Context, a answer) error {
	if a.method == quota {
		t.asked, t.renewed = false, renewal(a.result)
		return nil
	}
	if a.err != nil {
		return t.declined(ctx, a)
	}
	if a.method == create {
		var made struct {
			Session string `json:"sessionId"`
		}
		if err := json.Unmarshal(a.result, &made); err != nil || made.Session == "" {
			return ports.Unexpected.Errorf(op, "it made a session without an id: %s", vendorprog.Quote(string(a.result)))
		}
		t.session = made.Session
		t.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: vendorprog.Word(t.session)})
		t.call(send, fields{"sessionId": t.session, "prompt": t.task.Instructions})
	}
	return nil
}

// interrupt has the program end its turn, if it does so soon: then it ends what
// it started itself, and says what was used.
func (t *turn) interrupt() {
	if t.session == "" {
		return
	}
	t.call(abort, fields{"sessionId": t.session})
	soon := time.NewTimer(t.agent.grace() / 2)
	defer soon.Stop()
	for !t.over {
		select {
		case e := <-t.events:
			t.take(e)
		case <-t.answers:
		case <-t.conn.Done():
			return
		case <-soon.C:
			return
		}
	}
}

// ended waits for the program to end, which has nothing more to do, and says what
// came of the turn. One that does not end is ended: the turn has.
func (t *turn) ended(ctx context.Context) error {
	t.conn.Finish()
	late := time.NewTimer(t.agent.grace())
	defer late.Stop()
	for {
		select {
		case <-t.run.Gone():
			return t.judge(true)
		case <-late.C:
			return t.judge(false)
		case <-ctx.Done(): // what is bought already is kept
			if t.judge(false) == nil {
				return nil
			}
			return t.agent.program.Cancelled(ctx)
		case <-t.events:
		case <-t.answers:
		}
	}
}

// take takes one event.
func (t *turn) take(e event) {
	if t.session == "" || e.Session != "" && e.Session != t.session {
		return // it is not of the request, which was not sent yet, or not here
	}
	own := e.Agent == ""
	t.last, t.waited = e.Type, false
	switch e.Type {
	case "external_tool.requested":
		t.calls.begin(t.toolCtx, e.Data)
	case "external_tool.completed":
		t.calls.cancel(e.Data.RequestID)
	case "permission.requested":
		t.permission(e.Data)
	case "tool.execution_complete":
		delete(t.at, e.Data.CallID)
	case "tool.execution_start":
		t.at[e.Data.CallID] = true
		t.emit(vendorprog.Deed(e.Data.ToolName, argument(e.Data.Arguments), t.task.Dir))
	case "assistant.turn_start": // also of an agent that the end of a command has woken
		if own {
			t.idle = false
		}
	case "assistant.usage":
		t.used.add(e.Data.usage)
		if own {
			t.idle, t.finish, t.refused = false, e.Data.Finish, e.Data.Filtered
		}
		t.emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: t.used.usage(false)})
	case "session.compaction_start":
		t.used.untold++
	case "session.compaction_complete": // by requests that are told of here alone
		t.used.untold--
		if e.Data.Compaction == nil {
			e.Data.Compaction = new(usage)
		}
		t.used.add(*e.Data.Compaction)
		t.emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: t.used.usage(false)})
	case "assistant.message_delta":
		if own && e.Data.Delta != "" {
			t.deltas = e.Data.MessageID
			t.emit(ports.AgentEvent{Kind: ports.AgentText, Text: e.Data.Delta})
		}
	case "assistant.message":
		if own {
			t.message(e.Data)
		}
	case "model.call_failure":
		if own {
			t.failed = &e.Data
			t.gaveUp = e.Data.transient() && e.Data.Attempt >= t.agent.retries()
			if !t.gaveUp && e.Data.transient() {
				t.emit(vendorprog.Activity(fmt.Sprintf("the service failed (%s); trying again, %d", vendorprog.Quote(e.Data.reason()), e.Data.Attempt+1)))
			}
		}
	case "session.error":
		t.failure = &e.Data
		if e.Data.ErrorType == "quota" && !t.byok && !t.asked {
			t.asked = true
			t.call(quota, fields{})
		}
	case "assistant.idle":
		if own {
			t.idle, t.aborted = true, e.Data.Aborted
		}
	case "session.idle":
		t.over, t.aborted = true, e.Data.Aborted
	}
}

// message takes what the model has said, which makes up for what failed before.
func (t *turn) message(d data) {
	t.spoken, t.failed, t.failure = true, nil, nil
	if d.Content == "" {
		return
	}
	t.text = d.Content
	if t.deltas != d.MessageID {
		t.emit(ports.AgentEvent{Kind: ports.AgentText, Text: d.Content})
	}
}

// permission answers what the agent asks for.
func (t *turn) permission(d data) {
	name, why := decide(d.Permission, t.task)
	result := fields{"kind": "approve-once"}
	if why != "" {
		result = fields{"kind": "reject", "feedback": why}
		if !slices.Contains(t.denied, name) {
			t.denied = append(t.denied, name)
		}
		t.emit(vendorprog.Activity("refused: " + name))
	}
	t.call(permit, fields{"sessionId": t.session, "requestId": d.RequestID, "result": result})
}

// argument returns the first argument of a call: that of a tool without a schema
// is a text.
func argument(args json.RawMessage) string {
	var text string
	if json.Unmarshal(args, &text) == nil {
		return text
	}
	return vendorprog.FirstArgument(args)
}
