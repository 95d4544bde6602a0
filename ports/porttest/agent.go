package porttest

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/agl/ports"
)

// AgentOptions say how to get at the agents to be graded. Play and Model are
// required; a rule that needs something that is not given is skipped, saying
// so.
type AgentOptions struct {
	// Play returns an agent whose model does what turn says, in each run. For a
	// vendor's program that is a fake of the vendor's service, which gives each
	// run a session of its own; for an agent in this process it may be Turn.Play.
	Play func(t testing.TB, turn Turn) ports.Agent

	// Model is one that the agents know.
	Model ports.Model

	// Unknown is a model that the agents do not know. Empty: they know all.
	Unknown ports.Model

	// NotReady returns an agent that cannot start a turn now: nobody is logged
	// in, the program is missing. Nil: there always is one.
	NotReady func(t testing.TB) ports.Agent

	// Prompts says that Turn.Prompt is called, Results that Turn.Result is.
	Prompts, Results bool

	// Parallel says that the calls of an act are made at once.
	Parallel bool

	// Recovers says that a tool which panics is a refused call, which the model
	// reads, and not the end of the turn.
	Recovers bool

	// Wait is how long a slow tool takes. 0: a moment. What takes more than a
	// second is skipped under -short, and what takes more than a few needs Slow.
	Wait time.Duration

	// Programs says that the agent can start programs (Act.SaveEnv).
	Programs bool

	// Refuses says that the agent can be refused a permission (Act.Refused).
	Refuses bool

	// Cached, Reasoning and Cost say that these figures of Act.Usage are
	// reported.
	Cached, Reasoning, Cost bool

	// Priced says that the agent computes the cost itself, from the other figures;
	// Cost is false then.
	Priced bool

	// Live says that what an act used is told before the turn goes on.
	Live bool

	// Slow says that each turn takes seconds, as that of a large program does: the
	// suite waits twelve times as long before it calls something hung.
	Slow bool

	// Doubles says that a program which is not the agent's own, as a vendor's in
	// JavaScript, reads each number of a call's arguments as a 64-bit float.
	Doubles bool
}

// Agent grades an implementation of ports.Agent. Each rule of its contract is
// a parallel subtest.
func Agent(t *testing.T, opts AgentOptions) {
	t.Helper()
	fresh := func(testing.TB) AgentOptions { return opts }
	if opts.Slow {
		gradeWith(t, &patience{limit: 12 * longest, hurried: longest}, agentRules(), fresh)
		return
	}
	grade(t, agentRules(), fresh)
}

func agentRules() []rule[AgentOptions] {
	return slices.Concat(turnRules, usageRules, toolRules, callRules)
}

// played is a turn that was run.
type played struct {
	ports.Outcome
	err error

	over, busy atomic.Int32
	mu         sync.Mutex
	events     []ports.AgentEvent
}

// tell returns what takes the turn's events: one at a time, and none when the
// turn is over.
func (p *played) tell(c *check) func(ports.AgentEvent) {
	return func(e ports.AgentEvent) {
		if p.busy.Add(1) != 1 {
			c.Errorf("two goroutines emit at once, one of them %+v; want one at a time", e)
		}
		if p.over.Load() != 0 {
			c.Errorf("after Run had returned it emitted %+v; want nothing", e)
		}
		for range 10 { // give others time to break the rule
			runtime.Gosched()
		}
		p.mu.Lock()
		p.events = append(p.events, e)
		p.mu.Unlock()
		p.busy.Add(-1)
	}
}

// of returns the events of a kind.
func (p *played) of(kind ports.AgentEventKind) []ports.AgentEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	var events []ports.AgentEvent
	for _, e := range p.events {
		if e.Kind == kind {
			events = append(events, e)
		}
	}
	return events
}

// task returns a task with these tools.
func (o AgentOptions) task(c *check, tools ...ports.Tool) ports.Task {
	return ports.Task{
		Run: "run", Namespace: ports.Base, Role: Role, Ordinal: 1, Model: o.Model,
		Instructions: "Do as you are told.", Dir: c.TempDir(), Tools: tools,
	}
}

// run runs a task.
func (o AgentOptions) run(ctx context.Context, c *check, agent ports.Agent, task ports.Task) *played {
	p := new(played)
	p.Outcome, p.err = agent.Run(ctx, task, p.tell(c))
	p.over.Store(1)
	if p.err == nil && p.Stop != ports.StopCompleted && p.Stop != ports.StopLimit {
		c.Errorf("a turn ended without an error, and its stop reason is %q; want %q or %q", p.Stop, ports.StopCompleted, ports.StopLimit)
	}
	return p
}

// play runs a turn with these tools, which must succeed.
func (o AgentOptions) play(c *check, turn Turn, tools ...ports.Tool) *played {
	p := o.run(c.Context(), c, o.Play(c, turn), o.task(c, tools...))
	c.must(p.err, "running a turn")
	return p
}

// A toolbox makes tools that keep how they were called.
type toolbox struct {
	mu    sync.Mutex
	calls []string // "tool args", the arguments compact
}

// tool returns a tool that takes a text called "q", and whose results come
// from answer.
func (b *toolbox) tool(name string, answer func(ctx context.Context, n int, args json.RawMessage) ports.ToolResult) ports.Tool {
	n := 0
	return ports.Tool{
		Name: name, Doc: "Asks a question.",
		Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`),
		Call: func(ctx context.Context, args json.RawMessage) ports.ToolResult {
			b.mu.Lock()
			b.calls = append(b.calls, name+" "+string(args))
			n++
			nth := n
			b.mu.Unlock()
			return answer(ctx, nth, args)
		},
	}
}

// called returns the calls there were.
func (b *toolbox) called() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.calls...)
}

// answered is an answer that is always the same.
func answered(text string) func(context.Context, int, json.RawMessage) ports.ToolResult {
	return func(context.Context, int, json.RawMessage) ports.ToolResult { return ports.ToolResult{Text: text} }
}
