package claude_test

import (
	"path/filepath"
	"testing"
	"time"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

// contract says what of the contract Claude Code can be held to.
var contract = porttest.AgentOptions{
	NotReady: func(t testing.TB) ports.Agent {
		return claude.New(claude.Options{Program: filepath.Join(t.TempDir(), "claude"), Env: vendortest.ClaudeEnv(t, "http://127.0.0.1:1")})
	},
	Model:    "claude/haiku",
	Prompts:  true,
	Results:  true,
	Parallel: true,
	Recovers: true,
	Programs: true,
	Refuses:  true,
	Cached:   true,
	Priced:   true,
	Live:     true,
	Doubles:  true,
	Slow:     true,
}

func TestClaudeCodeKeepsTheContract(t *testing.T) {
	t.Parallel()
	vendortest.Claude(t, "http://127.0.0.1:1") // skips the whole
	opts := contract
	opts.Play = func(t testing.TB, turn porttest.Turn) ports.Agent { return real(t, played(turn)) }
	opts.Wait = 30 * time.Second // a person is asked
	porttest.Agent(t, opts)
}

// real returns Claude Code with a model that does what script says.
func real(t testing.TB, script func(fakeapi.Request) fakeapi.Reply) ports.Agent {
	t.Helper()
	agent, _ := served(t, claude.Options{Retries: -1}, script)
	return agent
}

// served returns Claude Code as real does, and the service it talks to.
func served(t testing.TB, opts claude.Options, script func(fakeapi.Request) fakeapi.Reply) (ports.Agent, *fakeapi.Server) {
	t.Helper()
	api := fakeapi.New(t, script)
	opts.Program, opts.Env = vendortest.Claude(t, api.URL)
	return claude.New(opts), api
}

// played returns the script of a turn of the suite's.
func played(turn porttest.Turn) func(fakeapi.Request) fakeapi.Reply {
	replies := compile(turn)
	return func(r fakeapi.Request) fakeapi.Reply {
		if r.Try == 0 && r.Turn == 0 && turn.Prompt != nil {
			turn.Prompt(r.Heard())
		}
		for _, b := range r.Results() {
			if r.Try == 0 && turn.Result != nil {
				turn.Result(ports.ToolResult{Text: b.String(), Rejected: b.IsError})
			}
		}
		return replies[min(r.Turn, len(replies)-1)]
	}
}

// compile makes messages of a turn's acts. One that does not end the turn has to
// call a tool.
func compile(turn porttest.Turn) (replies []fakeapi.Reply) {
	var next fakeapi.Reply
	call := func(calls ...fakeapi.Call) {
		next.Calls = calls
		replies = append(replies, next)
		next = fakeapi.Reply{}
	}
	for _, act := range turn.Acts {
		switch {
		case act.Activity != "": // that is not the model's to say
		case act.Text != "":
			next.Texts = append(next.Texts, act.Text)
		case act.Usage != ports.Usage{}:
			next.Usage.Input += act.Usage.Input
			next.Usage.Output += act.Usage.Output
			next.Usage.CacheRead += act.Usage.Cached
		case act.Refused:
			call(fakeapi.Call{Tool: "Write", Args: `{"file_path":".claude/settings.json","content":"{}"}`})
		case act.SaveEnv != "":
			call(fakeapi.Call{Tool: "Bash", Args: `{"command":"printf %s \"$` + act.SaveEnv + `\" >` + act.SaveEnv + `"}`})
		default:
			calls := make([]fakeapi.Call, len(act.Calls))
			for i, c := range act.Calls {
				calls[i] = fakeapi.Call{Tool: "mcp__agl__" + c.Tool, Args: c.Args}
			}
			call(calls...)
		}
	}
	if turn.Hang || turn.Fail != "" {
		call(fakeapi.Call{Tool: "Glob", Args: `{"pattern":"*"}`})
	}
	switch {
	case turn.Hang:
		next.Hang = true
	case turn.Fail == ports.Unavailable:
		next = fakeapi.Reply{Status: 529, Error: "overloaded_error", Detail: "Overloaded"}
	case turn.Fail == ports.Denied:
		next.Stop = "refusal"
	case turn.Fail == ports.Unexpected:
		next = fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "messages.0: something else is expected"}
	case turn.Stop == ports.StopLimit:
		next.Stop = "max_tokens"
	}
	return append(replies, next)
}
