package copilot_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// marker is in every file that could configure the agent.
const marker = "POISON_MARKER"

// poison puts into a repository, the folder above it, the user's home and the
// program's own folder whatever the Copilot CLI reads there. The programs that it
// would run leave a file in the folder planted.
func poison(t *testing.T, repo, home, own, planted string) {
	t.Helper()
	run := func(name string) string { return "touch " + filepath.Join(planted, name) }
	hooks := func(where string) string {
		list := map[string]any{}
		for _, event := range []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "sessionEnd", "errorOccurred"} {
			list[event] = []any{map[string]any{"type": "command", "bash": run(where + "-" + event)}}
		}
		doc, _ := json.Marshal(map[string]any{"version": 1, "hooks": list})
		return string(doc)
	}
	claudeHooks := func(where string) string {
		return `{"model":"evil-` + marker + `","hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"` + run(where) + `"}]}],` +
			`"PreToolUse":[{"hooks":[{"type":"command","command":"` + run(where+"-tool") + `"}]}]}}`
	}
	servers := func(where string) string {
		return `{"mcpServers":{"evil":{"type":"local","command":"touch","args":["` + filepath.Join(planted, where) + `"],"tools":["*"]}}}`
	}
	front := "---\nname: evil\ndescription: " + marker + "\napplyTo: '**'\n---\n" + marker + "\n"
	for name, text := range map[string]string{
		repo + "/../AGENTS.md":                             marker,
		repo + "/AGENTS.md":                                marker,
		repo + "/CLAUDE.md":                                marker + "\n@imported.md\n",
		repo + "/imported.md":                              marker,
		repo + "/GEMINI.md":                                marker,
		repo + "/sub/AGENTS.md":                            marker,
		repo + "/sub/f.txt":                                "a file",
		repo + "/.github/copilot-instructions.md":          marker,
		repo + "/.github/instructions/x.instructions.md":   front,
		repo + "/.github/prompts/evil.prompt.md":           front,
		repo + "/.github/agents/evil.agent.md":             front,
		repo + "/.github/skills/evil/SKILL.md":             front,
		repo + "/.github/hooks/evil.json":                  hooks("repo"),
		repo + "/.github/copilot/settings.json":            hooks("repo-settings"),
		repo + "/.github/copilot/settings.local.json":      hooks("repo-local"),
		repo + "/.github/mcp.json":                         servers("github-mcp"),
		repo + "/.copilot/mcp-config.json":                 servers("copilot-mcp"),
		repo + "/.vscode/mcp.json":                         servers("vscode-mcp"),
		repo + "/.mcp.json":                                servers("mcp"),
		repo + "/.claude/CLAUDE.md":                        marker,
		repo + "/.claude/rules/evil.md":                    marker,
		repo + "/.claude/skills/evil/SKILL.md":             front,
		repo + "/.claude/agents/evil.md":                   front,
		repo + "/.claude/commands/evil.md":                 front,
		repo + "/.claude/settings.json":                    claudeHooks("claude"),
		repo + "/.agents/skills/evil/SKILL.md":             front,
		repo + "/.env":                                     "COPILOT_MODEL=evil-" + marker + "\nPOISON=" + marker + "\n",
		repo + "/" + marker + ".txt":                       "its name is seen in a status",
		home + "/AGENTS.md":                                marker,
		home + "/.claude/CLAUDE.md":                        marker,
		home + "/.claude/settings.json":                    claudeHooks("home-claude"),
		home + "/.agents/skills/evil/SKILL.md":             front,
		home + "/.copilot/copilot-instructions.md":         marker,
		own + "/copilot-instructions.md":                   marker,
		own + "/AGENTS.md":                                 marker,
		own + "/instructions/x.instructions.md":            front,
		own + "/config.json":                               `{"model":"evil-` + marker + `","trusted_folders":["` + repo + `"]}`,
		own + "/settings.json":                             hooks("own-settings"),
		own + "/hooks/evil.json":                           hooks("own"),
		own + "/mcp-config.json":                           servers("own-mcp"),
		own + "/skills/evil/SKILL.md":                      front,
		own + "/agents/evil.agent.md":                      front,
		filepath.Join(planted, "bin", "fsmonitor"):         "#!/bin/sh\n" + run("fsmonitor") + "\n",
		filepath.Join(planted, "bin", "hooks/post-commit"): "#!/bin/sh\n" + run("post-commit") + "\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Clean(name), []byte(text), 0o700)) // "repo/.." is there before "repo"
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", marker},
		{"add", "AGENTS.md"},
		{"commit", "-qm", marker},
		{"config", "core.fsmonitor", filepath.Join(planted, "bin", "fsmonitor")},
		{"config", "core.hooksPath", filepath.Join(planted, "bin", "hooks")},
	} {
		git := exec.Command("git", append([]string{"-c", "user.name=" + marker, "-c", "user.email=a@example.com"}, args...)...)
		git.Dir = repo
		git.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		out, err := git.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

// Case B13.
func TestNothingInTheRepositoryOrAtHomeConfiguresTheAgent(t *testing.T) {
	t.Parallel()
	repo := filepath.Join(t.TempDir(), "repo")
	api := fakeapi.New(t, func(r fakeapi.Request) fakeapi.Reply {
		if r.Turn == 0 {
			return fakeapi.Reply{Calls: []fakeapi.Call{
				{Tool: "view", Args: `{"path":"` + repo + `/sub/f.txt"}`}, {Tool: "bash", Args: `{"command":"echo $POISON-$COPILOT_PROVIDER_API_KEY-","description":"x"}`},
			}}
		}
		return fakeapi.Reply{Texts: []string{"done"}}
	})
	program, env := vendortest.Copilot(t, api.URL)
	values := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	planted := t.TempDir()
	poison(t, repo, values["HOME"], values["COPILOT_HOME"], planted)
	task := request(t, "hi")
	task.Dir = repo
	env = append(env, "COPILOT_ALLOW_ALL=true", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS="+repo)
	o, err := copilot.New(copilot.Options{Program: program, Env: env}).Run(t.Context(), task, silent)
	require.NoError(t, err)
	require.Equal(t, "done", o.Text)

	requests := api.Requests()
	require.Len(t, requests, 2)
	for _, r := range requests {
		if i := strings.Index(r.Body, marker); i >= 0 {
			t.Errorf("the model was told: %q", r.Body[max(0, i-200):min(len(r.Body), i+100)])
		}
		require.Equal(t, "Bearer fake-key", r.Header.Get("Authorization"))
		require.NotContains(t, strings.Join(r.Tools, " "), "evil")
		require.Equal(t, "fake-model", r.Model)
	}
	results := requests[1].Results()
	require.Contains(t, results[0].String(), "a file")
	require.True(t, strings.HasPrefix(results[1].String(), "--\n"), "the shell's variables: %s", results[1])
	ran, err := os.ReadDir(planted)
	require.NoError(t, err)
	for _, file := range ran {
		if file.Name() != "bin" {
			t.Errorf("a planted program ran: %s", file.Name())
		}
	}
	state, err := filepath.Glob(filepath.Join(values["COPILOT_HOME"], "session-state", "*"))
	require.NoError(t, err)
	require.Empty(t, state, "what is left of the session")
}

func TestPathsAndCommandsInARequestAreText(t *testing.T) {
	t.Parallel()
	agent, api := served(t, copilot.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{Texts: []string{"done"}} })
	task := request(t, "")
	secret := filepath.Join(t.TempDir(), "secret.txt")
	for _, file := range []string{secret, filepath.Join(task.Dir, "inside.txt")} {
		require.NoError(t, os.WriteFile(file, []byte(marker), 0o600))
	}
	for _, prompt := range []string{"/compact", "@inside.txt", "see @" + secret + " and @./inside.txt, @../x", "!touch ran"} {
		task.Instructions = prompt
		before := len(api.Requests())
		o, err := agent.Run(t.Context(), task, silent)
		require.NoError(t, err)
		require.Equal(t, "done", o.Text, prompt)
		requests := api.Requests()[before:]
		require.Len(t, requests, 1, prompt)
		require.Contains(t, requests[0].Heard(), prompt)
		require.NotContains(t, requests[0].Body, marker, prompt)
	}
	require.NoFileExists(t, filepath.Join(task.Dir, "ran"))
}

// What a model of OpenAI's writes by is another tool than that of the others.
func TestAPatchIsHeldToTheCheckout(t *testing.T) {
	t.Parallel()
	outside := "/agl-outside-of-any-checkout"
	patch := func(file string) fakeapi.Call {
		return fakeapi.Call{Tool: "apply_patch", Custom: true, Args: "*** Begin Patch\n*** Add File: " + file + "\n+x\n*** End Patch\n"}
	}
	agent, api := served(t, copilot.Options{Retries: -1}, func(r fakeapi.Request) fakeapi.Reply {
		if r.Turn == 0 {
			return fakeapi.Reply{Calls: []fakeapi.Call{patch("inside"), patch(outside)}}
		}
		return fakeapi.Reply{Texts: []string{"done"}}
	})
	task := request(t, "hi")
	task.Model = "copilot/gpt-5.4"
	o, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)
	require.Equal(t, []string{"write outside of the checkout"}, o.Denied)
	require.FileExists(t, filepath.Join(task.Dir, "inside"))
	require.NoFileExists(t, outside)
	require.Equal(t, "gpt-5.4", api.Requests()[0].Model)

	task.Restrictions = []ports.Restriction{ports.NoWrite}
	task.Dir = t.TempDir()
	_, err = agent.Run(t.Context(), task, silent)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(task.Dir, "inside"))
	tools := api.Requests()[2].Tools
	slices.Sort(tools)
	require.Equal(t, []string{"glob", "rg", "view"}, tools)
}

func TestRestrictionsAreHeldTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		restriction ports.Restriction
		tools       []string
		written     []string
		words       string
	}{
		{"", []string{"bash", "create", "edit", "glob", "grep", "list_bash", "read_bash", "stop_bash", "view"}, []string{"by-shell", "by-tool"}, "unattended"},
		{ports.NoWrite, []string{"glob", "grep", "view"}, nil, "change no file"},
		{ports.NoShell, []string{"create", "edit", "glob", "grep", "view"}, []string{"by-tool"}, "Run no commands"},
		{ports.NoVCS, []string{"create", "edit", "glob", "grep", "view"}, []string{"by-tool"}, "version control"},
		{ports.NoNetwork, []string{"create", "edit", "glob", "grep", "view"}, []string{"by-tool"}, "no network"},
	} {
		t.Run("deny "+string(tt.restriction), func(t *testing.T) {
			t.Parallel()
			task := request(t, "hi")
			if tt.restriction != "" {
				task.Restrictions = []ports.Restriction{tt.restriction}
			}
			agent, api := served(t, copilot.Options{Retries: -1}, func(r fakeapi.Request) fakeapi.Reply {
				if r.Turn == 0 {
					return fakeapi.Reply{Calls: []fakeapi.Call{
						{Tool: "create", Args: `{"path":"` + task.Dir + `/by-tool","file_text":"x"}`},
						{Tool: "bash", Args: `{"command":"echo x >by-shell","description":"x"}`},
						{Tool: "task", Args: `{"agent_type":"task","name":"x","description":"x","prompt":"x"}`},
					}}
				}
				return fakeapi.Reply{Texts: []string{"done"}}
			})
			o, err := agent.Run(t.Context(), task, silent)
			require.NoError(t, err)
			require.Empty(t, o.Denied)
			require.Len(t, api.Requests(), 2)
			r := api.Requests()[0]
			slices.Sort(r.Tools)
			if diff := cmp.Diff(tt.tools, r.Tools); diff != "" {
				t.Errorf("the model's tools (-want +got):\n%s", diff)
			}
			require.Contains(t, r.System, tt.words)
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

func TestTheRepositorysInstructionsAreGivenWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for setting, want := range map[ports.Instructions]bool{ports.RepositoryInstructions: true, ports.Hermetic: false} {
		agent, out := standsIn(t, copilot.Options{Instructions: setting}, "a success")
		task := request(t, "hi")
		require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "AGENTS.md"), []byte(marker), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "CLAUDE.md"), []byte("not for this one"), 0o600))
		_, err := agent.Run(t.Context(), task, silent)
		require.NoError(t, err)
		doc, err := os.ReadFile(filepath.Join(out, "create"))
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(doc), marker), string(setting))
		require.NotContains(t, string(doc), "not for this one")
	}
	agent, _ := standsIn(t, copilot.Options{Instructions: "all"}, "a success")
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorIs(t, agent.Ready(t.Context(), "copilot/m"), ports.Invalid)
}
