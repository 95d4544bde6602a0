package codex_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

// contract says what of the contract Codex can be held to.
var contract = porttest.AgentOptions{
	NotReady: func(t testing.TB) ports.Agent {
		return codex.New(codex.Options{Program: filepath.Join(t.TempDir(), "codex"), Env: vendortest.CodexEnv(t, "http://127.0.0.1:1")})
	},
	Model:     "codex/fake-model",
	Prompts:   true,
	Results:   true,
	Parallel:  true,
	Recovers:  true,
	Programs:  true,
	Cached:    true,
	Reasoning: true,
	Slow:      true,
	// It is told to ask for no permission, and asks for none: what its sandbox
	// forbids fails as it would for anybody.
	Refuses: false,
	// What a response used is told when its calls have returned.
	Live: false,
}

func TestCodexKeepsTheContract(t *testing.T) {
	t.Parallel()
	vendortest.Codex(t, "http://127.0.0.1:1") // skips the whole
	opts := contract
	opts.Play = func(t testing.TB, turn porttest.Turn) ports.Agent { return real(t, played(turn)) }
	opts.Wait = 30 * time.Second // a person is asked
	porttest.Agent(t, opts)
}

// real returns Codex with a model that does what script says.
func real(t testing.TB, script func(fakeapi.Request) fakeapi.Reply) ports.Agent {
	t.Helper()
	agent, _ := served(t, codex.Options{Retries: -1}, script)
	return agent
}

// served returns Codex as real does, and the service it talks to.
func served(t testing.TB, opts codex.Options, script func(fakeapi.Request) fakeapi.Reply) (ports.Agent, *fakeapi.Server) {
	t.Helper()
	api := fakeapi.New(t, script)
	opts.Program, opts.Env = vendortest.Codex(t, api.URL)
	return codex.New(opts), api
}

// played returns the script of a turn of the suite's.
func played(turn porttest.Turn) func(fakeapi.Request) fakeapi.Reply {
	replies := compile(turn)
	return func(r fakeapi.Request) fakeapi.Reply {
		if r.Try == 0 && r.Turn == 0 && turn.Prompt != nil {
			_, prompt, _ := strings.Cut(r.Heard(), "</environment_context>\n") // where it works, and the date
			turn.Prompt(prompt)
		}
		for _, b := range r.Results() {
			if r.Try == 0 && turn.Result != nil {
				text, refused := strings.CutPrefix(b.String(), "Error: ")
				turn.Result(ports.ToolResult{Text: text, Rejected: refused})
			}
		}
		return replies[min(r.Turn, len(replies)-1)]
	}
}

// shell is a call that runs a command.
func shell(command string) fakeapi.Call {
	args, _ := json.Marshal(map[string]string{"cmd": command})
	return fakeapi.Call{Tool: "exec_command", Args: string(args)}
}

// compile makes responses of a turn's acts. One that does not end the turn has to
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
			next.Usage.Reasoning += act.Usage.Reasoning
		case act.SaveEnv != "":
			call(shell(`printf %s "$` + act.SaveEnv + `" >` + act.SaveEnv))
		default:
			calls := make([]fakeapi.Call, len(act.Calls))
			for i, c := range act.Calls {
				calls[i] = fakeapi.Call{Tool: c.Tool, Args: c.Args}
			}
			call(calls...)
		}
	}
	if turn.Hang || turn.Fail != "" {
		call(shell("true"))
	}
	switch {
	case turn.Hang:
		next.Hang = true
	case turn.Fail == ports.Unavailable:
		next = fakeapi.Reply{Status: 503, Error: "server_is_overloaded", Detail: "Overloaded"}
	case turn.Fail == ports.Denied:
		next.Stop = "content_filter"
	case turn.Fail == ports.Unexpected:
		next = fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "input.0: something else is expected"}
	case turn.Stop == ports.StopLimit:
		next.Stop = "max_output_tokens"
	}
	return append(replies, next)
}

func request(t *testing.T, prompt string) ports.Task {
	t.Helper()
	return ports.Task{Role: "worker", Namespace: ports.Base, Ordinal: 1, Model: "codex/fake-model", Instructions: prompt, Dir: t.TempDir()}
}

func silent(ports.AgentEvent) {}
