//go:build unix

package codex_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/ports"
)

func TestWhatTheAgentDoesIsToldInTheVendorsWords(t *testing.T) {
	t.Parallel()
	started := func(item string) string {
		return say(`{"method":"item/started","params":{"threadId":"T","item":` + item + `}}`)
	}
	task := request(t, "hi")
	agent, _ := standIn(t, codex.Options{}, strings.Join([]string{
		started(`{"type":"userMessage","id":"u"}`),
		started(`{"type":"commandExecution","command":"/bin/bash -c 'cat ` + task.Dir + `/sub/main.go'","commandActions":[{"command":"cat ` + task.Dir + `/sub/main.go"}]}`),
		started(`{"type":"commandExecution","command":"/bin/bash -c 'go build ./... \u001b[31m&&\n\tgo test'","commandActions":[{"command":"a"},{"command":"b"}]}`),
		started(`{"type":"fileChange","changes":[{"path":"` + task.Dir + `/a.go"},{"path":"` + task.Dir + `/b.go"}]}`),
		started(`{"type":"dynamicToolCall","tool":"report","arguments":{"items":[{"text":"no test"}]}}`),
		started(`{"type":"webSearch","query":"go 1.26"}`),
		started(`{"type":"reasoning"}`),
		say(`{"method":"error","params":{"threadId":"T","willRetry":true,"error":{"message":"Reconnecting... 1/5"}}}`),
		// A nested agent's deeds are told, its words are not.
		say(strings.ReplaceAll(said, `"T"`, `"nested"`)),
		// What was told in pieces is not told again.
		say(`{"method":"item/agentMessage/delta","params":{"threadId":"T","itemId":"m1","delta":"all "}}`),
		say(`{"method":"item/agentMessage/delta","params":{"threadId":"T","itemId":"m1","delta":"done"}}`),
		say(said), say(strings.ReplaceAll(strings.ReplaceAll(said, "m1", "m2"), "all done", "really")), say(success),
	}, ""))
	var got []string
	o, err := agent.Run(t.Context(), task, func(e ports.AgentEvent) {
		if e.Kind != ports.AgentUsage {
			got = append(got, string(e.Kind)+": "+e.Text)
		}
	})
	require.NoError(t, err)
	require.Equal(t, "really", o.Text)
	want := []string{
		"session: T", "activity: exec_command cat sub/main.go", "activity: exec_command /bin/bash -c 'go build ./... \ufffd[31m&& go test'",
		"activity: apply_patch a.go b.go", `activity: report [{"text":"no test"}]`, "activity: web_search go 1.26",
		"activity: the service failed (Reconnecting... 1/5); trying again", "text: all ", "text: done", "text: really",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// BenchmarkTurn measures what a turn costs beside the program: it is a shell that
// answers at once.
func BenchmarkTurn(b *testing.B) {
	agent, _ := standIn(b, codex.Options{}, say(said)+say(success))
	task := ports.Task{Model: "codex/x", Instructions: "hi", Dir: b.TempDir(), Env: []string{ports.EnvStep + "=bench"}}
	for b.Loop() {
		if _, err := agent.Run(b.Context(), task, silent); err != nil {
			b.Fatal(err)
		}
	}
}
