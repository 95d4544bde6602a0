//go:build unix

package claude_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

// standing are the files of a repository by whether they are given to an agent
// that was opted in to them.
var standing = map[string]bool{
	"CLAUDE.md": true, "AGENTS.md": true,
	"CLAUDE.local.md": false, "sub/CLAUDE.md": false, ".claude/CLAUDE.md": false, ".claude/rules/x.md": false, "imported.md": false, "../CLAUDE.md": false,
}

// repository makes a checkout with all of them, each of which holds its name.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	for name := range standing {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(path, []byte("[the text of "+name+"]\n@imported.md\n"), 0o600))
	}
	return dir
}

// told checks which of the files are in what an agent was told.
func told(t *testing.T, text string, setting ports.Instructions) {
	t.Helper()
	for name, given := range standing {
		if marker := "[the text of " + name + "]"; given && setting == ports.RepositoryInstructions {
			require.Contains(t, text, marker)
		} else {
			require.NotContains(t, text, marker)
		}
	}
}

func TestARepositorysInstructionsAreForThoseWhoAskForThem(t *testing.T) {
	t.Parallel()
	for _, setting := range []ports.Instructions{ports.Hermetic, ports.RepositoryInstructions} {
		t.Run("a stand-in, instructions "+string(setting), func(t *testing.T) {
			t.Parallel()
			task := request(t, "hi")
			task.Dir = repository(t)
			agent, out := standIn(t, claude.Options{Instructions: setting}, `printf %s "$INIT" >$OUT/init; printf %s "$PROMPT" >$OUT/prompt`+"\n"+say(said)+say(success))
			_, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			var init struct {
				Request struct {
					AppendSystemPrompt string `json:"appendSystemPrompt"`
				} `json:"request"`
			}
			doc, err := os.ReadFile(filepath.Join(out, "init"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(doc, &init))
			require.Contains(t, init.Request.AppendSystemPrompt, "You work unattended")
			told(t, init.Request.AppendSystemPrompt, setting)
			prompt, err := os.ReadFile(filepath.Join(out, "prompt"))
			require.NoError(t, err)
			told(t, string(prompt), ports.Hermetic)
		})
		t.Run("Claude Code, instructions "+string(setting), func(t *testing.T) {
			t.Parallel()
			agent, api := served(t, claude.Options{Retries: -1, Instructions: setting}, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{Texts: []string{"done"}} })
			task := request(t, "hi")
			task.Dir = repository(t)
			_, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Len(t, api.Requests(), 1)
			told(t, api.Requests()[0].Body, setting)
		})
	}
}

func TestInstructionsThatCannotBeGivenStartNothing(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, claude.Options{Instructions: ports.RepositoryInstructions}, "touch $OUT/ran\n"+say(success))
	task := request(t, "hi")
	require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "AGENTS.md"), []byte{0}, 0o600))
	_, err := agent.Run(t.Context(), task, silent)
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorContains(t, err, "AGENTS.md")

	agent, _ = standIn(t, claude.Options{Instructions: "all"}, "touch $OUT/ran\n")
	require.ErrorIs(t, agent.Ready(t.Context(), "claude/haiku"), ports.Invalid)
	_, err = agent.Run(t.Context(), task, silent)
	require.ErrorIs(t, err, ports.Invalid)
	require.NoFileExists(t, filepath.Join(out, "ran"))
}
