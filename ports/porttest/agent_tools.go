package porttest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/agl/ports"
)

var toolRules = []rule[AgentOptions]{
	{
		"tools get their arguments",
		"A tool is called with the arguments that the model gave, in the order of the model's calls.",
		func(c *check, o AgentOptions) {
			args := []string{
				`{"q":"why"}`, `{"q":"quoted \"x\" \\ / äöü € 🙂 <b>&amp;"}`, `{"q":"one\ntwo\tthree"}`, `{"q":"--flag $HOME"}`, `{"q":""}`,
				`{"q":"` + strings.Repeat("a long question ", 10_000) + `why"}`,
			}
			var turn Turn
			for _, a := range args {
				turn.Acts = append(turn.Acts, Act{Calls: []Call{{"ask", a}}})
			}
			var box toolbox
			o.play(c, turn, box.tool("ask", answered("yes")))
			called := box.called()
			if len(called) != len(args) {
				c.Fatalf("there were %d calls, want %d", len(called), len(args))
			}
			for i, a := range args {
				var got, want any
				_, doc, _ := strings.Cut(called[i], " ")
				c.must(json.Unmarshal([]byte(doc), &got), "reading the arguments "+excerpt(doc))
				c.must(json.Unmarshal([]byte(a), &want), "reading the arguments "+excerpt(a))
				if !reflect.DeepEqual(got, want) {
					c.Errorf("call %d has the arguments %s, want %s", i, excerpt(doc), excerpt(a))
				}
			}
		},
	},
	{
		"integers keep their digits",
		"A number among the arguments is the one that the model gave, to its last digit.",
		func(c *check, o AgentOptions) {
			if o.Doubles {
				c.Skip("numbers are 64-bit floats, says AgentOptions.Doubles")
			}
			for _, digits := range []string{"9007199254740993", "-9223372036854775807"} {
				var box toolbox
				tool := box.tool("ask", answered("yes"))
				tool.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)
				o.play(c, Turn{Acts: []Act{{Calls: []Call{{"ask", `{"n":` + digits + `}`}}}}}, tool)
				called := box.called()
				if len(called) != 1 {
					c.Fatalf("there were %d calls, want one: %q", len(called), called)
				}
				var args struct{ N json.RawMessage }
				_, doc, _ := strings.Cut(called[0], " ")
				c.must(json.Unmarshal([]byte(doc), &args), "reading the arguments "+doc)
				want, _ := new(big.Rat).SetString(digits)
				if got, ok := new(big.Rat).SetString(string(args.N)); !ok || got.Cmp(want) != 0 {
					c.Errorf("the arguments are %s, want %s in them", doc, digits)
				}
			}
		},
	},
	{
		"every tool is served",
		"The model can call each of the task's tools, whatever their order, and each is called by its own name.",
		func(c *check, o AgentOptions) {
			for _, list := range [][]string{{"ask", "report"}, {"report", "ask"}} {
				var box toolbox
				var tools []ports.Tool
				for _, name := range list {
					tools = append(tools, box.tool(name, answered("yes")))
				}
				var turn Turn
				order := []string{"report", "ask", "report"}
				for _, name := range order {
					turn.Acts = append(turn.Acts, Act{Calls: []Call{{name, `{"q":"1"}`}}})
				}
				o.play(c, turn, tools...)
				var called []string
				for _, call := range box.called() {
					name, _, _ := strings.Cut(call, " ")
					called = append(called, name)
				}
				same(c, called, order, fmt.Sprintf("what was called, of the tools %q", list))
			}
		},
	},
	{
		"a refused call can be made again",
		"A call that its tool refuses is no end: the model reads why, and calls again in the same turn.",
		func(c *check, o AgentOptions) {
			var box toolbox
			o.tryTwice(c, "ask", &box)
		},
	},
	{
		"the report is called as any tool",
		"The tool that takes the report is one of the tools: a report that is refused is read by the model, and can be made again in the same turn.",
		func(c *check, o AgentOptions) {
			var box toolbox
			o.tryTwice(c, "report", &box)
		},
	},
	{
		"the model reads what a tool says",
		"What a tool's call returns is what the model reads, all of it, and whether it was refused.",
		func(c *check, o AgentOptions) {
			c.needs(o.Results, "AgentOptions.Results")
			want := []ports.ToolResult{{Text: "no: äöü is \"wrong\" $HOME", Rejected: true}, {Text: "yes"}, {Text: "the whole answer" + strings.Repeat(" and more", 400) + ", to its end"}}
			var mu sync.Mutex
			var read []ports.ToolResult
			turn := Turn{Result: func(r ports.ToolResult) {
				mu.Lock()
				defer mu.Unlock()
				read = append(read, r)
			}}
			for n := range want {
				turn.Acts = append(turn.Acts, Act{Calls: []Call{{"ask", fmt.Sprintf(`{"q":"%d"}`, n)}}})
			}
			var box toolbox
			o.play(c, turn, box.tool("ask", func(_ context.Context, n int, _ json.RawMessage) ports.ToolResult { return want[n-1] }))
			mu.Lock()
			defer mu.Unlock()
			if len(read) != len(want) {
				c.Fatalf("the model read %d results, want %d", len(read), len(want))
			}
			for i, r := range read {
				if r.Rejected != want[i].Rejected || !strings.Contains(r.Text, want[i].Text) {
					c.Errorf("after call %d the model read %s (rejected: %v), want %s (rejected: %v)",
						i, excerpt(r.Text), r.Rejected, excerpt(want[i].Text), want[i].Rejected)
				}
			}
		},
	},
	{
		"a tool that panics does not break the agent",
		"A tool that panics is its turn's affair: the turn comes to an end, and the next one runs.",
		func(c *check, o AgentOptions) {
			var box toolbox
			agent := o.Play(c, Turn{Acts: []Act{{Calls: []Call{{"ask", `{"q":"1"}`}}}}})
			task := o.task(c, box.tool("ask", func(_ context.Context, n int, _ json.RawMessage) ports.ToolResult {
				if n == 1 {
					panic("a tool's own fault")
				}
				return ports.ToolResult{Text: "yes"}
			}))
			c.soon("a turn in which a tool panics", func() {
				defer func() { _ = recover() }() // the engine reports it as the step's error
				o.run(c.Context(), c, agent, task)
			})
			c.soon("the turn after that", func() {
				c.must(o.run(c.Context(), c, agent, task).err, "the turn after one in which a tool panicked")
			})
		},
	},
	{
		"tools run at once",
		"Calls that the model makes at once run at once.",
		func(c *check, o AgentOptions) {
			c.needs(o.Parallel, "AgentOptions.Parallel")
			var all sync.WaitGroup
			all.Add(3)
			var box toolbox
			tool := box.tool("ask", func(context.Context, int, json.RawMessage) ports.ToolResult {
				all.Done()
				all.Wait()
				return ports.ToolResult{Text: "yes"}
			})
			c.soon("three calls at once, of which each waits for the others", func() {
				o.play(c, Turn{Acts: []Act{{Calls: []Call{{"ask", `{"q":"1"}`}, {"ask", `{"q":"2"}`}, {"ask", `{"q":"3"}`}}}}}, tool)
			})
			called := box.called()
			slices.Sort(called)
			same(c, len(slices.Compact(called)), 3, "how many calls there were")
		},
	},
	{
		"turns run at once",
		"An agent may be used by several goroutines at once: each turn has its own tools, events and outcome.",
		func(c *check, o AgentOptions) {
			const turns = 6
			agent := o.Play(c, Turn{Acts: []Act{
				{Usage: ports.Usage{Input: 10, Output: 1}}, {Calls: []Call{{"ask", `{"q":"1"}`}}}, {Text: "done"},
			}})
			var inTools atomic.Int32
			all := make(chan struct{}) // closed when all turns are in their tools
			boxes := make([]toolbox, turns)
			c.soon("several turns at once", func() {
				c.together(turns, func(i int) {
					p := o.run(c.Context(), c, agent, o.task(c, boxes[i].tool("ask", func(context.Context, int, json.RawMessage) ports.ToolResult {
						if inTools.Add(1) == turns {
							close(all)
						}
						<-all
						return ports.ToolResult{Text: "yes"}
					})))
					if p.err != nil || p.Text != "done" || p.Usage.Tokens() != 11 || len(p.of(ports.AgentText)) == 0 {
						c.Errorf("turn %d: got %+v, error %v, %d texts told; want the text \"done\", 11 tokens, no error, a text told",
							i, p.Outcome, p.err, len(p.of(ports.AgentText)))
					}
				})
			})
			for i := range boxes {
				same(c, len(boxes[i].called()), 1, fmt.Sprintf("the calls of turn %d", i))
			}
		},
	},
}

// tryTwice has a tool refuse its first call.
func (o AgentOptions) tryTwice(c *check, name string, box *toolbox) {
	task := o.task(c, box.tool(name, func(_ context.Context, n int, _ json.RawMessage) ports.ToolResult {
		if n == 1 {
			return ports.ToolResult{Text: "q is too short", Rejected: true}
		}
		return ports.ToolResult{Text: "recorded"}
	}))
	if name == "report" {
		task.Report = name
	}
	agent := o.Play(c, Turn{Acts: []Act{{Calls: []Call{{name, `{"q":"a"}`}}}, {Calls: []Call{{name, `{"q":"longer"}`}}}, {Text: "done"}}})
	p := o.run(c.Context(), c, agent, task)
	c.must(p.err, "running a turn in which a call is refused")
	same(c, p.Stop, ports.StopCompleted, "the stop reason")
	same(c, p.Text, "done", "the last text")
	if called := box.called(); len(called) != 2 || !strings.Contains(called[1], "longer") {
		c.Errorf("the calls are %q, want the second one after the first was refused", called)
	}
}
