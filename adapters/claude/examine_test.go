//go:build unix

package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// states returns the state of each finding.
func states(e ports.Examination) map[string]ports.FindingState {
	found := make(map[string]ports.FindingState)
	for _, f := range e.Findings {
		found[f.Name] = f.State
	}
	return found
}

// The program's own service is asked nothing: the turn by which the channel is
// looked into is with another.
func TestClaudeCodeIsExaminedWithoutItsService(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	api := fakeapi.New(t, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{} })
	program, env := vendortest.Claude(t, api.URL)
	env = append(env, "ANTHROPIC_MODEL=leaked", "ANTHROPIC_CUSTOM_HEADERS=X-Leaked: 1")
	e := claude.New(claude.Options{Program: program, Env: env}).Examine(t.Context())
	want := map[string]ports.FindingState{"program": ports.FoundOK, "version": ports.FoundOK, "channel": ports.FoundOK, "login": ports.FoundOK}
	if diff := cmp.Diff(want, states(e)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%+v", diff, e)
	}
	require.Equal(t, program, e.Program)
	require.Equal(t, "2.1.332", e.Version)
	require.True(t, e.Usable())
	require.Empty(t, api.Requests())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWhoIsNotLoggedInIsToldHow(t *testing.T) {
	t.Parallel()
	program, env := vendortest.Claude(t, "http://127.0.0.1:1")
	e := claude.New(claude.Options{Program: program, Env: append(env, "ANTHROPIC_API_KEY=")}).Examine(t.Context())
	require.Equal(t, ports.FoundOK, states(e)["channel"], "%+v", e)
	login := e.Findings[len(e.Findings)-1]
	require.Equal(t, ports.FoundProblem, login.State, "%+v", e)
	require.Contains(t, login.Fix, "auth login")
	require.False(t, e.Usable())
}

func TestAVersionThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]ports.Kind{
		"2.1.196 (Claude Code)": ports.Unavailable, "1.99.999 (Claude Code)": ports.Unavailable, "2.1.197 (Claude Code)": "", "3.0.0": "", "none": "",
	} {
		program := filepath.Join(t.TempDir(), "claude")
		gittest.Program(t, program, "#!/bin/sh\ncase $1 in --version) echo '"+version+"';; *) echo '{\"loggedIn\":true}';; esac")
		err := claude.New(claude.Options{Program: program, Env: vendortest.ClaudeEnv(t, "")}).Ready(t.Context(), "claude/haiku")
		if got := ports.KindOf(err); got != want {
			t.Errorf("version %q: %v, want %q", version, err, want)
		}
	}
}
