package claude_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

// tool is one that takes a text.
func tool(name string, call func(text string) ports.ToolResult) ports.Tool {
	return ports.Tool{
		Name: name, Doc: "Takes a text.",
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
		Call: func(_ context.Context, args json.RawMessage) ports.ToolResult {
			var doc struct{ Text string }
			if err := json.Unmarshal(args, &doc); err != nil {
				return ports.ToolResult{Text: err.Error(), Rejected: true}
			}
			return call(doc.Text)
		},
	}
}

// acts is a model that does one thing after another.
func acts(replies ...fakeapi.Reply) func(fakeapi.Request) fakeapi.Reply {
	return func(r fakeapi.Request) fakeapi.Reply { return replies[min(r.Turn, len(replies)-1)] }
}

func calls(pairs ...string) fakeapi.Reply {
	var r fakeapi.Reply
	for i := 0; i < len(pairs); i += 2 {
		r.Calls = append(r.Calls, fakeapi.Call{Tool: pairs[i], Args: pairs[i+1]})
	}
	return r
}

var done = fakeapi.Reply{Texts: []string{"done"}}

// What a turn does is the same with the program and on tape: the tests do not
// know which it is.
func TestWhatATurnDoesIsTheSameOnTape(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(t *testing.T){
		"a text": func(t *testing.T) {
			agent, _ := taped(t, "turns", claude.Options{}, acts(fakeapi.Reply{Texts: []string{"äöü ⟦all⟧ done"}, Usage: fakeapi.Usage{Input: 7, Output: 3}}))
			o, err := agent.Run(t.Context(), request(t, "Say it: ⟦dir⟧."), silent)
			require.NoError(t, err)
			require.Equal(t, "äöü ⟦all⟧ done", o.Text)
			require.EqualValues(t, 10, o.Usage.Tokens())
		},
		"a report that is valid at once": func(t *testing.T) {
			agent, _ := taped(t, "turns", claude.Options{}, acts(calls("mcp__agl__report", `{"text":"it is so"}`), done))
			task, got := request(t, "Report."), []string(nil)
			task.Report = "report"
			task.Tools = []ports.Tool{tool("report", func(text string) ports.ToolResult {
				got = append(got, text)
				return ports.ToolResult{Text: "recorded"}
			})}
			o, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Equal(t, []string{"it is so"}, got)
			require.Equal(t, ports.StopCompleted, o.Stop)
		},
		"a handler that fails": func(t *testing.T) {
			agent, _ := taped(t, "turns", claude.Options{}, acts(calls("mcp__agl__ask", `{"text":"a"}`), done))
			task := request(t, "Ask.")
			task.Tools = []ports.Tool{tool("ask", func(string) ports.ToolResult {
				return ports.ToolResult{Text: "the disk is full", Rejected: true}
			})}
			o, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Equal(t, "done", o.Text)
		},
		"a reader that tries to write": func(t *testing.T) {
			agent, _ := taped(t, "turns", claude.Options{}, acts(
				calls("Write", `{"file_path":"a.txt","content":"a"}`), calls("Bash", `{"command":"echo b >b.txt"}`), done,
			))
			task := request(t, "Write.")
			task.Restrictions = []ports.Restriction{ports.NoWrite}
			o, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Equal(t, "done", o.Text)
			left, err := os.ReadDir(task.Dir)
			require.NoError(t, err)
			require.Empty(t, left)
		},
		"an editor that writes": func(t *testing.T) {
			agent, _ := taped(t, "turns", claude.Options{}, acts(
				calls("Read", `{"file_path":"old.txt"}`), calls("Write", `{"file_path":"sub/a.txt","content":"äöü\n"}`), calls("mcp__agl__look", `{"text":"sub/a.txt"}`),
				calls("Bash", `{"command":"rm old.txt; printf '#!/bin/sh\\n' >run; chmod +x run"}`), done,
			))
			task := request(t, "Write.")
			require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "old.txt"), []byte("old"), 0o600))
			seen := ""
			task.Tools = []ports.Tool{tool("look", func(name string) ports.ToolResult {
				doc, err := os.ReadFile(filepath.Join(task.Dir, name))
				seen = string(doc)
				return ports.ToolResult{Text: "seen", Rejected: err != nil}
			})}
			_, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Equal(t, "äöü\n", seen, "what a tool sees that is called afterwards")
			require.NoFileExists(t, filepath.Join(task.Dir, "old.txt"))
			info, err := os.Stat(filepath.Join(task.Dir, "run"))
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&0o100)
		},
		"an interruption while it speaks": func(t *testing.T) {
			agent, _ := taped(t, "turns", claude.Options{}, acts(fakeapi.Reply{Texts: []string{"half"}, Hang: true}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := agent.Run(ctx, request(t, "Go on."), func(e ports.AgentEvent) {
				if e.Kind == ports.AgentText {
					cancel()
				}
			})
			require.ErrorIs(t, err, context.Canceled)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
}

func silent(ports.AgentEvent) {}
