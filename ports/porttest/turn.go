package porttest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"example.com/agl/ports"
)

// Role is the role of every turn that the agents' suite runs, and the only
// tools that it calls are named "ask" and "report".
const Role = "worker"

// A Turn is what an agent's model does in one turn: the acts in their order,
// then the end.
type Turn struct {
	Acts []Act
	Hang bool             // it goes on until it is ended
	Stop ports.StopReason // how it ends; empty: StopCompleted
	Fail ports.Kind       // it fails instead: Unavailable, Unexpected or Denied

	// Prompt is told what reached the model before the first act, and Result
	// what the model read after each call. The suite sets them or leaves them
	// nil; what stands in for the model calls them if it can.
	Prompt func(text string)
	Result func(result ports.ToolResult)
}

// An Act is one thing that a model does. One field is set.
type Act struct {
	Activity string      // what the agent is seen doing, where that is the model's to say
	Text     string      // it writes a text
	Usage    ports.Usage // it uses this much; several add up
	Calls    []Call      // it calls tools, at once if they are several
	Refused  bool        // it asks for a permission that it has not, and goes on without it; needs AgentOptions.Refuses
	SaveEnv  string      // it starts a program that writes the value of this variable into a file of its name, in its working directory
}

// A Call is a call of a tool.
type Call struct {
	Tool string
	Args string // JSON
}

// Play plays the turn in this process: what Agent grades where an agent is
// made of a function. It starts no programs.
func (t Turn) Play(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	outcome := ports.Outcome{Stop: t.Stop, Usage: ports.Usage{Complete: true}}
	if t.Prompt != nil {
		t.Prompt(task.Instructions)
	}
	for _, act := range t.Acts {
		if err := ctx.Err(); err != nil {
			return outcome, fmt.Errorf("playing a turn: %w", err)
		}
		switch {
		case act.Activity != "":
			emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: act.Activity})
		case act.Text != "":
			outcome.Text = act.Text
			emit(ports.AgentEvent{Kind: ports.AgentText, Text: act.Text})
		case act.Usage != ports.Usage{}:
			act.Usage.Complete = true
			outcome.Usage = outcome.Usage.Add(act.Usage)
			emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: outcome.Usage})
		case act.Refused:
			outcome.Denied = append(outcome.Denied, "something")
		case act.SaveEnv != "":
			return outcome, ports.Unexpected.Errorf("", "this agent starts no programs")
		default:
			if err := t.call(ctx, task, act.Calls); err != nil {
				return outcome, err
			}
		}
	}
	switch {
	case t.Hang:
		<-ctx.Done()
		return outcome, fmt.Errorf("playing a turn: %w", ctx.Err())
	case ctx.Err() != nil:
		return outcome, fmt.Errorf("playing a turn: %w", ctx.Err())
	case t.Fail != "":
		return outcome, t.Fail.Errorf("", "the turn was to fail")
	case t.Stop == "":
		outcome.Stop = ports.StopCompleted
	}
	return outcome, nil
}

// call makes the calls of an act. A tool's panic is the caller's.
func (t Turn) call(ctx context.Context, task ports.Task, calls []Call) error {
	results := make([]ports.ToolResult, len(calls))
	panics := make([]any, len(calls))
	var group sync.WaitGroup
	for i, call := range calls {
		tool := task.Tool(call.Tool)
		if tool.Call == nil {
			return ports.Unexpected.Errorf("", "there is no tool %q", call.Tool)
		}
		if len(calls) == 1 {
			results[i] = tool.Call(ctx, json.RawMessage(call.Args))
			continue
		}
		group.Go(func() {
			defer func() { panics[i] = recover() }()
			results[i] = tool.Call(ctx, json.RawMessage(call.Args))
		})
	}
	group.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	for _, result := range results {
		if t.Result != nil {
			t.Result(result)
		}
	}
	return nil
}
