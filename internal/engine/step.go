package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// Step takes a step: its agent runs, unless it is recorded.
func (r *Run) Step(ctx context.Context, s *Step) error {
	if err := r.walk.x.job.resolve(s); err != nil {
		return fmt.Errorf("step %s: %w", s.Role.Name, err)
	}
	terms, err := stepTerms(s)
	if err != nil {
		return fmt.Errorf("step %s: %w", s.Role.Name, err)
	}
	return r.take(ctx, &verb{
		kind:    ports.KindStep,
		name:    s.Role.Name,
		model:   s.Role.Model,
		terms:   terms,
		commits: s.Ending == EndCommit,
		deliver: s.Deliver,
		run: func(ctx context.Context, a *attempt) (*ledger.Entry, error) {
			return a.step(ctx, s)
		},
	})
}

// step runs a step's agent and ends the step.
func (a *attempt) step(ctx context.Context, s *Step) (*ledger.Entry, error) {
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	value, err := a.turn(ctx, s)
	if err != nil {
		return a.fail(ctx, err)
	}
	a.record.Value = value
	return a.succeed(ctx, result{ending: s.Ending, message: s.Message, allowEmpty: s.AllowEmpty})
}

// turn runs a step's agent and returns its report, or why there is none.
func (a *attempt) turn(ctx context.Context, s *Step) (json.RawMessage, error) {
	a.record.Model = s.Role.Model
	report := &reporting{accept: s.Accept, giveUp: a.endTurn}
	outcome, err := a.runAgent(ctx, s, report)
	a.record.Usage = outcome.Usage
	a.record.Session = sessionID(outcome.Session)
	value, reported := report.value()
	incomplete := &ports.IncompleteError{
		Role: s.Role.Name, Stop: outcome.Stop, Said: ports.Clip(outcome.Text, 2000), Refused: report.spent(),
	}
	switch {
	case incomplete.Refused != "" && ctx.Err() == nil && (err == nil || errors.Is(err, context.Canceled)):
		err = incomplete
	case err != nil:
	case len(outcome.Denied) > 0:
		err = ports.Denied.Errorf("", "its agent was refused %s", list(outcome.Denied))
	case outcome.Stop != ports.StopCompleted, s.Role.Schema != nil && !reported:
		err = incomplete
	}
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", s.Role.Name, err)
	}
	return value, nil
}

// runAgent runs one turn. What was used is in the outcome even if it fails.
func (a *attempt) runAgent(ctx context.Context, s *Step, report *reporting) (ports.Outcome, error) {
	x := a.x
	agent, err := x.engine.agent(s.Role.Model)
	if err != nil {
		return ports.Outcome{}, err
	}
	if err := covers(ctx, agent, s.Role); err != nil {
		return ports.Outcome{}, err
	}
	a.walk.still.Add(1) // it may be for an agent that waits for a person
	release, err := x.engine.acquire(ctx)
	a.walk.still.Add(-1)
	if err != nil {
		return ports.Outcome{}, err
	}
	defer release()
	if spent := x.book.Spent().Tokens(); x.budget > 0 && spent >= x.budget {
		return ports.Outcome{}, ports.Denied.Errorf("", "the run's budget of %d tokens is spent (%d used); resume it with a larger one", x.budget, spent)
	}

	a.began()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what a handler still does for an agent that is gone
	a.mu.Lock()
	a.cancelTurn = cancel
	a.mu.Unlock()
	var seen ports.Usage
	session := ""
	emit := func(e ports.AgentEvent) {
		switch e.Kind {
		case ports.AgentActivity:
			x.publish(a.space.name, ports.Activity{Text: ports.Clip(ports.Printable(e.Text), 400)})
		case ports.AgentText:
			x.publish(a.space.name, ports.Text{Text: e.Text})
		case ports.AgentSession:
			session = e.Text
			a.inSession(ctx, e.Text)
		case ports.AgentUsage:
			seen = e.Usage
			x.publish(a.space.name, ports.UsageSeen{Usage: e.Usage})
		}
	}
	outcome, err := guardPanic(x, "agent "+s.Role.Model.Provider(), func() (ports.Outcome, error) {
		return agent.Run(ctx, a.task(s, report), emit)
	})
	if said := outcome.Usage; said == (ports.Usage{Complete: said.Complete}) && seen != (ports.Usage{}) {
		outcome.Usage = seen
	}
	if err != nil {
		outcome.Usage.Complete = false
	}
	if outcome.Session == "" {
		outcome.Session = session
	}
	if err != nil && ctx.Err() == nil && ports.KindOf(err) == "" {
		err = ports.Unexpected.Errorf("", "its agent failed: %w", err)
	}
	return outcome, err
}

// task is what the agent is given.
func (a *attempt) task(s *Step, report *reporting) ports.Task {
	t := ports.Task{
		Run:          a.x.label,
		Namespace:    a.space.name,
		Role:         s.Role.Name,
		Ordinal:      a.verb.ordinal,
		Landing:      a.verb.landing,
		Model:        s.Role.Model,
		Instructions: instructions(s),
		Dir:          a.ws.Dir(),
		Workspace:    a.ws,
		Restrictions: s.Role.restrictions(),
		Env:          a.env(),
	}
	for _, in := range s.Inputs {
		t.Inputs = append(t.Inputs, ports.Input{Name: in.Name, Value: inputJSON(in.Value)})
	}
	for _, tool := range s.Role.Tools {
		if tool.Ask != nil {
			t.Tools = append(t.Tools, a.askTool(tool))
		} else {
			t.Tools = append(t.Tools, a.tool(tool))
		}
	}
	if s.Role.Schema != nil {
		t.Report = ReportTool
		t.Tools = append(t.Tools, report.tool(a.x, s.Role))
	}
	return t
}

// tool serves a role's tool to its agent. A call that fails is a refusal that
// the model reads.
func (a *attempt) tool(tool *Tool) ports.Tool {
	return ports.Tool{
		Name: tool.Name, Doc: tool.Doc, Schema: tool.Schema.JSON(),
		Call: func(ctx context.Context, args json.RawMessage) ports.ToolResult {
			text, err := guardPanic(a.x, "tool "+tool.Name, func() (string, error) {
				return tool.Call(ctx, a.world(ctx), args)
			})
			if err != nil {
				return ports.ToolResult{Text: err.Error(), Rejected: true}
			}
			return ports.ToolResult{Text: text}
		},
	}
}
