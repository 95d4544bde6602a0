//go:build unix

package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

func TestPathsAndCommandsInARequestAreText(t *testing.T) {
	t.Parallel()
	agent, api := served(t, claude.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{Texts: []string{"done"}} })
	task := request(t, "")
	secret := filepath.Join(t.TempDir(), "secret.txt")
	for _, file := range []string{secret, filepath.Join(task.Dir, "inside.txt")} {
		require.NoError(t, os.WriteFile(file, []byte("SECRET"), 0o600))
	}
	for _, prompt := range []string{"/clear", "/compact now", "@inside.txt", "see @" + secret + " and @./inside.txt, @../x", "#remember", "!touch ran"} {
		task.Instructions = prompt
		before := len(api.Requests())
		o, err := agent.Run(t.Context(), task, silent)
		require.NoError(t, err)
		require.Equal(t, "done", o.Text, prompt)
		requests := api.Requests()[before:]
		require.Len(t, requests, 1, prompt)
		require.Contains(t, requests[0].Heard(), prompt)
		require.NotContains(t, requests[0].Body, "SECRET", prompt)
	}
	require.NoFileExists(t, filepath.Join(task.Dir, "ran"))
}

func TestRestrictionsAreHeldTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		restriction ports.Restriction
		tools       []string
		written     []string
	}{
		{"", []string{"Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write"}, []string{"by-shell", "by-tool"}},
		{ports.NoWrite, []string{"Glob", "Grep", "Read", "WebFetch", "WebSearch"}, nil},
		{ports.NoShell, []string{"Edit", "Glob", "Grep", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write"}, []string{"by-tool"}},
		{ports.NoVCS, []string{"Edit", "Glob", "Grep", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write"}, []string{"by-tool"}},
		{ports.NoNetwork, []string{"Edit", "Glob", "Grep", "NotebookEdit", "Read", "Write"}, []string{"by-tool"}},
	} {
		t.Run("deny "+string(tt.restriction), func(t *testing.T) {
			t.Parallel()
			task := request(t, "hi")
			if tt.restriction != "" {
				task.Restrictions = []ports.Restriction{tt.restriction}
			}
			agent, api := served(t, claude.Options{Retries: -1}, func(r fakeapi.Request) fakeapi.Reply {
				if r.Turn == 0 {
					return fakeapi.Reply{Calls: []fakeapi.Call{
						{Tool: "Write", Args: `{"file_path":"` + task.Dir + `/by-tool","content":"x"}`},
						{Tool: "Bash", Args: `{"command":"echo x >by-shell"}`},
					}}
				}
				return fakeapi.Reply{Texts: []string{"done"}}
			})
			o, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Empty(t, o.Denied)
			r := api.Requests()[0]
			slices.Sort(r.Tools)
			if diff := cmp.Diff(tt.tools, r.Tools); diff != "" {
				t.Errorf("the model's tools (-want +got):\n%s", diff)
			}
			var written []string
			files, err := os.ReadDir(task.Dir)
			require.NoError(t, err)
			for _, f := range files {
				written = append(written, f.Name())
			}
			if diff := cmp.Diff(tt.written, written); diff != "" {
				t.Errorf("what was written (-want +got):\n%s", diff)
			}
		})
	}
}
