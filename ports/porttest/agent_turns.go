package porttest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/agl/ports"
)

var turnRules = []rule[AgentOptions]{
	{
		"capabilities are stable",
		"Capabilities says the same each time, before a turn and after it, and names only restrictions there are, each once.",
		func(c *check, o AgentOptions) {
			agent := o.Play(c, Turn{})
			first, err := agent.Capabilities(c.Context(), o.Model)
			c.must(err, "asking for capabilities")
			for i, r := range first.Enforce {
				if !slices.Contains([]ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite}, r) || slices.Contains(first.Enforce[:i], r) {
					c.Errorf("restriction %q is not known, or there twice: %q; want each of ports' own at most once", r, first.Enforce)
				}
			}
			c.must(o.run(c.Context(), c, agent, o.task(c)).err, "running a turn")
			again, err := agent.Capabilities(c.Context(), o.Model)
			c.must(err, "asking for capabilities again")
			same(c, again, first, "the capabilities, when asked again")
		},
	},
	{
		"an agent that is ready starts a turn",
		"Ready is nil if a turn could start now; asking starts none.",
		func(c *check, o AgentOptions) {
			var box toolbox
			agent := o.Play(c, Turn{Acts: []Act{{Calls: []Call{{"ask", `{"q":"1"}`}}}}})
			for range 2 {
				c.must(agent.Ready(c.Context(), o.Model), "asking whether it is ready")
			}
			p := o.run(c.Context(), c, agent, o.task(c, box.tool("ask", answered("yes"))))
			c.must(p.err, "running a turn")
			same(c, len(box.called()), 1, "how many turns were started")
		},
	},
	{
		"an unknown model is Invalid",
		"Ready's error for a model that the agent does not know is Invalid.",
		func(c *check, o AgentOptions) {
			c.needs(o.Unknown != "", "AgentOptions.Unknown")
			c.kind(o.Play(c, Turn{}).Ready(c.Context(), o.Unknown), ports.Invalid, "asking about a model it does not know")
		},
	},
	{
		"an agent that is not ready says what to do",
		"Ready's error is Unavailable and says, on one line, what to do; a turn that cannot start is an error of that kind.",
		func(c *check, o AgentOptions) {
			c.needs(o.NotReady != nil, "AgentOptions.NotReady")
			agent := o.NotReady(c)
			err := agent.Ready(c.Context(), o.Model)
			c.kind(err, ports.Unavailable, "asking whether it is ready")
			if err != nil && (len(err.Error()) < 10 || strings.Contains(strings.TrimSpace(err.Error()), "\n")) {
				c.Errorf("it says %q; want a sentence on one line", err)
			}
			c.kind(o.run(c.Context(), c, agent, o.task(c)).err, ports.Unavailable, "running a turn that cannot start")
		},
	},
	{
		"a turn that came to its end is completed",
		"A turn without an error ended with the vendor's own sign of an end: its stop reason is StopCompleted.",
		func(c *check, o AgentOptions) {
			for _, turn := range []Turn{{}, {Acts: []Act{{Text: "done"}}}} {
				same(c, o.play(c, turn).Stop, ports.StopCompleted, "the stop reason")
			}
		},
	},
	{
		"a turn that was cut off says so",
		"A turn that was cut off by a limit on turns, tokens or output is no error, and its stop reason is StopLimit.",
		func(c *check, o AgentOptions) {
			p := o.play(c, Turn{Acts: []Act{{Text: "half"}}, Stop: ports.StopLimit})
			same(c, p.Stop, ports.StopLimit, "the stop reason")
			same(c, p.Text, "half", "the last text")
		},
	},
	{
		"a turn that failed is an error",
		"A turn that failed is an error whose kind says what can be done about it, whatever was written before.",
		func(c *check, o AgentOptions) {
			for _, kind := range []ports.Kind{ports.Unavailable, ports.Unexpected, ports.Denied} {
				agent := o.Play(c, Turn{Acts: []Act{{Text: "all is well, I am done"}}, Fail: kind})
				c.kind(o.run(c.Context(), c, agent, o.task(c)).err, kind, "running a turn that fails")
			}
		},
	},
	{
		"the last text is the outcome's",
		"What the agent writes is told in pieces, in order, and the last text is the outcome's.",
		func(c *check, o AgentOptions) {
			p := o.play(c, Turn{Acts: []Act{{Text: "reading the code"}, {Activity: "reading"}, {Text: "half way"}, {Text: "äöü: all done"}}})
			same(c, p.Text, "äöü: all done", "the last text")
			var told strings.Builder
			for _, e := range p.of(ports.AgentText) {
				told.WriteString(e.Text)
			}
			rest := told.String()
			for _, text := range []string{"reading the code", "half way", "äöü: all done"} {
				_, after, ok := strings.Cut(rest, text)
				if !ok {
					c.Errorf("%q was not told, or not in order; told were %q, want every text in order", text, told.String())
				}
				rest = after
			}
		},
	},
	{
		"an activity is one line",
		"What the agent does is told on one line, without control characters, whatever the model or a tool says.",
		func(c *check, o AgentOptions) {
			var box toolbox
			p := o.play(c, Turn{Acts: []Act{
				{Activity: "reading\x1b[2J\nmain.go\a"},
				{Calls: []Call{{"ask", `{"q":"one\ntwo\u001b[31m"}`}}},
			}}, box.tool("ask", answered("first\nsecond\x1b[31m\r\n")))
			for _, e := range p.of(ports.AgentActivity) {
				if e.Text != ports.Printable(e.Text) || e.Text == "" {
					c.Errorf("an activity is %q; want one line without control characters", e.Text)
				}
			}
		},
	},
	{
		"a session has one id",
		"The id of the conversation that is told is the outcome's.",
		func(c *check, o AgentOptions) {
			p := o.play(c, Turn{Acts: []Act{{Text: "done"}}})
			for _, e := range p.of(ports.AgentSession) {
				same(c, e.Text, p.Session, "the id that was told")
			}
		},
	},
	{
		"each turn has a session of its own",
		"A turn is a conversation of its own: its id, if it has one, is no other turn's.",
		func(c *check, o AgentOptions) {
			agent := o.Play(c, Turn{Acts: []Act{{Text: "done"}}})
			seen := map[string]bool{}
			for n := range 3 {
				p := o.run(c.Context(), c, agent, o.task(c))
				c.must(p.err, "running a turn")
				if p.Session != "" && seen[p.Session] {
					c.Errorf("the id of turn %d is %q, as was that of one before it; want another, or none", n+1, p.Session)
				}
				seen[p.Session] = true
			}
		},
	},
	{
		"a refused permission is named",
		"Denied names what the agent asked for and was refused, though the turn went on to its end, and nothing if it was refused nothing. A turn that it ended is Denied.",
		func(c *check, o AgentOptions) {
			var box toolbox
			p := o.play(c, Turn{Acts: []Act{{Calls: []Call{{"ask", `{"q":"1"}`}}}, {Text: "done"}}}, box.tool("ask", answered("yes")))
			same(c, p.Denied, nil, "what was refused where nothing was")
			c.needs(o.Refuses, "AgentOptions.Refuses")
			p = o.run(c.Context(), c, o.Play(c, Turn{Acts: []Act{{Refused: true}, {Text: "done"}}}), o.task(c))
			if p.err != nil {
				c.kind(p.err, ports.Denied, "running a turn that is refused a permission")
			} else if len(p.Denied) == 0 || slices.Contains(p.Denied, "") {
				c.Errorf("it was refused a permission, and Denied is %q; want the permission's name", p.Denied)
			}
		},
	},
	{
		"nothing is told after the end",
		"emit is called by one goroutine at a time, and not once Run has returned.",
		func(c *check, o AgentOptions) {
			var box toolbox
			calls := []Call{{"ask", `{"q":"1"}`}, {"ask", `{"q":"2"}`}, {"ask", `{"q":"3"}`}}
			turn := Turn{Acts: []Act{{Text: "on"}, {Activity: "reading"}, {Calls: calls}, {Usage: ports.Usage{Input: 1, Output: 1}}, {Calls: calls}, {Text: "done"}}}
			for range 3 {
				o.play(c, turn, box.tool("ask", answered("yes")))
			}
			// What comes late has had the time of two more turns; the last one's
			// has this.
			select {
			case <-c.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
		},
	},
	{
		"a cancelled turn ends",
		"When its context ends, Run ends what it started and returns, soon, an error that wraps the context's and has no kind.",
		func(c *check, o AgentOptions) {
			for _, how := range []string{"before it starts", "in a tool", "while it hangs", "by a deadline"} {
				o.cancel(c, how)
			}
		},
	},
	{
		"prompts are data",
		"Instructions reach the model as they are: what looks like a flag, a command, a path or a variable is none.",
		func(c *check, o AgentOptions) {
			c.needs(o.Prompts, "AgentOptions.Prompts")
			for _, prompt := range []string{
				"--help", "-p", "--model x --dangerously\n", "/clear\n/exit", "@/etc/passwd and @README.md", "!rm -rf .", "# note",
				"$HOME `id` $(id) ${PATH} %PATH% %s \\n \"quoted\" 'single'", "  indented\n\n\tand tabs", "äöü € 🙂 \u202e", "---\nname: x\n---\n",
				strings.Repeat("a long prompt\n", 20_000) + "its end",
			} {
				var mu sync.Mutex
				var heard []string
				task := o.task(c)
				task.Instructions = prompt
				agent := o.Play(c, Turn{Acts: []Act{{Text: "done"}}, Prompt: func(text string) {
					mu.Lock()
					defer mu.Unlock()
					heard = append(heard, text)
				}})
				c.must(o.run(c.Context(), c, agent, task).err, "running a turn")
				mu.Lock()
				if all := strings.Join(heard, "\n"); !strings.Contains(all, strings.TrimSpace(prompt)) {
					c.Errorf("the prompt reached the model as %s; want it to hold %s", excerpt(all), excerpt(prompt))
				}
				mu.Unlock()
			}
		},
	},
	{
		"what it starts has the task's environment",
		"Every process that the agent starts has the task's variables, and runs in the checkout.",
		func(c *check, o AgentOptions) {
			c.needs(o.Programs, "AgentOptions.Programs")
			task := o.task(c)
			task.Env = []string{ports.EnvRun + "=a b=c", ports.EnvStep + "=d"}
			agent := o.Play(c, Turn{Acts: []Act{{SaveEnv: ports.EnvRun}, {SaveEnv: ports.EnvStep}}})
			c.must(o.run(c.Context(), c, agent, task).err, "running a turn")
			for name, want := range map[string]string{ports.EnvRun: "a b=c", ports.EnvStep: "d"} {
				got, err := os.ReadFile(filepath.Join(task.Dir, name))
				c.must(err, "reading what a program wrote in the checkout")
				same(c, strings.TrimSpace(string(got)), want, "the value of "+name)
			}
		},
	},
}

// cancel runs a turn that is cancelled.
func (o AgentOptions) cancel(c *check, how string) {
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	want := context.Canceled
	var box toolbox
	tool := box.tool("ask", func(inTool context.Context, _ int, _ json.RawMessage) ports.ToolResult {
		switch how {
		case "while it hangs", "by a deadline":
			time.AfterFunc(10*time.Millisecond, cancel)
		case "in a tool":
			cancel()
			select {
			case <-inTool.Done():
			case <-c.Context().Done():
				c.told("the context of a tool's call does not end with the turn's; want it cancelled")
			}
		}
		return ports.ToolResult{Text: "yes"}
	})
	agent := o.Play(c, Turn{Acts: []Act{{Calls: []Call{{"ask", `{"q":"1"}`}}}}, Hang: true})
	switch how {
	case "before it starts":
		cancel()
	case "by a deadline":
		ctx, want = overdue{ctx}, context.DeadlineExceeded
	}
	c.soon("a turn that is cancelled "+how, func() {
		p := o.run(ctx, c, agent, o.task(c, tool))
		if !errors.Is(p.err, want) || ports.KindOf(p.err) != "" {
			c.Errorf("a turn that is cancelled %s: want an error that wraps %v and has no kind, got %q: %v", how, want, ports.KindOf(p.err), p.err)
		}
	})
	if n := len(box.called()); how == "before it starts" && n > 0 {
		c.Errorf("a turn that was cancelled before it started called %d tools; want none", n)
	}
}

// overdue is a context whose deadline has passed when the one in it is cancelled:
// how long a turn takes until it hangs differs too much for a time.
type overdue struct{ context.Context }

func (o overdue) Err() error {
	if o.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Value hides what is within: contexts that are made of this one end as it does.
func (overdue) Value(any) any { return nil }
