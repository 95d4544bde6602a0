package copilot_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/fakeapi"
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
func TestTheCopilotCLIIsExaminedWithoutItsService(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	api := fakeapi.New(t, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{} })
	program, env := vendortest.Copilot(t, api.URL)
	env = append(env, "COPILOT_PROVIDER_HEADERS=X-Leaked: 1", "COPILOT_PROVIDER_MODEL_ID=leaked", "COPILOT_ALLOW_ALL=true")
	e := copilot.New(copilot.Options{Program: program, Env: env}).Examine(t.Context())
	want := map[string]ports.FindingState{"program": ports.FoundOK, "version": ports.FoundOK, "channel": ports.FoundOK, "login": ports.FoundOK}
	if diff := cmp.Diff(want, states(e)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%+v", diff, e)
	}
	require.Equal(t, program, e.Program)
	require.Equal(t, vendortest.Version(t, "@github/copilot"), e.Version)
	require.Equal(t, e.Version, e.Supported, "it is tested with the one that is pinned")
	require.True(t, e.Usable())
	require.Empty(t, api.Requests())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// nobody is logged in, as the program says. The real one would ask GitHub, or, kept
// from that, demand a provider.
var nobody = play("nobody", func(s *standIn) {
	if slices.Contains(os.Args, "--version") {
		s.raw("GitHub Copilot CLI 1.0.102.\n")
		return
	}
	s.answerWith("status.get", object{"version": "1.0.102"})
	s.answerWith("auth.getStatus", object{"isAuthenticated": false, "statusMessage": "Not authenticated"})
	s.await("")
})

func TestWhoIsNotLoggedInIsToldHow(t *testing.T) {
	t.Parallel()
	agent, _ := standsIn(t, copilot.Options{}, nobody, "COPILOT_PROVIDER_BASE_URL=")
	e := agent.(ports.Examiner).Examine(t.Context())
	require.Equal(t, "1.0.102", e.Version)
	login := e.Findings[len(e.Findings)-1]
	require.Equal(t, ports.FoundProblem, login.State, "%+v", e)
	require.Contains(t, login.Detail, "Not authenticated")
	require.Contains(t, login.Fix, e.Program+" login")
	require.Equal(t, ports.FoundProblem, states(e)["channel"], "the stand-in plays no turn: %+v", e)
	require.False(t, e.Usable())
}

// told answers by the version that is in its environment, and that somebody is
// logged in.
var told = play("told", func(s *standIn) {
	s.answerWith("status.get", object{"version": os.Getenv("VERSION"), "protocolVersion": 3})
	s.answerWith("auth.getStatus", object{"isAuthenticated": true})
	s.await("")
})

func TestAVersionThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]ports.Kind{
		"1.0.101": ports.Unavailable, "0.99.999": ports.Unavailable, "1.0.102": "", "2.0.0": "", "": "",
	} {
		agent, _ := standsIn(t, copilot.Options{}, told, "VERSION="+version)
		err := agent.Ready(t.Context(), "copilot/fake-model")
		if got := ports.KindOf(err); got != want {
			t.Errorf("version %q: %v, want %q", version, err, want)
		}
	}
}

func TestWhatTheProgramIsMadeOfIsFoundWhereItKeepsIt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	under := func(below ...string) string { return filepath.Join(append([]string{home}, below...)...) }
	usual, elsewhere := under(".cache", "copilot"), under("x", "copilot")
	switch runtime.GOOS {
	case "darwin":
		usual, elsewhere = under("Library", "Caches", "copilot"), under("Library", "Caches", "copilot") // whatever XDG_CACHE_HOME is
	case "windows":
		usual = under("x", "copilot")
	}
	base := []string{"HOME=" + home}
	if runtime.GOOS == "windows" {
		base = []string{"USERPROFILE=" + home, "LOCALAPPDATA=" + under("x")}
	}
	for want, env := range map[string][]string{
		usual:     base,
		elsewhere: append(base, "XDG_CACHE_HOME="+under("x")),
		"/cache":  append(base, "COPILOT_CACHE_HOME=/cache"),
		"/pkg":    append(base, "COPILOT_CACHE_HOME=/cache", "COPILOT_PKG_CACHE_HOME=/pkg"),
		"":        nil,
	} {
		require.Equal(t, want, copilot.Packages(env), "%q", env)
	}
}
