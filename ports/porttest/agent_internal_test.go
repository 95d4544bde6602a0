package porttest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A brokenAgent is a good one but for the functions that are set.
type brokenAgent struct {
	mem.Agent
	turn         Turn
	capabilities func() ports.Capabilities
	ready        func(ports.Model) error
	run          func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error)
}

func (a *brokenAgent) Capabilities(ctx context.Context, model ports.Model) (ports.Capabilities, error) {
	if a.capabilities != nil {
		return a.capabilities(), nil
	}
	return a.Agent.Capabilities(ctx, model)
}

func (a *brokenAgent) Ready(_ context.Context, model ports.Model) error {
	switch {
	case a.ready != nil:
		return a.ready(model)
	case model == "fake/unknown":
		return ports.Invalid.Errorf("", "there is no model %s", model)
	}
	return nil
}

func (a *brokenAgent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	if a.run != nil {
		return a.run(ctx, task, emit)
	}
	return a.Agent(ctx, task, emit)
}

// breakAgent returns options whose agents are broken as change says. They
// claim to do everything.
func breakAgent(change func(a *brokenAgent)) func(testing.TB) AgentOptions {
	return func(testing.TB) AgentOptions {
		return AgentOptions{
			Play: func(_ testing.TB, turn Turn) ports.Agent {
				a := &brokenAgent{Agent: mem.Agent(turn.Play), turn: turn}
				change(a)
				return a
			},
			NotReady: func(testing.TB) ports.Agent {
				a := &brokenAgent{ready: func(ports.Model) error { return ports.Unavailable.Errorf("", "nobody is logged in: log in") }}
				a.run = func(context.Context, ports.Task, func(ports.AgentEvent)) (ports.Outcome, error) {
					return ports.Outcome{}, a.ready("")
				}
				change(a)
				return a
			},
			Model: "fake/model", Unknown: "fake/unknown", Prompts: true, Results: true, Parallel: true, Programs: true,
			Refuses: true, Cached: true, Reasoning: true, Cost: true, Live: true,
		}
	}
}

// priced returns options whose agents claim to price turns themselves.
func priced(fresh func(testing.TB) AgentOptions) func(testing.TB) AgentOptions {
	return func(t testing.TB) AgentOptions {
		opts := fresh(t)
		opts.Cost, opts.Priced = false, true
		return opts
	}
}

// ended breaks how turns end.
func ended(end func(*ports.Outcome, *error)) func(testing.TB) AgentOptions {
	return breakAgent(func(a *brokenAgent) {
		a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
			outcome, err := a.Agent.Run(ctx, task, emit)
			end(&outcome, &err)
			return outcome, err
		}
	})
}

// given breaks what a turn is given.
func given(give func(ctx *context.Context, task *ports.Task, emit *func(ports.AgentEvent))) func(testing.TB) AgentOptions {
	return breakAgent(func(a *brokenAgent) {
		a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
			task.Tools = slices.Clone(task.Tools)
			give(&ctx, &task, &emit)
			return a.Agent(ctx, task, emit)
		}
	})
}

// told breaks what a turn tells.
func told(tell func(*ports.AgentEvent) bool) func(testing.TB) AgentOptions {
	return given(func(_ *context.Context, _ *ports.Task, emit *func(ports.AgentEvent)) {
		good := *emit
		*emit = func(e ports.AgentEvent) {
			if tell(&e) {
				good(e)
			}
		}
	})
}

// called breaks how tools are called.
func called(call func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult) func(testing.TB) AgentOptions {
	return given(func(_ *context.Context, task *ports.Task, _ *func(ports.AgentEvent)) {
		for i := range task.Tools {
			good := task.Tools[i].Call
			task.Tools[i].Call = func(ctx context.Context, args json.RawMessage) ports.ToolResult { return call(ctx, good, args) }
		}
	})
}

func TestTheAgentSuiteFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	names(t, agentRules())
	find(t, agentRules(), []broken[AgentOptions]{
		{fault: "capabilities that come and go", rule: "capabilities are stable", fresh: breakAgent(func(a *brokenAgent) {
			var n atomic.Int32
			a.capabilities = func() ports.Capabilities { return ports.Capabilities{Tools: n.Add(1) == 1} }
		})},
		{fault: "a restriction nobody knows", rule: "capabilities are stable", says: "no-fun", fresh: breakAgent(func(a *brokenAgent) {
			a.capabilities = func() ports.Capabilities { return ports.Capabilities{Enforce: []ports.Restriction{"no-fun"}} }
		})},
		{fault: "is never ready", rule: "an agent that is ready starts a turn", fresh: breakAgent(func(a *brokenAgent) {
			a.ready = func(ports.Model) error { return ports.Unavailable.Errorf("", "come back later") }
		})},
		{fault: "knows every model", rule: "an unknown model is Invalid", fresh: breakAgent(func(a *brokenAgent) {
			a.ready = func(ports.Model) error { return nil }
		})},
		{fault: "is ready when it is not", rule: "an agent that is not ready says what to do", fresh: breakAgent(func(a *brokenAgent) {
			a.ready = func(ports.Model) error { return nil }
		})},
		{fault: "gives no reason for the end", rule: "a turn that came to its end is completed", says: `its stop reason is ""`, fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Stop = ""
		})},
		{fault: "takes a limit for the end", rule: "a turn that was cut off says so", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Stop = ports.StopCompleted
		})},
		{fault: "takes a limit for an error", rule: "a turn that was cut off says so", fresh: ended(func(o *ports.Outcome, err *error) {
			if o.Stop == ports.StopLimit {
				*err = ports.Unexpected.Errorf("", "the limit was reached")
			}
		})},
		{fault: "takes an error for success", rule: "a turn that failed is an error", fresh: ended(func(o *ports.Outcome, err *error) {
			if o.Text != "" {
				o.Stop, *err = ports.StopCompleted, nil
			}
		})},
		{fault: "an error without its kind", rule: "a turn that failed is an error", fresh: ended(func(_ *ports.Outcome, err *error) {
			if *err != nil {
				*err = errors.New("exit status 1")
			}
		})},
		{fault: "returns the first text", rule: "the last text is the outcome's", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Text = "reading the code"
		})},
		{fault: "tells no text", rule: "the last text is the outcome's", says: "was not told", fresh: told(func(e *ports.AgentEvent) bool {
			return e.Kind != ports.AgentText
		})},
		{fault: "forgets usage", rule: "usage adds up", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Usage.Input -= 100
		})},
		{fault: "tells usage twice over", rule: "usage adds up", says: "told", fresh: told(func(e *ports.AgentEvent) bool {
			e.Usage = e.Usage.Add(e.Usage)
			return true
		})},
		{fault: "forgets what a failure cost", rule: "what a failed turn used is told", fresh: breakAgent(func(a *brokenAgent) {
			a.run = func(ctx context.Context, task ports.Task, _ func(ports.AgentEvent)) (ports.Outcome, error) {
				_, err := a.Agent(ctx, task, func(ports.AgentEvent) {})
				return ports.Outcome{}, err
			}
		})},
		{fault: "tells activities as they come", rule: "an activity is one line", fresh: given(func(*context.Context, *ports.Task, *func(ports.AgentEvent)) {})},
		{fault: "two ids of one session", rule: "a session has one id", fresh: given(func(_ *context.Context, _ *ports.Task, emit *func(ports.AgentEvent)) {
			(*emit)(ports.AgentEvent{Kind: ports.AgentSession, Text: "s-1"})
		})},
		{fault: "one session for every turn", rule: "each turn has a session of its own", says: "as was that of one before it", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Session = "s-1"
		})},
		{fault: "keeps refusals to itself", rule: "a refused permission is named", says: "Denied is []", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Denied = nil
		})},
		{fault: "makes refusals up", rule: "a refused permission is named", says: "where nothing was", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Denied = append(o.Denied, "a tool")
		})},
		{fault: "drops what was cached", rule: "each figure is told apart", fresh: ended(func(o *ports.Outcome, _ *error) { o.Usage.Cached = 0 })},
		{fault: "drops the reasoning", rule: "each figure is told apart", fresh: ended(func(o *ports.Outcome, _ *error) { o.Usage.Reasoning = 0 })},
		{fault: "has no price of its own", rule: "each figure is told apart", fresh: priced(ended(func(*ports.Outcome, *error) {}))},
		{fault: "drops the cost", rule: "each figure is told apart", fresh: ended(func(o *ports.Outcome, _ *error) { o.Usage.Cost = 0 })},
		{fault: "counts what was cached as input", rule: "each figure is told apart", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Usage.Input, o.Usage.Cached = o.Usage.Input+o.Usage.Cached, 0
		})},
		{fault: "tells what was cached as input", rule: "each figure is told apart", says: "told was", fresh: told(func(e *ports.AgentEvent) bool {
			e.Usage.Input += e.Usage.Cached
			return true
		})},
		{fault: "says that a failure cost nothing", rule: "what a failed turn used is told", says: "that this is all", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Usage = ports.Usage{Complete: true}
		})},
		{fault: "says that a cancelled turn cost nothing", rule: "what a cancelled turn used is told", says: "that this is all", fresh: ended(func(o *ports.Outcome, _ *error) {
			o.Usage = ports.Usage{Complete: true}
		})},
		{fault: "counts anew when it is cancelled", rule: "what a cancelled turn used is told", says: "tokens of the cancelled turn", fresh: ended(func(o *ports.Outcome, err *error) {
			if *err != nil {
				o.Usage = ports.Usage{Output: 1}
			}
		})},
		{fault: "takes back what it told", rule: "what a cancelled turn used is told", says: "tokens of the cancelled turn", fresh: breakAgent(func(a *brokenAgent) {
			a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
				outcome, err := a.Agent(ctx, task, emit)
				if err != nil {
					emit(ports.AgentEvent{Kind: ports.AgentUsage})
					outcome.Usage = ports.Usage{}
				}
				return outcome, err
			}
		})},
		{fault: "tells usage at the end of a turn that has one", rule: "what a cancelled turn used is told", says: "want it told while", limit: 300 * time.Millisecond, fresh: breakAgent(func(a *brokenAgent) {
			a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
				outcome, err := a.Agent(ctx, task, func(ports.AgentEvent) {})
				if err != nil {
					return ports.Outcome{}, err
				}
				emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: outcome.Usage})
				return outcome, nil
			}
		})},
		{fault: "tells after the end", rule: "nothing is told after the end", says: "after Run had returned", fresh: breakAgent(func(a *brokenAgent) {
			a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
				outcome, err := a.Agent.Run(ctx, task, emit)
				time.AfterFunc(time.Millisecond, func() { emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: "late"}) })
				return outcome, err
			}
		})},
		{fault: "tells from two goroutines", rule: "nothing is told after the end", says: "two goroutines", fresh: breakAgent(func(a *brokenAgent) {
			a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
				var group sync.WaitGroup
				for range 2 {
					group.Go(func() {
						for range 200 {
							emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: "busy"})
						}
					})
				}
				group.Wait()
				return a.Agent(ctx, task, emit)
			}
		})},
		{fault: "cannot be cancelled", rule: "a cancelled turn ends", says: "has not returned", limit: 300 * time.Millisecond, fresh: given(func(ctx *context.Context, _ *ports.Task, _ *func(ports.AgentEvent)) {
			*ctx = context.WithoutCancel(*ctx)
		})},
		{fault: "a cancelled turn is Unavailable", rule: "a cancelled turn ends", says: "has no kind", fresh: ended(func(_ *ports.Outcome, err *error) {
			*err = ports.Unavailable.Errorf("", "%w", *err)
		})},
		{fault: "a cancelled turn says nothing of its context", rule: "a cancelled turn ends", fresh: ended(func(_ *ports.Outcome, err *error) {
			*err = errors.New("signal: terminated")
		})},
		{fault: "tools outlive their turn", rule: "a cancelled turn ends", limit: 300 * time.Millisecond, fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			return good(context.WithoutCancel(ctx), args)
		})},
		{fault: "reads commands in prompts", rule: "prompts are data", fresh: given(func(_ *context.Context, task *ports.Task, _ *func(ports.AgentEvent)) {
			if strings.HasPrefix(task.Instructions, "/") {
				task.Instructions = "cleared"
			}
		})},
		{fault: "cuts long prompts", rule: "prompts are data", says: "reached the model as", fresh: given(func(_ *context.Context, task *ports.Task, _ *func(ports.AgentEvent)) {
			task.Instructions = ports.Clip(task.Instructions, 128<<10)
		})},
		{fault: "drops the environment", rule: "what it starts has the task's environment", fresh: breakAgent(func(*brokenAgent) {})},
		{fault: "splits arguments into words", rule: "tools get their arguments", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			return good(ctx, json.RawMessage(strings.ReplaceAll(string(args), `\n`, " ")))
		})},
		{fault: "calls twice", rule: "tools get their arguments", says: "there were 12 calls", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			good(ctx, args)
			return good(ctx, args)
		})},
		{fault: "refuses long arguments", rule: "tools get their arguments", says: "there were 5 calls", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			if len(args) > 64<<10 {
				return ports.ToolResult{Text: "too long", Rejected: true}
			}
			return good(ctx, args)
		})},
		{fault: "reads numbers as floats", rule: "integers keep their digits", says: "want 9007199254740993 in them", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			var v any
			if err := json.Unmarshal(args, &v); err != nil {
				return ports.ToolResult{Text: err.Error(), Rejected: true}
			}
			args, _ = json.Marshal(v)
			return good(ctx, args)
		})},
		{fault: "makes numbers texts", rule: "integers keep their digits", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			return good(ctx, json.RawMessage(strings.NewReplacer(":", `:"`, "}", `"}`).Replace(string(args))))
		})},
		{fault: "serves the first tool alone", rule: "every tool is served", fresh: given(func(_ *context.Context, task *ports.Task, _ *func(ports.AgentEvent)) {
			task.Tools = task.Tools[:1]
		})},
		{fault: "calls the first tool for every other", rule: "every tool is served", says: "what was called", fresh: given(func(_ *context.Context, task *ports.Task, _ *func(ports.AgentEvent)) {
			for i := range task.Tools {
				task.Tools[i].Call = task.Tools[0].Call
			}
		})},
		{fault: "cuts what tools say", rule: "the model reads what a tool says", says: "after call 2", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			result := good(ctx, args)
			result.Text = ports.Clip(result.Text, 200)
			return result
		})},
		{fault: "ends at a refusal", rule: "a refused call can be made again", fresh: refusing("ask")},
		{fault: "ends at a refused report", rule: "the report is called as any tool", fresh: refusing("report")},
		{fault: "hides refusals from the model", rule: "the model reads what a tool says", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			return ports.ToolResult{Text: good(ctx, args).Text}
		})},
		{fault: "is locked by a panic", rule: "a tool that panics does not break the agent", says: "the turn after that", limit: 300 * time.Millisecond, fresh: breakAgent(func(a *brokenAgent) {
			var mu sync.Mutex
			a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
				mu.Lock()
				outcome, err := a.Agent(ctx, task, emit)
				mu.Unlock()
				return outcome, err
			}
		})},
		{fault: "calls one tool at a time", rule: "tools run at once", says: "it has not returned", limit: 300 * time.Millisecond, fresh: func() func(testing.TB) AgentOptions {
			var mu sync.Mutex
			return called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
				mu.Lock()
				defer mu.Unlock()
				return good(ctx, args)
			})
		}()},
		{fault: "gives up on slow tools", rule: "a slow tool is waited for", says: "ended before that", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			ctx, cancel := context.WithTimeout(ctx, short/10)
			defer cancel()
			return good(ctx, args)
		})},
		{fault: "answers for slow tools", rule: "a slow tool is waited for", says: "want what the tool said", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			return ports.ToolResult{Text: "it is asked", Rejected: good(ctx, args).Rejected}
		})},
		{fault: "mixes up results", rule: "calls at once have a result each", says: "the call that is refused", fresh: called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
			result := good(ctx, args)
			result.Rejected = !result.Rejected
			return result
		})},
		{fault: "hides what a panic says", rule: "calls at once have a result each", says: "the call that is panics", fresh: recovering()},
		{fault: "cancels one call alone", rule: "a cancelled turn ends all of its calls", says: "does not end with the turn's", limit: 300 * time.Millisecond, fresh: func() func(testing.TB) AgentOptions {
			var calls atomic.Int32
			return called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) ports.ToolResult {
				if calls.Add(1)%3 != 0 {
					ctx = context.WithoutCancel(ctx)
				}
				return good(ctx, args)
			})
		}()},
		{fault: "runs one turn at a time", rule: "turns run at once", says: "it has not returned", limit: 300 * time.Millisecond, fresh: breakAgent(func(a *brokenAgent) {
			var mu sync.Mutex
			a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				return a.Agent(ctx, task, emit)
			}
		})},
		{fault: "mixes up turns", rule: "turns run at once", says: "the calls of turn", fresh: breakAgent(func(a *brokenAgent) {
			first := make(chan ports.Task, 1)
			a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
				select {
				case first <- task:
				default:
				}
				kept := <-first
				first <- kept
				return a.Agent(ctx, kept, emit)
			}
		})},
	})
}

// recovering returns options whose agents claim to make a refusal of a tool's
// panic, and do not say what it was.
func recovering() func(testing.TB) AgentOptions {
	good := called(func(ctx context.Context, good func(context.Context, json.RawMessage) ports.ToolResult, args json.RawMessage) (result ports.ToolResult) {
		defer func() {
			if recover() != nil {
				result = ports.ToolResult{Text: "failed", Rejected: true}
			}
		}()
		return good(ctx, args)
	})
	return func(t testing.TB) AgentOptions {
		o := good(t)
		o.Recovers = true
		return o
	}
}

// refusing ends a turn when a call of a tool is refused.
func refusing(name string) func(testing.TB) AgentOptions {
	return breakAgent(func(a *brokenAgent) {
		a.run = func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			call := task.Tool(name).Call
			task.Tools = []ports.Tool{{Name: name, Call: func(ctx context.Context, args json.RawMessage) ports.ToolResult {
				result := call(ctx, args)
				if result.Rejected {
					cancel(errors.New(result.Text))
				}
				return result
			}}}
			outcome, err := a.Agent(ctx, task, emit)
			if cause := context.Cause(ctx); cause != nil {
				err = ports.Unexpected.Errorf("", "%w", cause)
			}
			return outcome, err
		}
	})
}
