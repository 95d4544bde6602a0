package copilot_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

// contract says what of the contract the Copilot CLI can be held to.
var contract = porttest.AgentOptions{
	NotReady: func(t testing.TB) ports.Agent {
		return copilot.New(copilot.Options{Program: filepath.Join(t.TempDir(), "copilot"), Env: vendortest.CopilotEnv(t, "http://127.0.0.1:1")})
	},
	Model:     "copilot/fake-model",
	Prompts:   true,
	Results:   true,
	Parallel:  true,
	Recovers:  true,
	Programs:  true,
	Refuses:   true,
	Cached:    true,
	Reasoning: true,
	Live:      true,
	Doubles:   true,
	Slow:      true,
}

func TestCopilotKeepsTheContract(t *testing.T) {
	t.Parallel()
	vendortest.Copilot(t, "http://127.0.0.1:1") // skips the whole
	opts := contract
	opts.Play = func(t testing.TB, turn porttest.Turn) ports.Agent { return real(t, played(turn)) }
	opts.Wait = 30 * time.Second // a person is asked
	porttest.Agent(t, opts)
}

// real returns Copilot with a model that does what script says.
func real(t testing.TB, script func(fakeapi.Request) fakeapi.Reply) ports.Agent {
	t.Helper()
	agent, _ := served(t, copilot.Options{Retries: -1}, script)
	return agent
}

// served returns Copilot as real does, and the service it talks to.
func served(t testing.TB, opts copilot.Options, script func(fakeapi.Request) fakeapi.Reply) (ports.Agent, *fakeapi.Server) {
	t.Helper()
	api := fakeapi.New(t, script)
	opts.Program, opts.Env = vendortest.Copilot(t, api.URL)
	return copilot.New(opts), api
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
				text, rejected := strings.CutPrefix(b.String(), copilot.Refused)
				turn.Result(ports.ToolResult{Text: text, Rejected: rejected})
			}
		}
		return replies[min(r.Turn, len(replies)-1)]
	}
}

// look is a call by which a message ends, and the turn does not.
var look = fakeapi.Call{Tool: "glob", Args: `{"pattern":"*"}`}

// compile makes messages of a turn's acts: each has one text, and all but the last
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
			if len(next.Texts) > 0 {
				call(look)
			}
			next.Texts = []string{act.Text}
		case act.Usage != ports.Usage{}:
			next.Usage.Input += act.Usage.Input
			next.Usage.Output += act.Usage.Output
			next.Usage.CacheRead += act.Usage.Cached
			next.Usage.Reasoning += act.Usage.Reasoning
		case act.Refused:
			call(fakeapi.Call{Tool: "create", Args: `{"path":"/agl-outside-of-any-checkout","file_text":"x"}`})
		case act.SaveEnv != "":
			call(fakeapi.Call{Tool: "bash", Args: `{"description":"save","command":"printf %s \"$` + act.SaveEnv + `\" >` + act.SaveEnv + `"}`})
		default:
			calls := make([]fakeapi.Call, len(act.Calls))
			for i, c := range act.Calls {
				calls[i] = fakeapi.Call{Tool: c.Tool, Args: c.Args}
			}
			call(calls...)
		}
	}
	if turn.Hang || turn.Fail != "" {
		call(look)
	}
	switch {
	case turn.Hang:
		next.Hang = true
	case turn.Fail == ports.Unavailable:
		next = fakeapi.Reply{Status: 529, Error: "overloaded_error", Detail: "Overloaded"}
	case turn.Fail == ports.Denied:
		next.Stop = "content_filter"
	case turn.Fail == ports.Unexpected:
		next = fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "messages.0: something else is expected"}
	case turn.Stop == ports.StopLimit:
		next.Stop = "length"
	case len(replies) == 0 && len(next.Texts) == 0:
		next.Texts = []string{"done"} // a conversation that has nothing in it is a failure to the program
	}
	return append(replies, next)
}
