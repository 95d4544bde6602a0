//go:build unix

package claude_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

func TestWhatTheAgentDoesIsToldInTheVendorsWords(t *testing.T) {
	t.Parallel()
	use := func(name, input string) string {
		return say(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"` + name + `","input":` + input + `}]}}`)
	}
	task := request(t, "hi")
	agent, _ := standIn(t, claude.Options{}, strings.Join([]string{
		say(`{"type":"system","subtype":"init","session_id":"s1"}`),
		use("Read", `{"file_path":"`+task.Dir+`/sub/main.go","limit":3}`),
		use("Bash", `{"command":"go build ./... \u001b[31m&&\n\tgo test","description":"x"}`),
		use("mcp__agl__report", `{"items":[{"text":"no test"}]}`),
		use("Glob", `{}`),
		use("Write", `{"file_path":"a","content":"b"}`),
		// A nested agent's deeds are told, its words are not.
		say(`{"type":"assistant","parent_tool_use_id":"t","message":{"id":"n","content":[{"type":"text","text":"nested"}]}}`),
		say(`{"type":"system","subtype":"api_retry","attempt":2,"error":"overloaded"}`),
		// What was told in pieces is not told again.
		say(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"all "}}}`),
		say(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"done"}}}`),
		say(said), say(success),
	}, ""))
	var got []string
	_, err := agent.Run(t.Context(), task, func(e ports.AgentEvent) {
		if e.Kind != ports.AgentUsage {
			got = append(got, string(e.Kind)+": "+e.Text)
		}
	})
	require.NoError(t, err)
	want := []string{
		"session: s1", "activity: Read sub/main.go", "activity: Bash go build ./... \ufffd[31m&& go test", `activity: report [{"text":"no test"}]`,
		"activity: Glob", "activity: Write a", "activity: the service failed (overloaded); trying again, 2", "text: all ", "text: done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheProgramIsLookedForOnItsOwnPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Program(t, filepath.Join(dir, "claude"), "#!/bin/sh\necho '{\"loggedIn\":true}'")
	for path, want := range map[string]ports.Kind{"relative:" + dir: "", "/nowhere": ports.Unavailable, "": ports.Unavailable} {
		err := claude.New(claude.Options{Env: append(vendortest.ClaudeEnv(t, ""), "PATH="+path)}).Ready(t.Context(), "claude/haiku")
		if got := ports.KindOf(err); got != want {
			t.Errorf("with the PATH %q: %v, want %q", path, err, want)
		}
	}
}
