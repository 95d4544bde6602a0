//go:build unix

package codex_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
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

// The user's own service is asked nothing: the turn by which the channel is
// looked into is with another.
func TestCodexIsExaminedWithoutItsService(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	api := fakeapi.New(t, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{} })
	program, env := vendortest.Codex(t, api.URL)
	e := codex.New(codex.Options{Program: program, Env: env}).Examine(t.Context())
	want := map[string]ports.FindingState{"program": ports.FoundOK, "version": ports.FoundOK, "channel": ports.FoundOK, "login": ports.FoundOK}
	if diff := cmp.Diff(want, states(e)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%+v", diff, e)
	}
	require.Equal(t, program, e.Program)
	require.Equal(t, vendortest.Version(t, "@openai/codex"), e.Version)
	require.True(t, e.Usable())
	require.Empty(t, api.Requests())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWhoIsNotLoggedInIsToldHow(t *testing.T) {
	t.Parallel()
	program, env := vendortest.Codex(t, "http://127.0.0.1:1")
	env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "FAKE_KEY=") })
	e := codex.New(codex.Options{Program: program, Env: env}).Examine(t.Context())
	require.Equal(t, ports.FoundOK, states(e)["channel"], "%+v", e)
	login := e.Findings[len(e.Findings)-1]
	require.Equal(t, ports.FoundProblem, login.State, "%+v", e)
	require.Equal(t, "set FAKE_KEY", login.Fix)
	require.False(t, e.Usable())

	e = codex.New(codex.Options{Program: program, Env: append(env, "CODEX_HOME="+t.TempDir())}).Examine(t.Context())
	login = e.Findings[len(e.Findings)-1]
	require.Equal(t, ports.FoundProblem, login.State, "%+v", e)
	require.Contains(t, login.Fix, " login")
}

func TestAVersionThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]ports.Kind{
		"codex-cli 0.170.9": ports.Unavailable, "codex-cli 0.99.0": ports.Unavailable, "codex-cli 0.171.0": "", "codex-cli 1.0.0": "", "none": "",
	} {
		program := filepath.Join(t.TempDir(), "codex")
		gittest.Program(t, program, "#!/bin/sh\ncase $1 in --version) echo '"+version+"'; exit;; esac\n"+
			"read -r INIT\n"+say(`{"id":1,"result":{}}`)+"read -r INITIALIZED\nread -r CONFIG\n"+say(`{"id":2,"result":{"config":{}}}`)+
			"read -r ACCOUNT\n"+say(`{"id":3,"result":{"account":{"type":"apiKey"},"requiresOpenaiAuth":true}}`))
		err := codex.New(codex.Options{Program: program, Env: vendortest.CodexEnv(t, "")}).Ready(t.Context(), "codex/x")
		if got := ports.KindOf(err); got != want {
			t.Errorf("version %q: %v, want %q", version, err, want)
		}
	}
}
