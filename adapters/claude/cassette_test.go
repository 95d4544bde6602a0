package claude_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"example.com/agl/adapters/cassette"
	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

var record = flag.Bool("record", false, "record testdata/cassettes again, from the program that testdata/vendors pins")

func TestMain(m *testing.M) {
	cassette.Main()
	os.Exit(m.Run())
}

// taping is how Claude Code's channel is recorded: with what the adapter puts
// into its environment, and without the lists of what it could do, which nobody
// reads.
func taping(t testing.TB) cassette.Options {
	t.Helper()
	return cassette.Options{
		Version: vendortest.Version(t, "@anthropic-ai/claude-code"),
		Env:     []string{"CLAUDE_CODE_*", "MCP_*", "MAX_MCP_*", "DISABLE_*", ports.EnvRun, ports.EnvStep},
		Files:   true,
		Noise: []string{
			"/response/response/agents", "/response/response/models", "/response/response/capabilities", "/response/response/account",
			"/capabilities", "/plugins", "/subagent_stats", "/model_usage_since_last_result", "/begun_message_ids",
		},
	}
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// tapeName is the file of a test's recording: in a folder for its test, that of
// the subtest.
func tapeName(t testing.TB) string {
	test, name, _ := strings.Cut(t.Name(), "/")
	return filepath.Join("testdata", "cassettes", tapeFolders[test], strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")+".jsonl")
}

var tapeFolders = map[string]string{
	"TestTheContractIsKeptOnTape":       "contract",
	"TestEachFailureIsToldAsWellOnTape": "failures",
	"TestWhatATurnDoesIsTheSameOnTape":  "turns",
}

// taped returns the adapter with what was recorded from Claude Code in its
// place. With -record it is recorded: from the program, with a model that does
// what script says.
func taped(t testing.TB, opts claude.Options, script func(fakeapi.Request) fakeapi.Reply) (*claude.Agent, *cassette.Tape) {
	t.Helper()
	var tape *cassette.Tape
	if *record {
		api := fakeapi.New(t, script)
		opts.Program, opts.Env = vendortest.Claude(t, api.URL)
		tape = cassette.Record(t, tapeName(t), opts.Program, taping(t))
	} else {
		opts.Env = vendortest.ClaudeEnv(t, "http://127.0.0.1:1") // nobody is there
		tape = cassette.Play(t, tapeName(t), taping(t))
	}
	opts.Program = tape.Program
	return claude.New(opts), tape
}

// The contract is kept with what Claude Code of the pinned version writes, on a
// machine that has no Claude Code.
func TestTheContractIsKeptOnTape(t *testing.T) {
	t.Parallel()
	opts := contract
	opts.Play = func(t testing.TB, turn porttest.Turn) ports.Agent { return overheard(t, turn) }
	porttest.Agent(t, opts)
}

// A listener is an agent of a turn whose Prompt and Result are called: while it
// is recorded by the service, and else after the turn, with what the service had
// heard in the recording. What the program was sent is the same.
type listener struct {
	ports.Agent
	after func()
}

func (l listener) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	o, err := l.Agent.Run(ctx, task, emit)
	l.after()
	return o, err
}

// A heard is what a service has heard.
type heard struct {
	Prompt *string           `json:"prompt,omitempty"`
	Result *ports.ToolResult `json:"result,omitempty"`
}

func overheard(t testing.TB, turn porttest.Turn) ports.Agent {
	t.Helper()
	if turn.Prompt == nil && turn.Result == nil {
		agent, _ := taped(t, claude.Options{Retries: -1}, played(turn))
		return agent
	}
	var mu sync.Mutex
	var all []heard
	hear := func(h heard) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, h)
	}
	spied := turn
	if turn.Prompt != nil {
		spied.Prompt = func(text string) { hear(heard{Prompt: &text}) }
	}
	if turn.Result != nil {
		spied.Result = func(r ports.ToolResult) { hear(heard{Result: &r}) }
	}
	agent, tape := taped(t, claude.Options{Retries: -1}, played(spied))
	return listener{agent, func() {
		mu.Lock()
		defer mu.Unlock()
		note := tape.NextNote
		if *record {
			note = func(v any) error { return tape.Note(v) }
		}
		if err := note(&all); err != nil {
			t.Error(err)
		}
		for _, h := range all {
			if h.Prompt != nil {
				turn.Prompt(*h.Prompt)
			} else {
				turn.Result(*h.Result)
			}
		}
	}}
}
