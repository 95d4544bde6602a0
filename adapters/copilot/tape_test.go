package copilot_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

// doing is a model that does one thing after another, and then is done.
func doing(replies ...fakeapi.Reply) func(fakeapi.Request) fakeapi.Reply {
	replies = append(replies, fakeapi.Reply{Texts: []string{"done"}})
	return func(r fakeapi.Request) fakeapi.Reply { return replies[min(r.Turn, len(replies)-1)] }
}

// calling calls a tool.
func calling(tool string, args map[string]string) fakeapi.Reply {
	doc, _ := json.Marshal(args)
	return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: tool, Args: string(doc)}}}
}

// What a turn does is the same with the program and on tape: the tests do not
// know which it is.
func TestWhatATurnDoesIsTheSameOnTape(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(t *testing.T){
		"a text": func(t *testing.T) {
			agent, _ := taped(t, "turns", copilot.Options{}, func(fakeapi.Request) fakeapi.Reply {
				return fakeapi.Reply{Texts: []string{"äöü ⟦all⟧ done"}, Usage: fakeapi.Usage{Input: 7, Output: 3}}
			})
			o, err := agent.Run(t.Context(), request(t, "/help Say it: ⟦dir⟧."), silent)
			require.NoError(t, err)
			require.Equal(t, "äöü ⟦all⟧ done", o.Text)
			require.EqualValues(t, 10, o.Usage.Tokens())
		},
		"a reader that tries to write": func(t *testing.T) {
			task := request(t, "Write.")
			agent, _ := taped(t, "turns", copilot.Options{}, doing(
				calling("create", map[string]string{"path": filepath.Join(task.Dir, "a.txt"), "file_text": "a"}),
				calling("bash", map[string]string{"command": "echo b >b.txt", "description": "write"}),
			))
			task.Restrictions = []ports.Restriction{ports.NoWrite}
			o, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Equal(t, "done", o.Text)
			left, err := os.ReadDir(task.Dir)
			require.NoError(t, err)
			require.Empty(t, left)
		},
		"an editor that writes": func(t *testing.T) {
			task := request(t, "Write.")
			made := filepath.Join(task.Dir, "a.txt")
			agent, _ := taped(t, "turns", copilot.Options{}, doing(
				calling("create", map[string]string{"path": made, "file_text": "äöü\n"}),
				calling("look", map[string]string{"name": "a.txt"}),
				calling("bash", map[string]string{"command": `rm old.txt; printf '#!/bin/sh\n' >run; chmod +x run`, "description": "change"}),
			))
			require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "old.txt"), []byte("old"), 0o600))
			seen := ""
			task.Tools = []ports.Tool{{Name: "look", Doc: "Looks at a file.", Call: func(_ context.Context, args json.RawMessage) ports.ToolResult {
				var in struct{ Name string }
				if err := json.Unmarshal(args, &in); err != nil {
					return ports.ToolResult{Text: err.Error(), Rejected: true}
				}
				doc, err := os.ReadFile(filepath.Join(task.Dir, in.Name))
				seen = string(doc)
				return ports.ToolResult{Text: "it is there: " + strconv.FormatBool(err == nil)}
			}}}
			_, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Equal(t, "äöü\n", seen, "what a tool sees that is called afterwards")
			require.NoFileExists(t, filepath.Join(task.Dir, "old.txt"))
			info, err := os.Stat(filepath.Join(task.Dir, "run"))
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&0o100)
		},
		"an interruption while it speaks": func(t *testing.T) {
			agent, _ := taped(t, "turns", copilot.Options{}, func(fakeapi.Request) fakeapi.Reply {
				return fakeapi.Reply{Texts: []string{"half"}, Hang: true}
			})
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
