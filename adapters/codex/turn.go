package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"example.com/agl/internal/instructions"
	"example.com/agl/internal/jsonrpc"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/toolserve"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// A turn is one run of the program. What it does not say of itself otherwise runs
// in Run's goroutine.
type turn struct {
	agent    *Agent
	task     ports.Task
	standing string // the repository's instructions
	emit     func(ports.AgentEvent)

	prog  *vendorprog.Process
	conn  *jsonrpc.Conn
	tools *toolserve.Server
	watch *vendorprog.Watch
	notes chan note // what the program tells
	begun chan beginning
	quit  chan struct{} // closed when nothing is taken any more

	mu     sync.Mutex
	calls  map[string]context.CancelFunc // tools that run, by the call's id
	denied []string                      // permissions that were asked for

	threadID string
	id       string // the turn's
	spoken   bool   // the model has answered
	text     string
	streamed string // the text that was told in pieces: its item's id
	used     tally
	reset    time.Time
	last     string // the last that was told, for messages
	ended    *turnState
	unheld   error // it is not in the sandbox that it should be in
}

// A beginning is how far a turn was begun.
type beginning struct {
	thread, turn string
	err          error
}

// Run runs one turn.
func (a *Agent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	if ctx.Err() != nil {
		return ports.Outcome{}, a.prog.Cancelled(ctx)
	}
	if n := utf8.RuneCountInString(task.Instructions); n > MaxPrompt {
		return ports.Outcome{}, ports.Invalid.Errorf(op, "the request is %d characters long, and %d is all that is taken; have the agent read what is long from a file", n, MaxPrompt)
	}
	standing, err := instructions.For(a.opts.Instructions, "codex", task.Dir)
	if err != nil {
		return ports.Outcome{}, err
	}
	t := &turn{
		agent: a, task: task, standing: standing, emit: emit, tools: toolserve.New(task.Tools), used: tally{},
		notes: make(chan note), begun: make(chan beginning), quit: make(chan struct{}), calls: make(map[string]context.CancelFunc),
	}
	err = t.run(ctx)
	return t.outcome(err), err
}

func (t *turn) run(ctx context.Context) error {
	program, err := t.agent.prog.Find()
	if err != nil {
		return t.agent.prog.Unstarted(ctx, err)
	}
	service, err := t.agent.service(ctx, program)
	if err != nil {
		return err
	}
	room, err := newRoom(t.agent.userHome())
	if err != nil {
		return err
	}
	defer room.remove()
	env := append([]string{"CODEX_HOME=" + room.home, "TMPDIR=" + room.tmp}, t.task.Env...)
	turnCtx, cancel := context.WithCancel(ctx)
	t.prog = vendorprog.Start(&proc.Cmd{
		Args: append([]string{program}, arguments()...), Dir: t.task.Dir, Env: t.agent.prog.Environ(env...),
		Grace: t.agent.grace(), Mark: vendorprog.MarkOf(t.task.Env),
	})
	t.watch = vendorprog.NewWatch(t.agent.idle(), func() int { return t.conn.Running() })
	t.conn = jsonrpc.New(turnCtx, t.prog.Stdout, t.prog.Stdin, jsonrpc.Options{Bare: true, Handle: t.serve, Notified: t.notified})
	defer t.watch.Stop()
	var begin sync.WaitGroup
	defer begin.Wait()
	defer t.conn.Close() // no tool runs after its turn
	defer t.prog.End()
	defer close(t.quit)
	defer cancel()

	begin.Go(func() { t.begin(turnCtx, t.thread(service), sandbox(t.task.Restrictions, room)) })
	for t.ended == nil {
		select {
		case <-ctx.Done():
			cancel()
			t.interrupt()
			return t.agent.prog.Cancelled(ctx)
		case b := <-t.begun:
			if err := t.begins(ctx, b); err != nil {
				return err
			}
			t.watch.Seen()
		case <-t.watch.Replies():
			t.watch.Seen()
		case <-t.watch.C():
			if t.watch.Silent() {
				return ports.Unexpected.Errorf(op, "it told of nothing for %v, last %s, and was ended: %w", t.agent.idle(), t.lastSeen(), context.DeadlineExceeded)
			}
			t.watch.Seen()
		case n := <-t.notes:
			if t.take(n); t.unheld != nil {
				return t.unheld
			}
		case <-t.conn.Done():
			return t.broken(ctx)
		}
	}
	cancel() // a call that is left over is of no use
	return t.finish(ctx)
}

// begin begins the turn, in a goroutine of its own.
func (t *turn) begin(ctx context.Context, thread, sandbox object) {
	tell := func(b beginning) bool {
		select {
		case t.begun <- b:
			return b.err == nil
		case <-t.quit:
			return false
		}
	}
	var started begun
	var turned struct{ Turn turnState }
	err := t.conn.Call(ctx, "initialize", initialize(), nil)
	if err == nil {
		err = t.conn.Notify(ctx, "initialized", nil)
	}
	if err == nil {
		err = t.conn.Call(ctx, "thread/start", thread, &started)
	}
	if err == nil {
		err = held(started.Sandbox, readOnly)
	}
	if !tell(beginning{thread: started.Thread.ID, err: err}) {
		return
	}
	err = t.conn.Call(ctx, "turn/start", object{
		"threadId": started.Thread.ID, "input": []object{{"type": "text", "text": t.task.Instructions, "text_elements": []object{}}},
		"sandboxPolicy": sandbox,
	}, &turned)
	tell(beginning{turn: turned.Turn.ID, err: err})
}

// held refuses a program that does not sandbox as it is told, in the sandbox that
// is wanted or in one that only reads: what an administrator has decreed may
// stand above that.
func held(got confinement, want string) error {
	if want == unconfined || (got.Type == want || got.Type == readOnly) && !got.Network {
		return nil
	}
	return ports.Unavailable.Errorf(op, "it does not hold an agent to restrictions: asked for a sandbox that is %q, it has one that is %q", want, got.Type)
}

// begins takes how far the turn was begun.
func (t *turn) begins(ctx context.Context, b beginning) error {
	failed := (*jsonrpc.Error)(nil)
	switch {
	case b.err == nil:
	case errors.As(b.err, &failed):
		var data struct {
			Code string `json:"input_error_code"`
		}
		if _ = json.Unmarshal(failed.Data, &data); data.Code == "input_too_large" {
			return ports.Invalid.Errorf(op, "the request is too long: %s; have the agent read what is long from a file", vendorprog.Quote(failed.Message))
		}
		return ports.Unavailable.Errorf(op, "it does not take AGL's settings: %s; AGL works with version %s and later", vendorprog.Quote(failed.Message), versions.Oldest)
	case errors.Is(b.err, jsonrpc.ErrEnded):
		return t.broken(ctx)
	case ctx.Err() != nil:
		return t.agent.prog.Cancelled(ctx)
	case ports.KindOf(b.err) != "":
		return b.err
	default:
		return ports.Unexpected.Errorf(op, "%w", b.err)
	}
	if b.thread != "" {
		t.threadID = b.thread
		t.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: vendorprog.Word(t.threadID)})
	}
	if b.turn != "" {
		t.id = b.turn
	}
	return nil
}

// notified passes on what the program tells, in the goroutine that reads.
func (t *turn) notified(method string, doc json.RawMessage) {
	n := note{method: method}
	// What is written in another way is read as far as it goes: what is told grows
	// with each version.
	_ = json.Unmarshal(doc, &n.params)
	select {
	case t.notes <- n:
	case <-t.quit:
	}
}

// interrupt has the program end its turn, if it does so soon: then it ends what
// it started itself, and says what was used.
func (t *turn) interrupt() {
	if t.threadID == "" || t.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.agent.grace()/2)
	var asked sync.WaitGroup
	defer asked.Wait()
	defer cancel()
	asked.Go(func() { _ = t.conn.Call(ctx, "turn/interrupt", object{"threadId": t.threadID, "turnId": t.id}, nil) })
	for t.ended == nil {
		select {
		case n := <-t.notes:
			t.take(n)
		case <-t.conn.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// finish waits for the program to end after its turn, and says what came of
// that. One that does not end is ended: the turn has.
func (t *turn) finish(ctx context.Context) error {
	t.conn.Finish()
	late := time.NewTimer(t.agent.grace())
	defer late.Stop()
	for {
		select {
		case <-t.notes: // they come too late
		case <-t.conn.Done():
			return t.judge(true)
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

// take takes what the program tells.
func (t *turn) take(n note) {
	p := n.params
	t.last = n.method
	if p.Item.Type != "" {
		t.last += " " + p.Item.Type
	}
	if n.method != "error" { // which is no sign of life: a service that hangs is tried again and again
		t.watch.Seen()
	}
	ours := t.threadID != "" && p.ThreadID == t.threadID
	switch n.method {
	case "turn/started":
		if ours {
			t.id = p.Turn.ID
		}
	case "thread/settings/updated":
		if got := p.Settings.Sandbox; ours && got != nil {
			want, _ := sandbox(t.task.Restrictions, &room{})["type"].(string)
			t.unheld = held(*got, want)
		}
	case "item/started":
		if e := describe(p.Item, t.task.Dir); e.Text != "" {
			t.spoken = true
			t.emit(e)
		}
	case "item/agentMessage/delta":
		if ours && p.Delta != "" {
			t.spoken, t.streamed = true, p.ItemID
			t.emit(ports.AgentEvent{Kind: ports.AgentText, Text: p.Delta})
		}
	case "item/completed":
		t.completed(p.Item, ours)
	case "thread/tokenUsage/updated":
		if t.used.thread(p.ThreadID, p.Usage.Total) {
			t.emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: t.used.sum()})
		}
	case "account/rateLimits/updated":
		for _, w := range []*window{p.Limits.Primary, p.Limits.Secondary} {
			if w == nil || w.Used < 100 {
				continue
			}
			if at := vendorprog.Reset(w.ResetsAt); at.After(t.reset) {
				t.reset = at
			}
		}
	case "error":
		if p.Error != nil && p.WillRetry {
			t.emit(vendorprog.Activity(fmt.Sprintf("the service failed (%s); trying again", vendorprog.Quote(p.Error.Message))))
		}
	case "turn/completed":
		if ours {
			t.ended = &p.Turn
		}
	}
}

// completed takes an item that is whole.
func (t *turn) completed(i item, ours bool) {
	switch {
	case i.Type == "agentMessage" && ours && i.Text != "":
		t.spoken, t.text = true, i.Text
		if t.streamed != i.ID {
			t.emit(ports.AgentEvent{Kind: ports.AgentText, Text: i.Text})
		}
	case i.Type == "dynamicToolCall":
		t.mu.Lock()
		if cancel := t.calls[i.ID]; cancel != nil {
			cancel() // it is not waited for any more
		}
		t.mu.Unlock()
	case i.Status == "declined":
		t.deny(vendorprog.Word(i.Type))
	}
}
