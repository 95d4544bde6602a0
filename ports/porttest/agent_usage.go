package porttest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"example.com/agl/ports"
)

var usageRules = []rule[AgentOptions]{
	{
		"usage adds up",
		"The outcome has what the whole turn used; what is told while it runs is the sum so far, and never falls.",
		func(c *check, o AgentOptions) {
			p := o.play(c, Turn{Acts: []Act{{Usage: ports.Usage{Input: 100, Output: 20}}, {Text: "on"}, {Usage: ports.Usage{Input: 30, Output: 5}}, {Text: "done"}}})
			same(c, [2]int64{p.Usage.Input, p.Usage.Output}, [2]int64{130, 25}, "input and output tokens of the turn")
			if !p.Usage.Complete {
				c.Errorf("the usage is %+v; want Complete, as every figure of the turn was given", p.Usage)
			}
			var last ports.Usage
			for _, e := range p.of(ports.AgentUsage) {
				if e.Usage.Input < last.Input || e.Usage.Output < last.Output || e.Usage.Input > 130 || e.Usage.Output > 25 {
					c.Errorf("told was %+v after %+v, of %+v in all; want sums that do not fall", e.Usage, last, p.Usage)
				}
				last = e.Usage
			}
		},
	},
	{
		"each figure is told apart",
		"Input is without what was read from a cache, which is Cached; Reasoning and Cost are the vendor's.",
		func(c *check, o AgentOptions) {
			c.needs(o.Cached || o.Reasoning || o.Cost, "AgentOptions.Cached, Reasoning or Cost")
			var acts []Act
			want := ports.Usage{Complete: true}
			for _, u := range []ports.Usage{
				{Input: 100, Output: 20, Cached: 4000, Reasoning: 7, Cost: 0.25}, {Input: 30, Output: 5, Cached: 600, Reasoning: 2, Cost: 0.5},
			} {
				if !o.Cached {
					u.Cached = 0
				}
				if !o.Reasoning {
					u.Reasoning = 0
				}
				if !o.Cost {
					u.Cost = 0
				}
				acts = append(acts, Act{Usage: u}, Act{Text: "on"})
				u.Complete = true
				want = want.Add(u)
			}
			p := o.play(c, Turn{Acts: acts})
			if o.Priced && p.Usage.Cost > 0 {
				p.Usage.Cost = want.Cost
			} else if o.Priced {
				c.Errorf("the cost is %v; want the agent's own price", p.Usage.Cost)
			}
			if off := p.Usage.Cost - want.Cost; off > -1e-6 && off < 1e-6 { // sums of floats differ
				p.Usage.Cost = want.Cost
			}
			same(c, p.Usage, want, "what the turn used")
			for _, e := range p.of(ports.AgentUsage) {
				if u := e.Usage; u.Input > want.Input || u.Output > want.Output || u.Cached > want.Cached || u.Reasoning > want.Reasoning {
					c.Errorf("told was %+v, of %+v in all; want no figure larger", u, want)
				}
			}
		},
	},
	{
		"what a failed turn used is told",
		"What was used until a turn failed is in its outcome, or was told before. An outcome that says that nothing was used does not say that this is all.",
		func(c *check, o AgentOptions) {
			agent := o.Play(c, Turn{Acts: []Act{{Usage: ports.Usage{Input: 100, Output: 20}}}, Fail: ports.Unexpected})
			p := o.run(c.Context(), c, agent, o.task(c))
			c.kind(p.err, ports.Unexpected, "running a turn that fails")
			same(c, p.used(c).Tokens(), int64(120), "tokens of the failed turn")
		},
	},
	{
		"what a cancelled turn used is told",
		"What was used until a turn was cancelled, as far as it was told by then, is in its outcome, or was the last that was told.",
		func(c *check, o AgentOptions) {
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			p, told := new(played), make(chan struct{})
			var once sync.Once
			wait := short // long enough for most that tell it at all
			if o.Live {
				wait = c.promptly()
			}
			var box toolbox
			tool := box.tool("ask", func(context.Context, int, json.RawMessage) ports.ToolResult {
				defer cancel()
				select {
				case <-told:
				case <-c.Context().Done():
				case <-time.After(wait):
				}
				return ports.ToolResult{Text: "yes"}
			})
			agent := o.Play(c, Turn{Acts: []Act{{Usage: ports.Usage{Input: 100, Output: 20}}, {Calls: []Call{{"ask", `{"q":"1"}`}}}}, Hang: true})
			emit := p.tell(c)
			p.Outcome, p.err = agent.Run(ctx, o.task(c, tool), func(e ports.AgentEvent) {
				emit(e)
				if e.Kind == ports.AgentUsage && e.Usage.Tokens() == 120 {
					once.Do(func() { close(told) })
				}
			})
			p.over.Store(1)
			select {
			case <-told:
				same(c, p.used(c).Tokens(), int64(120), "tokens of the cancelled turn")
			default:
				if o.Live {
					c.told("before the turn was cancelled, no usage of 120 tokens was told; want it told while the turn runs")
				}
			}
		},
	},
}

// used returns what a turn used that did not succeed: what its outcome says, or
// the last that was told if that is nothing.
func (p *played) used(c *check) ports.Usage {
	if p.Usage.Tokens() > 0 {
		return p.Usage
	}
	if p.Usage.Complete {
		c.Errorf("the outcome says that nothing was used, and that this is all: %+v; want what was used, or not Complete", p.Usage)
	}
	var last ports.Usage
	for _, e := range p.of(ports.AgentUsage) {
		last = e.Usage
	}
	return last
}
