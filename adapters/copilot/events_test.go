package copilot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/copilot"
	"example.com/agl/ports"
)

var deeds = play("it does things", begun(func(s *standIn) {
	dir, _ := os.Getwd()
	use := func(name string, arguments any, members ...object) {
		s.say("tool.execution_start", object{"toolName": name, "arguments": arguments}, members...)
	}
	use("view", json.RawMessage(`{"path":"`+dir+`/sub/main.go","view_range":[1,2]}`))
	use("bash", json.RawMessage(`{"command":"go build ./... \u001b[31m&&\n\tgo test","description":"x"}`))
	use("apply_patch", "*** Begin Patch\n*** Add File: a")
	use("report", json.RawMessage(`{"items":[{"text":"no test"}]}`))
	use("glob", object{})
	// A nested agent's deeds are told, its words are not.
	use("grep", object{"pattern": "x"}, object{"agentId": "a"})
	s.say("assistant.message_delta", object{"messageId": "n", "deltaContent": "nested"}, object{"agentId": "a"})
	s.say("assistant.message", object{"messageId": "n", "content": "nested"}, object{"agentId": "a"})
	s.say("model.call_failure", object{"statusCode": 529, "retryAttempt": 1, "errorMessage": `{"message":"over\nloaded"}`})
	// What was told in pieces is not told again.
	s.say("assistant.message_delta", object{"messageId": "m1", "deltaContent": "all "})
	s.say("assistant.message_delta", object{"messageId": "m1", "deltaContent": "done"})
	s.answer("all done")
	s.end()
}))

func TestWhatTheAgentDoesIsToldInTheVendorsWords(t *testing.T) {
	t.Parallel()
	agent, _ := standsIn(t, copilot.Options{}, deeds)
	var got []string
	o, err := agent.Run(t.Context(), request(t, "hi"), func(e ports.AgentEvent) {
		if e.Kind != ports.AgentUsage {
			got = append(got, string(e.Kind)+": "+e.Text)
		}
	})
	require.NoError(t, err)
	require.Equal(t, "all done", o.Text)
	want := []string{
		"session: s1", "activity: view sub/main.go", "activity: bash go build ./... \ufffd[31m&& go test", "activity: apply_patch *** Begin Patch *** Add File: a",
		`activity: report [{"text":"no test"}]`, "activity: glob", "activity: grep x", "activity: the service failed (over loaded); trying again, 2", "text: all ", "text: done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var asksLeave = play("it asks for permissions", begun(func(s *standIn) {
	var answers []json.RawMessage
	for _, p := range []object{
		{"kind": "read", "path": "/etc/hostname"},
		{"kind": "write", "fileName": "/etc/agl"},
		{"kind": "write", "fileName": "inside"},
		{"kind": "write", "fileName": "link/x"},
		{"kind": "write", "fileName": "inside", "resolvedPath": "/etc/agl"},
		{"kind": "write", "fileName": "inside", "fileEdits": []object{{"before": object{"path": "inside"}, "after": object{"path": "/etc/agl"}}}},
		{"kind": "write", "fileName": "sub/../.GIT/hooks/x"},
		{"kind": "write"},
		{"kind": "shell", "fullCommandText": "echo x >f", "hasWriteFileRedirection": true},
		{"kind": "url", "url": "https://example.com"},
		{"kind": "custom-tool", "toolName": "ask"},
		{"kind": "mcp", "toolName": "evil"},
		{"kind": "memory"},
		{},
	} {
		s.say("permission.requested", object{"requestId": "p", "permissionRequest": p})
		var answer struct {
			Result struct{ Kind string }
		}
		_ = json.Unmarshal(s.await("session.permissions.handlePendingPermissionRequest"), &answer)
		doc, _ := json.Marshal(answer.Result.Kind)
		answers = append(answers, doc)
	}
	doc, _ := json.Marshal(answers)
	s.keep("answers", doc)
	s.answer("all done")
	s.end()
}))

func TestWhatARoleMayDoIsAllowedAndAllElseIsRefused(t *testing.T) {
	t.Parallel()
	const yes, no = "approve-once", "reject"
	const outside = "write outside of the checkout"
	for _, tt := range []struct {
		restrictions []ports.Restriction
		answers      []string
		denied       []string
	}{
		{nil, []string{yes, no, yes, no, no, no, yes, no, yes, yes, yes, no, no, no}, []string{outside, "mcp", "memory", "a permission"}},
		{[]ports.Restriction{ports.NoWrite}, []string{yes, no, no, no, no, no, no, no, no, yes, yes, no, no, no}, []string{"write", "shell", "mcp", "memory", "a permission"}},
		{[]ports.Restriction{ports.NoShell}, []string{yes, no, yes, no, no, no, yes, no, no, yes, yes, no, no, no}, []string{outside, "shell", "mcp", "memory", "a permission"}},
		{[]ports.Restriction{ports.NoNetwork}, []string{yes, no, yes, no, no, no, yes, no, no, no, yes, no, no, no}, []string{outside, "shell", "url", "mcp", "memory", "a permission"}},
		{[]ports.Restriction{ports.NoVCS}, []string{yes, no, yes, no, no, no, no, no, no, yes, yes, no, no, no}, []string{outside, "write to version control", "shell", "mcp", "memory", "a permission"}},
	} {
		agent, out := standsIn(t, copilot.Options{}, asksLeave)
		task := request(t, "hi")
		task.Restrictions = tt.restrictions
		if err := os.Symlink("/etc", filepath.Join(task.Dir, "link")); err != nil {
			t.Skipf("there are no links: %v", err)
		}
		o, err := agent.Run(t.Context(), task, silent)
		require.NoError(t, err)
		if diff := cmp.Diff(tt.denied, o.Denied); diff != "" {
			t.Errorf("%v: what was denied (-want +got):\n%s", tt.restrictions, diff)
		}
		doc, err := os.ReadFile(filepath.Join(out, "answers"))
		require.NoError(t, err)
		var answers []string
		require.NoError(t, json.Unmarshal(doc, &answers))
		if diff := cmp.Diff(tt.answers, answers); diff != "" {
			t.Errorf("%v: the answers (-want +got):\n%s", tt.restrictions, diff)
		}
	}
}

var tellsAll = play("it tells how it was started", func(s *standIn) {
	args, _ := json.Marshal(os.Args[1:])
	s.keep("args", args)
	s.succeed()
})

// Cases B10, B13, B21.
func TestTheCommandLineHoldsNothingOfTheRequestAndTheSessionIsHermetic(t *testing.T) {
	t.Parallel()
	agent, out := standsIn(t, copilot.Options{}, tellsAll,
		"COPILOT_PROVIDER_TYPE=azure", "COPILOT_PROVIDER_AZURE_API_VERSION=v9", "COPILOT_PROVIDER_HEADERS=A: b\\nC: d:e", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=77", "COPILOT_PROVIDER_WIRE_MODEL=wire")
	task := request(t, strings.Repeat("a long request, ", 1<<16)+"to its end")
	task.Model = "copilot/some model --dangerously"
	task.Restrictions = []ports.Restriction{ports.NoWrite}
	task.Tools = []ports.Tool{{Name: "ask", Doc: "Asks.", Schema: json.RawMessage(`{"type":"object"}`)}}
	_, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)

	read := func(name string, v any) {
		doc, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(doc, v))
	}
	var args []string
	read("args", &args)
	require.Equal(t, []string{"--headless", "--stdio", "--no-auto-update", "--log-level=none"}, args)
	var sent struct{ SessionID, Prompt string }
	read("send", &sent)
	require.Equal(t, "s1", sent.SessionID)
	require.Equal(t, task.Instructions, sent.Prompt)

	var created map[string]any
	read("create", &created)
	config := created["configDir"].(string)
	require.NoDirExists(t, config)
	delete(created, "configDir")
	system := created["systemMessage"].(map[string]any)
	require.Equal(t, "append", system["mode"])
	require.Contains(t, system["content"], "change no file")
	delete(created, "systemMessage")
	available := []any{}
	for _, tool := range []string{"glob", "grep", "rg", "view", "web_fetch", "web_search"} {
		available = append(available, "builtin:"+tool)
	}
	off := object{"enabled": false}
	want := object{
		"clientName": "agl", "workingDirectory": task.Dir, "model": "some model --dangerously", "streaming": true, "envValueMode": "direct",
		"provider": object{
			"type": "azure", "baseUrl": "http://127.0.0.1:1/v1", "apiKey": "fake-key", "azure": object{"apiVersion": "v9"},
			"headers": object{"A": "b", "C": "d:e"}, "maxPromptTokens": 77.0, "wireModel": "wire",
		},
		"tools": []any{object{
			"name": "ask", "description": "Asks.", "parameters": object{"type": "object"}, "skipPermission": true, "overridesBuiltInTool": true, "defer": "never",
		}},
		"availableTools": append(available, "custom:ask"), "toolFilterPrecedence": "excluded", "toolSearch": off, "largeOutput": off, "requestPermission": true,
		"skipCustomInstructions": true, "enableConfigDiscovery": false, "enableOnDemandInstructionDiscovery": false, "enableFileHooks": false,
		"enableSkills": false, "enableHostGitOperations": false, "enableSessionStore": false, "enableSessionTelemetry": false,
		"skipEmbeddingRetrieval": true, "embeddingCacheStorage": "in-memory", "mcpOAuthTokenStorage": "in-memory", "mcpServers": object{},
		"customAgentsLocalOnly": true, "coauthorEnabled": false, "manageScheduleEnabled": false, "memory": off, "infiniteSessions": off, "remoteSession": "off",
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
}

// BenchmarkTurn measures what a turn costs beside the program, which is this
// test's own.
func BenchmarkTurn(b *testing.B) {
	agent, _ := standsIn(b, copilot.Options{}, "a success")
	task := ports.Task{Model: "copilot/fake-model", Instructions: "hi", Dir: b.TempDir(), Env: []string{ports.EnvStep + "=bench"}}
	for b.Loop() {
		if _, err := agent.Run(b.Context(), task, silent); err != nil {
			b.Fatal(err)
		}
	}
}
