package copilot_test

import (
	"testing"

	"example.com/agl/adapters/cassette"
	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/tapetest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

// taped returns the adapter with what was recorded from the Copilot CLI in its
// place. With -record it is recorded: from the program, with a model that does
// what script says.
func taped(t testing.TB, folder string, opts copilot.Options, script func(fakeapi.Request) fakeapi.Reply) (ports.Agent, *cassette.Tape) {
	t.Helper()
	opts.Env = vendortest.CopilotEnv(t, "http://127.0.0.1:1") // nobody is there
	if *tapetest.Record {
		opts.Program, opts.Env = vendortest.Copilot(t, fakeapi.New(t, script).URL)
	}
	tape := tapetest.Tape(t, folder, opts.Program, cassette.Options{
		Version: vendortest.Version(t, "@github/copilot"),
		Framing: cassette.ContentLength,
		// What the adapter puts into its environment.
		Env:   []string{"COPILOT_AUTO_UPDATE", "COPILOT_MODEL", ports.EnvRun, ports.EnvStep},
		Files: true,
		// Most of what the program tells: the adapter passes it over, or takes no
		// more than that something came.
		Unread: []string{
			"/method=session.lifecycle", "/params/event/type=model.[dlmrt]*", "/params/event/type=model.call_start", "/params/event/type=model.call_fin*",
			"/params/event/type=system.*", "/params/event/type=user.*", "/params/event/type=pending_messages.*", "/params/event/type=host.*",
			"/params/event/type=assistant.turn_*", "/params/event/type=assistant.message_start", "/params/event/type=assistant.streaming_delta",
			"/params/event/type=assistant.tool_call_delta", "/params/event/type=session.info", "/params/event/type=session.[mu]*",
			"/params/event/type=session.skills_*", "/params/event/type=session.tools_*", "/params/event/type=session.background_*",
		},
		Noise: []string{"/params/event/parentId", "/params/event/data/toolTelemetry", "/params/event/data/accounting"},
		// Ours, of which those that are made at once come in any order.
		Volatile: map[string]string{"call": `^(agl-[0-9]+)$`},
	})
	opts.Program = tape.Program
	return copilot.New(opts), tape
}

// The contract is kept with what the Copilot CLI of the pinned version writes, on
// a machine that has no Copilot CLI.
func TestTheContractIsKeptOnTape(t *testing.T) {
	t.Parallel()
	opts := contract
	opts.Play = tapetest.Contract(func(t testing.TB, turn porttest.Turn) (ports.Agent, *cassette.Tape) {
		return taped(t, "contract", copilot.Options{Retries: -1}, played(turn))
	})
	porttest.Agent(t, opts)
}

func TestTheTapesAreOfThePinnedVersionAndSmall(t *testing.T) {
	t.Parallel()
	if *tapetest.Record {
		t.Skip("they are being recorded; run it again without -record")
	}
	tapetest.Pinned(t, vendortest.Version(t, "@github/copilot"), `"copilotVersion":`)
}
