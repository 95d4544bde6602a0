package claude_test

import (
	"os"
	"testing"

	"example.com/agl/adapters/cassette"
	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/tapetest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestMain(m *testing.M) {
	cassette.Main()
	os.Exit(m.Run())
}

// taped returns the adapter with what was recorded from Claude Code in its
// place. With -record it is recorded: from the program, with a model that does
// what script says.
func taped(t testing.TB, folder string, opts claude.Options, script func(fakeapi.Request) fakeapi.Reply) (ports.Agent, *cassette.Tape) {
	t.Helper()
	opts.Env = vendortest.ClaudeEnv(t, "http://127.0.0.1:1") // nobody is there
	if *tapetest.Record {
		opts.Program, opts.Env = vendortest.Claude(t, fakeapi.New(t, script).URL)
	}
	tape := tapetest.Tape(t, folder, opts.Program, cassette.Options{
		Version: vendortest.Version(t, "@anthropic-ai/claude-code"),
		// What the adapter puts into its environment.
		Env:   []string{"CLAUDE_CODE_*", "MCP_*", "MAX_MCP_*", "DISABLE_*", ports.EnvRun, ports.EnvStep},
		Files: true,
		// Lists of what it could do, and sums that are told elsewhere: the adapter does
		// not read them.
		Noise: []string{
			"/response/response/agents", "/response/response/models", "/response/response/capabilities", "/response/response/account",
			"/capabilities", "/plugins", "/subagent_stats", "/model_usage_since_last_result", "/begun_message_ids",
		},
	})
	opts.Program, opts.Env = tape.Program, append(opts.Env, tapetest.Fast)
	return claude.New(opts), tape
}

// The contract is kept with what Claude Code of the pinned version writes, on a
// machine that has no Claude Code.
func TestTheContractIsKeptOnTape(t *testing.T) {
	t.Parallel()
	opts := contract
	opts.Play = tapetest.Contract(func(t testing.TB, turn porttest.Turn) (ports.Agent, *cassette.Tape) {
		return taped(t, "contract", claude.Options{Retries: -1}, played(turn))
	})
	porttest.Agent(t, opts)
}

func TestTheTapesAreOfThePinnedVersionAndSmall(t *testing.T) {
	t.Parallel()
	if *tapetest.Record {
		t.Skip("they are being recorded; run it again without -record")
	}
	tapetest.Pinned(t, vendortest.Version(t, "@anthropic-ai/claude-code"), `"claude_code_version":`)
}
