package codex_test

import (
	"os"
	"testing"

	"example.com/agl/adapters/cassette"
	"example.com/agl/adapters/codex"
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

// taped returns the adapter with what was recorded from Codex in its place.
// With -record it is recorded: from the program, with a model that does what
// script says.
func taped(t testing.TB, folder string, opts codex.Options, script func(fakeapi.Request) fakeapi.Reply) (ports.Agent, *cassette.Tape) {
	t.Helper()
	opts.Env = vendortest.CodexEnv(t, "http://127.0.0.1:1") // nobody is there
	if *tapetest.Record {
		opts.Program, opts.Env = vendortest.Codex(t, fakeapi.New(t, script).URL)
	}
	tape := tapetest.Tape(t, folder, opts.Program, cassette.Options{
		Version: vendortest.Version(t, "@openai/codex"),
		Env:     []string{ports.EnvRun, ports.EnvStep}, // what the adapter puts into its environment
		Files:   true,
		// What it tells of the machine, of its user's settings and of itself, which the
		// adapter does not read.
		Noise: []string{
			"/result/userAgent", "/result/origins", "/result/config/", "/result/config/features", "/result/config/shell_environment_policy",
			"/result/", "/result/thread/", "/result/thread/environments", "/result/turn/",
			"/params/serverName", "/params/summary", "/params/", "/params/thread", "/params/turn/items",
			"/params/item/", "/params/rateLimits/", "/params/tokenUsage/last",
			"/params/threadSettings/", "/params/threadSettings/environments", "/params/threadSettings/collaborationMode",
		},
	})
	opts.Program, opts.Env = tape.Program, append(opts.Env, tapetest.Fast)
	return codex.New(opts), tape
}

// The contract is kept with what Codex of the pinned version writes, on a
// machine that has no Codex.
func TestTheContractIsKeptOnTape(t *testing.T) {
	t.Parallel()
	opts := contract
	opts.Play = tapetest.Contract(func(t testing.TB, turn porttest.Turn) (ports.Agent, *cassette.Tape) {
		return taped(t, "contract", codex.Options{Retries: -1}, played(turn))
	})
	porttest.Agent(t, opts)
}

func TestTheTapesAreOfThePinnedVersionAndSmall(t *testing.T) {
	t.Parallel()
	if *tapetest.Record {
		t.Skip("they are being recorded; run it again without -record")
	}
	tapetest.Pinned(t, vendortest.Version(t, "@openai/codex"), `"cliVersion":`)
}
