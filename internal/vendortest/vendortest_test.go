//go:build unix

package vendortest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/adapters/codex"
	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// A vendor is an adapter for a program, and what is known of the environment that
// its tests give it.
type vendor struct {
	env   func(t testing.TB, url string) []string
	agent func(program string, env []string) ports.Agent
	adds  []string // variables, or beginnings of their names, that the adapter adds itself
}

// vendors are all of them, by the name of the adapter and of its program.
var vendors = map[string]vendor{
	"codex": {
		env: vendortest.CodexEnv,
		agent: func(program string, env []string) ports.Agent {
			return codex.New(codex.Options{Program: program, Env: env})
		},
		adds: []string{"CODEX_HOME", "CODEX_SQLITE_HOME", "TMPDIR"},
	},
	"copilot": {
		env: vendortest.CopilotEnv,
		agent: func(program string, env []string) ports.Agent {
			return copilot.New(copilot.Options{Program: program, Env: env})
		},
	},
	"claude": {
		env: vendortest.ClaudeEnv,
		agent: func(program string, env []string) ports.Agent {
			return claude.New(claude.Options{Program: program, Env: env})
		},
		adds: []string{"CLAUDE_CODE_", "MCP_TOOL_TIMEOUT", "MAX_MCP_OUTPUT_TOKENS", "DISABLE_AUTOUPDATER"},
	},
}

// shells are what a shell sets by itself.
var shells = []string{"PWD", "OLDPWD", "SHLVL", "_"}

func TestNoVariableOfTheCallerReachesAProgramOfATest(t *testing.T) {
	for _, name := range []string{
		"AGL_TEST_LEAK", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME",
		"GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN", "COPILOT_HOME", "HTTPS_PROXY", "NODE_OPTIONS", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK",
	} {
		t.Setenv(name, "leaked")
	}
	for name, v := range vendors {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			program := filepath.Join(out, name)
			gittest.Program(t, program, "#!/bin/sh\nenv >>"+out+"/env\n")
			env := v.env(t, "http://127.0.0.1:1")
			agent := v.agent(program, env)
			task := ports.Task{Role: "worker", Namespace: ports.Base, Ordinal: 1, Model: ports.Model(name + "/x"), Instructions: "hi", Dir: t.TempDir()}
			require.Error(t, agent.Ready(t.Context(), task.Model), "the stand-in says nothing")
			ready, err := os.ReadFile(out + "/env")
			require.NoError(t, err, "asking whether it is ready starts the program")
			_, err = agent.Run(t.Context(), task, func(ports.AgentEvent) {})
			require.Error(t, err, "the stand-in says nothing")
			both, err := os.ReadFile(out + "/env")
			require.NoError(t, err)
			require.Greater(t, len(both), len(ready), "a turn starts the program")

			known := slices.Concat(shells, v.adds)
			for _, entry := range env {
				name, _, _ := strings.Cut(entry, "=")
				known = append(known, name)
			}
			require.NotContains(t, string(both), "leaked")
			for line := range strings.SplitSeq(strings.TrimSpace(string(both)), "\n") {
				name, _, _ := strings.Cut(line, "=")
				if !slices.ContainsFunc(known, func(k string) bool {
					return name == k || strings.HasSuffix(k, "_") && k != "_" && strings.HasPrefix(name, k)
				}) {
					t.Errorf("%s is in the program's environment", name)
				}
			}
		})
	}
}

func TestEveryAdapterOfAVendorIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex", "copilot"} {
		if _, err := os.Stat(filepath.Join("..", "..", "adapters", name)); err == nil && vendors[name].agent == nil {
			t.Errorf("adapters/%s has no row in vendors: does anything of the caller's environment reach its program?", name)
		}
	}
}
