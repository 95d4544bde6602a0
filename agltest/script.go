package agltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"example.com/agl"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A script is what a role's agent does.
type script struct {
	role    string
	reports bool // it has a payload
	handle  func(ctx context.Context, turn *Turn) (any, error)

	replies int // how many there are, of a role with replies
	next    int // the first that nobody has asked for
}

// A place is a verb of a run.
type place struct {
	label string
	verb  ports.Verb
}

// started is what is known of a step whose agent was started.
type started struct {
	times int
	cut   bool  // its turn was cancelled
	life  *life // that it was started in last
	reply int   // that it was given, from 0
}

// Reply scripts a role's agent with reports: the first step asks for the
// first, and so on, over all namespaces; where steps run in parallel, use
// Handle, which knows whose step it is. On an Editor each also writes the
// file "<role>.<n>.txt", so that a Commit has something to commit. A step that
// a crash interrupted is given the same report when it runs again; one that
// failed and is tried again, the next.
//
// A role that reports nothing is scripted for one step, or for as many as
// there are agl.None{}. Further calls add replies.
func Reply[P any](h *Harness, role agl.RoleOf[P], reports ...P) {
	h.t.Helper()
	name, edits := identify(role)
	_, nothing := any(*new(P)).(agl.None)
	if len(reports) == 0 {
		if !nothing {
			h.t.Fatalf("agltest: Reply for role %q has no report, and the role reports a %T", name, *new(P))
		}
		reports = make([]P, 1)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.scripts[name]
	if s == nil {
		s = &script{role: name, reports: !nothing}
		h.scripts[name] = s
	}
	if s.handle != nil && s.replies == 0 {
		h.t.Fatalf("agltest: role %q is scripted by Handle already", name)
	}
	begin := s.replies
	before := s.handle
	s.replies += len(reports)
	s.handle = func(ctx context.Context, turn *Turn) (any, error) {
		if turn.reply < begin {
			return before(ctx, turn)
		}
		if edits {
			turn.WriteFile(fmt.Sprintf("%s.%d.txt", name, turn.reply+1), fmt.Sprintf("%s %d\n", name, turn.reply+1))
		}
		return reports[turn.reply-begin], nil
	}
}

// Handle scripts a role's agent with a function: what it returns is reported,
// its error is the agent's. It is called for every step of the role, from the
// goroutines that take them. A panic in it fails its step; a require in it
// fails the test as well.
//
// A role is scripted once, by Handle or by Reply: which step it is, the turn
// says.
//
// A step whose process died runs again: for CrashEverywhere, let what the
// function does depend on the turn alone.
func Handle[P any](h *Harness, role agl.RoleOf[P], handle func(ctx context.Context, turn *Turn) (P, error)) {
	h.t.Helper()
	name, _ := identify(role)
	if handle == nil {
		h.t.Fatalf("agltest: Handle for role %q has no function", name)
	}
	_, nothing := any(*new(P)).(agl.None)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scripts[name] != nil {
		h.t.Fatalf("agltest: role %q is scripted already", name)
	}
	h.scripts[name] = &script{role: name, reports: !nothing, handle: func(ctx context.Context, turn *Turn) (any, error) {
		return handle(ctx, turn)
	}}
}

// identify returns a role's name, and whether it edits.
func identify[P any](role agl.RoleOf[P]) (name string, edits bool) {
	switch r := role.(type) {
	case agl.Editor[P]:
		return r.Name, true
	case agl.Reader[P]:
		return r.Name, false
	}
	panic(fmt.Sprintf("agltest: a %T is no role", role))
}

// play runs one turn of a role.
func (h *Harness) play(ctx context.Context, l *life, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	if l.replays {
		return ports.Outcome{}, ports.Denied.Errorf("", "a replay starts no agent")
	}
	turn, s, err := h.turn(ctx, l, task, emit)
	if err != nil {
		h.t.Errorf("agltest: %v", err)
		return ports.Outcome{}, ports.Invalid.Errorf("", "%w", err)
	}
	var payload any
	ended := false
	failed := fmt.Errorf("the handler of role %q has ended its goroutine", task.Role)
	done := make(chan struct{})
	// A goroutine of its own, which a turn that must not go on can end.
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				h.t.Logf("agltest: panic in the handler of role %q: %v\n%s", task.Role, p, debug.Stack())
				failed = ports.Internal.Errorf("", "panic in the handler of role %q: %v", task.Role, p)
			}
		}()
		payload, err = s.handle(ctx, turn)
		ended = true
	}()
	<-done
	turn.over.Store(true)
	h.mu.Lock()
	h.started[turn.at].cut = errors.Is(ctx.Err(), context.Canceled)
	h.mu.Unlock()
	switch {
	case l.isDead():
		return ports.Outcome{}, ErrCrashed
	case ctx.Err() != nil:
		return turn.outcome, ctx.Err() // an agent that is told to stop has no report
	case !ended:
		return turn.outcome, failed
	case err != nil:
		return turn.outcome, err
	case turn.outcome.Stop != ports.StopCompleted || !s.reports || turn.reported:
		return turn.outcome, nil
	}
	doc, err := strictjson.Canonical(payload)
	if err != nil {
		err = fmt.Errorf("the report of role %q cannot be written: %w", task.Role, err)
		h.t.Errorf("agltest: %v", err)
		return turn.outcome, ports.Invalid.Errorf("", "%w", err)
	}
	if told := task.Tool(task.Report).Call(ctx, doc); told.Rejected {
		if s.replies > 0 {
			h.t.Errorf("agltest: reply %d of role %q does not fit: %s; to see what an agent is told, report it by Turn.Report in a Handle", turn.reply+1, task.Role, told.Text)
		}
		turn.outcome.Text = told.Text // the step says what the agent said last
	}
	return turn.outcome, nil
}

// turn finds the script of a task, as it is now, and makes its turn.
func (h *Harness) turn(ctx context.Context, l *life, task ports.Task, emit func(ports.AgentEvent)) (*Turn, script, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := place{task.Run, verbOf(ctx, task)}
	name := fmt.Sprintf("%s #%d", task.Role, task.Ordinal)
	if task.Namespace != ports.Base {
		name = task.Namespace + " " + name
	}
	h.agents = append(h.agents, name)
	in := task.Namespace
	if task.Landing > 0 {
		in = fmt.Sprintf("landing #%d of %s", task.Landing, in)
	}
	what := fmt.Sprintf("its step #%d in %s has %s", task.Ordinal, in, inputs(task))
	s := h.scripts[task.Role]
	if s == nil {
		return nil, script{}, fmt.Errorf("role %q has no script: call Reply or Handle (scripted are %q); %s",
			task.Role, slices.Sorted(maps.Keys(h.scripts)), what)
	}
	if s.reports != (task.Report != "") {
		return nil, script{}, fmt.Errorf("role %q is scripted as another role of that name: one of them reports something, the other nothing; %s", task.Role, what)
	}
	was := h.started[at]
	if was == nil {
		was = &started{reply: -1}
		h.started[at] = was
	}
	interrupted := was.cut || was.life.interrupted(l)
	was.times++
	was.life = l
	if s.replies > 0 && !interrupted {
		if s.next == s.replies {
			return nil, script{}, fmt.Errorf("role %q has %s and is asked for one more; %s", task.Role, plural(s.replies, "reply", "replies"), what)
		}
		was.reply = s.next
		s.next++
	}
	return &Turn{
		N: task.Ordinal, Landing: task.Landing, Attempt: was.times, Role: task.Role, Namespace: task.Namespace, Model: task.Model,
		Instructions: task.Instructions, Dir: task.Dir, Tree: task.Workspace.Tree(),
		h: h, at: at, life: l, ctx: ctx, task: task, emit: emit, reply: was.reply,
		outcome: ports.Outcome{Stop: ports.StopCompleted, Usage: ports.Usage{Complete: true}},
	}, *s, nil
}

// verbOf returns the verb that a task is of.
func verbOf(ctx context.Context, task ports.Task) ports.Verb {
	if v, ok := ports.VerbOf(ctx); ok {
		return v
	}
	return ports.Verb{Namespace: task.Namespace, Kind: ports.KindStep, Name: task.Role, Ordinal: task.Ordinal}
}

// inputs names a task's inputs, for messages.
func inputs(task ports.Task) string {
	if len(task.Inputs) == 0 {
		return "no inputs"
	}
	list := make([]string, len(task.Inputs))
	for i, in := range task.Inputs {
		list[i] = in.Name + "=" + ports.Clip(string(in.Value), 200)
	}
	return "the inputs " + strings.Join(list, ", ")
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
