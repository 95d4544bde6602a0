package codex_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

// Codex gives some models one tool, which runs a program of theirs that calls the
// others: what an agent is held to, and the role's tools, are the same there.
func TestAModelThatWritesProgramsIsHeldToTheSame(t *testing.T) {
	t.Parallel()
	const program = `
const say = async (name, f) => { try { text(name + ": " + JSON.stringify(await f())); } catch (e) { text(name + " failed: " + e); } };
await say("report", () => tools.report({q: "1"}));
await say("shell", () => tools.exec_command({cmd: "echo x >by-shell; cat /etc/hostname"}));
await say("patch", () => tools.apply_patch("*** Begin Patch\n*** Add File: by-patch\n+x\n*** End Patch\n"));
`
	for _, tt := range []struct {
		restrictions []ports.Restriction
		written      []string
	}{
		{nil, []string{"by-patch", "by-shell"}},
		{[]ports.Restriction{ports.NoWrite}, nil},
		{[]ports.Restriction{ports.NoShell}, []string{"by-patch"}},
		{[]ports.Restriction{ports.NoShell, ports.NoWrite}, nil},
	} {
		agent, api := served(t, codex.Options{Retries: -1}, func(r fakeapi.Request) fakeapi.Reply {
			if r.Turn == 0 {
				return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "exec", Args: program, Custom: true}}}
			}
			return fakeapi.Reply{Texts: []string{"done"}}
		})
		task, called := request(t, "hi"), 0
		task.Model, task.Restrictions = "codex/gpt-6-sol", tt.restrictions
		task.Tools = []ports.Tool{{Name: "report", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`), Call: func(_ context.Context, args json.RawMessage) ports.ToolResult {
			called++
			require.JSONEq(t, `{"q":"1"}`, string(args))
			return ports.ToolResult{Text: "recorded"}
		}}}
		o, err := agent.Run(t.Context(), task, silent)
		require.NoError(t, err)
		require.Empty(t, o.Denied)
		said := api.Requests()[len(api.Requests())-1].Results()
		require.NotEmpty(t, said)
		require.Equal(t, 1, called, said[0].String())
		var written []string
		files, err := os.ReadDir(task.Dir)
		require.NoError(t, err)
		for _, f := range files {
			written = append(written, f.Name())
		}
		require.Equal(t, tt.written, written, said[0].String())
	}
}
