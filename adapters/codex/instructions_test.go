//go:build unix

package codex_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

func TestARepositorysInstructionsAreForThoseWhoAskForThem(t *testing.T) {
	t.Parallel()
	for _, setting := range []ports.Instructions{ports.Hermetic, ports.RepositoryInstructions} {
		t.Run("instructions "+string(setting), func(t *testing.T) {
			t.Parallel()
			agent, api := served(t, codex.Options{Retries: -1, Instructions: setting}, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{Texts: []string{"done"}} })
			task := request(t, "hi")
			for _, name := range []string{"AGENTS.md", "CLAUDE.md", "AGENTS.override.md", "sub/AGENTS.md"} {
				require.NoError(t, os.MkdirAll(filepath.Join(task.Dir, filepath.Dir(name)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(task.Dir, name), []byte("[the text of "+name+"]"), 0o600))
			}
			_, err := agent.Run(t.Context(), task, func(ports.AgentEvent) {})
			require.NoError(t, err)
			require.Len(t, api.Requests(), 1)
			body := api.Requests()[0].Body
			for _, name := range []string{"CLAUDE.md", "AGENTS.override.md", "sub/AGENTS.md"} {
				require.NotContains(t, body, "[the text of "+name+"]")
			}
			if setting == ports.Hermetic {
				require.NotContains(t, body, "[the text of AGENTS.md]")
			} else {
				require.Contains(t, body, "[the text of AGENTS.md]")
			}
		})
	}
}

func TestASettingOfInstructionsThatIsNoneIsInvalid(t *testing.T) {
	t.Parallel()
	agent, _ := standIn(t, codex.Options{Instructions: "all"}, "")
	require.ErrorIs(t, agent.Ready(t.Context(), "codex/x"), ports.Invalid)
	_, err := agent.Run(t.Context(), request(t, "hi"), func(ports.AgentEvent) {})
	require.ErrorIs(t, err, ports.Invalid)
}
