//go:build unix

package local_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
)

// One vendor's model makes the change, and another's reviews it.
func TestFixRunsWithClaudeCodeAndIsReviewedByCodex(t *testing.T) {
	t.Parallel()
	claudeAPI := fakeapi.New(t, func(r fakeapi.Request) fakeapi.Reply {
		if r.Turn == 0 {
			return fakeapi.Reply{Calls: []fakeapi.Call{
				{Tool: "Bash", Args: `{"command":"echo made >made.txt"}`}, {Tool: "mcp__agl__report", Args: `{"summary":"make a file"}`},
			}}
		}
		return fakeapi.Reply{Texts: []string{"done"}, Usage: fakeapi.Usage{Input: 100, Output: 10}}
	})
	codexAPI := fakeapi.New(t, func(r fakeapi.Request) fakeapi.Reply {
		switch r.Turn {
		case 0:
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "exec_command", Args: `{"cmd":"cat made.txt; echo spoilt >made.txt"}`}}}
		case 1:
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "report", Args: `{"items":7}`}}}
		case 2:
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "report", Args: `{"items":[]}`}}}
		}
		return fakeapi.Reply{Texts: []string{"done"}, Usage: fakeapi.Usage{Input: 100, Output: 10}}
	})
	claudeProgram, env := vendortest.Claude(t, claudeAPI.URL)
	codexProgram, codexEnv := vendortest.Codex(t, codexAPI.URL)
	env = append(env, codexEnv...) // the later ones win, and what Claude Code's own variables say stays
	env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	repo, home := gittest.New(t, nil), t.TempDir()
	open := func() *agl.Engine {
		set, err := local.New(t.Context(), local.Options{Repo: repo.Dir, Home: home, Claude: claudeProgram, Codex: codexProgram, Env: env})
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
	require.Equal(t, "made", repo.Git("show", "agl/demo:made.txt"))

	// The reviewer read what had been made, could not change it, and its report
	// that did not fit was refused, and made again in the same turn.
	read := codexAPI.Requests()[1].Results()[0].String()
	require.Contains(t, read, "made\n")
	require.Contains(t, read, "Read-only file system")
	report := codexAPI.Requests()[2].Results()[0].String()
	require.Contains(t, report, "Error: ")
	require.Contains(t, report, "items")

	before := len(claudeAPI.Requests()) + len(codexAPI.Requests())
	require.NoError(t, open().Resume(t.Context(), "demo", fix.Workflow, nil))
	require.Len(t, append(claudeAPI.Requests(), codexAPI.Requests()...), before, "a resume bought something")
}
