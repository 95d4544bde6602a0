//go:build unix

package local_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/claude"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// The reviewer's provider is played by Claude Code too.
func TestFixRunsWithClaudeCode(t *testing.T) {
	t.Parallel()
	api := fakeapi.New(t, func(r fakeapi.Request) fakeapi.Reply {
		switch reviews := !slices.Contains(r.Tools, "Write"); {
		case r.Turn == 0 && reviews:
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "mcp__agl__report", Args: `{"items":[]}`}}}
		case r.Turn == 0:
			return fakeapi.Reply{Calls: []fakeapi.Call{
				{Tool: "Bash", Args: `{"command":"echo made >made.txt"}`}, {Tool: "mcp__agl__report", Args: `{"summary":7}`},
			}}
		case r.Turn == 1 && !reviews:
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "mcp__agl__report", Args: `{"summary":"make a file"}`}}}
		}
		return fakeapi.Reply{Texts: []string{"done"}, Usage: fakeapi.Usage{Input: 100, Output: 10}}
	})
	program, env := vendortest.Claude(t, api.URL)
	repo := gittest.New(t, map[string]string{"AGENTS.md": "[the repository's word]"})
	env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1") // and not repo.Env, which has this process's
	home := t.TempDir()
	open := func() *agl.Engine {
		set, err := local.New(t.Context(), local.Options{
			Repo: repo.Dir, Home: home, Claude: program, Env: env, Instructions: "repository",
			Agents: map[string]ports.Agent{"codex": claude.New(claude.Options{Program: program, Env: env})},
		})
		require.NoError(t, err)
		engine, err := agl.New(set, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, engine.Close()) })
		return engine
	}
	engine := open()
	require.NoError(t, engine.Start(t.Context(), "demo", fix.Workflow.With(fix.Params{Request: "make a file"}), nil))
	journal, err := engine.Journal(t.Context(), "demo")
	require.NoError(t, err)
	require.Len(t, journal.Records, 2)
	for _, r := range journal.Records {
		require.NotEmpty(t, r.Session)
		require.EqualValues(t, 110, r.Usage.Tokens())
		require.True(t, r.Usage.Complete)
	}
	require.Equal(t, `{"summary":"make a file"}`, string(journal.Records[0].Value))
	require.Equal(t, "made", repo.Git("show", "agl/demo:made.txt"))

	// The report that did not fit was refused, and made again in the same turn.
	report := api.Requests()[1].Results()[1]
	require.True(t, report.IsError)
	require.Contains(t, report.String(), "summary")

	// The implementer was opted in to what the repository says, the reviewer's agent was not.
	for _, r := range api.Requests() {
		require.Equal(t, slices.Contains(r.Tools, "Write"), strings.Contains(r.Body, "[the repository's word]"))
	}

	before := len(api.Requests())
	require.NoError(t, open().Resume(t.Context(), "demo", fix.Workflow, nil))
	require.Len(t, api.Requests(), before, "a resume bought something")
}
