package porttest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/agl/ports"
)

// callRules are about calls that take their time, go wrong or run at once.
var callRules = []rule[AgentOptions]{
	{
		"a slow tool is waited for",
		"A tool may take as long as a person thinks: its call is not given up, and the model reads what it says then.",
		func(c *check, o AgentOptions) {
			wait := cmp.Or(o.Wait, short)
			if wait > time.Second && testing.Short() {
				c.Skipf("it takes %v; it is checked without -short", wait)
			}
			var mu sync.Mutex
			var read []ports.ToolResult
			turn := Turn{
				Acts:   []Act{{Calls: []Call{{"ask", `{"q":"1"}`}}}, {Text: "done"}},
				Result: func(r ports.ToolResult) { mu.Lock(); defer mu.Unlock(); read = append(read, r) },
			}
			var box toolbox
			p := o.play(c, turn, box.tool("ask", func(ctx context.Context, _ int, _ json.RawMessage) ports.ToolResult {
				answered := make(chan struct{})
				timer := time.AfterFunc(wait, func() { close(answered) })
				defer timer.Stop()
				select {
				case <-answered:
				case <-ctx.Done():
					c.Errorf("the context of a call that takes %v ended before that (%v)", wait, ctx.Err())
				}
				return ports.ToolResult{Text: "yes, after all"}
			}))
			same(c, p.Text, "done", "the last text")
			same(c, len(box.called()), 1, "how many calls there were")
			mu.Lock()
			defer mu.Unlock()
			if o.Results && (len(read) != 1 || read[0].Rejected || !strings.Contains(read[0].Text, "yes, after all")) {
				c.Errorf("the model read %+v, want what the tool said", read)
			}
		},
	},
	{
		"calls at once have a result each",
		"Of calls that are made at once, one that is refused is refused alone, and the model reads the result of each.",
		func(c *check, o AgentOptions) {
			c.needs(o.Parallel, "AgentOptions.Parallel")
			c.needs(o.Results, "AgentOptions.Results")
			kinds := []string{"fine", "refused", "fine too"}
			if o.Recovers {
				kinds = append(kinds, "panics")
			}
			var all sync.WaitGroup
			all.Add(len(kinds))
			var calls []Call
			for _, kind := range kinds {
				calls = append(calls, Call{"ask", fmt.Sprintf(`{"q":%q}`, kind)})
			}
			var mu sync.Mutex
			read := make(map[string]bool) // what was read, to whether it was rejected
			turn := Turn{Acts: []Act{{Calls: calls}, {Text: "done"}}, Result: func(r ports.ToolResult) {
				mu.Lock()
				defer mu.Unlock()
				for _, kind := range kinds {
					if strings.Contains(r.Text, "this is "+kind+".") {
						read[kind] = r.Rejected
					}
				}
			}}
			var box toolbox
			var p *played
			c.soon("calls at once, of which one is refused", func() {
				p = o.play(c, turn, box.tool("ask", func(_ context.Context, _ int, raw json.RawMessage) ports.ToolResult {
					all.Done()
					all.Wait()
					var args struct{ Q string }
					_ = json.Unmarshal(raw, &args)
					if args.Q == "panics" {
						panic("this is panics.")
					}
					return ports.ToolResult{Text: "this is " + args.Q + ".", Rejected: args.Q == "refused"}
				}))
			})
			same(c, p.Text, "done", "the last text")
			mu.Lock()
			defer mu.Unlock()
			for _, kind := range kinds {
				rejected, ok := read[kind]
				if want := kind == "refused" || kind == "panics"; !ok || rejected != want {
					c.Errorf("the call that is %s: it was read: %v, and as a refusal: %v; want it read, and as a refusal: %v", kind, ok, rejected, want)
				}
			}
		},
	},
	{
		"a cancelled turn ends all of its calls",
		"When a turn is cancelled while several of its tools run, the context of each ends, and Run returns when they have.",
		func(c *check, o AgentOptions) {
			c.needs(o.Parallel, "AgentOptions.Parallel")
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			const calls = 3
			var begun, left sync.WaitGroup
			begun.Add(calls)
			left.Add(calls)
			var box toolbox
			tool := box.tool("ask", func(inTool context.Context, n int, _ json.RawMessage) ports.ToolResult {
				defer left.Done()
				begun.Done()
				begun.Wait()
				if n == 1 {
					cancel()
				}
				select {
				case <-inTool.Done():
				case <-c.Context().Done():
					c.told("the context of one of %d calls at once does not end with the turn's; want it cancelled", calls)
				}
				return ports.ToolResult{Text: "too late", Rejected: true}
			})
			agent := o.Play(c, Turn{Acts: []Act{{Calls: []Call{{"ask", `{"q":"1"}`}, {"ask", `{"q":"2"}`}, {"ask", `{"q":"3"}`}}}}, Hang: true})
			c.soon("a turn that is cancelled while several tools run", func() {
				p := o.run(ctx, c, agent, o.task(c, tool))
				if !errors.Is(p.err, context.Canceled) || ports.KindOf(p.err) != "" {
					c.Errorf("the turn was cancelled, and its error is %q: %v; want one that wraps %v and has no kind", ports.KindOf(p.err), p.err, context.Canceled)
				}
			})
			c.soon("the calls of a turn that was cancelled", left.Wait)
		},
	},
}
