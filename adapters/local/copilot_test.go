package local_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
)

type note struct {
	Summary string `json:"summary"`
}

// noting has an editor of the provider copilot make a file.
var noting = agl.NewWorkflow(agl.Spec{Name: "noting", Version: 1, Roles: []agl.Role{noter}}, func(ctx context.Context, run *agl.Run, _ struct{}) error {
	var n note
	return run.Step(ctx, noter.Commit("make a file").Into(&n))
})

var noter = agl.Editor[note]{Name: "noter", Model: "copilot/fake-model", Prompt: "Make a file.", Report: "Say what it is."}

func TestTheModelsOfCopilotArePlayedByIt(t *testing.T) {
	t.Parallel()
	api := fakeapi.New(t, func(r fakeapi.Request) fakeapi.Reply {
		reply := fakeapi.Reply{Usage: fakeapi.Usage{Input: 100, Output: 10}}
		switch r.Turn {
		case 0:
			reply.Calls = []fakeapi.Call{
				{Tool: "bash", Args: `{"command":"echo made >made.txt","description":"make it"}`}, {Tool: "report", Args: `{"summary":7}`},
			}
		case 1:
			reply.Calls = []fakeapi.Call{{Tool: "report", Args: `{"summary":"a file"}`}}
		default:
			reply.Texts = []string{"done"}
		}
		return reply
	})
	program, env := vendortest.Copilot(t, api.URL)
	repo := gittest.New(t, nil)
	env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "AGL_COPILOT="+program) // and not repo.Env, which has this process's
	set, err := local.New(t.Context(), local.Options{Repo: repo.Dir, Home: t.TempDir(), Env: env})
	require.NoError(t, err)
	engine, err := agl.New(set, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	require.NoError(t, engine.Start(t.Context(), "demo", noting.With(struct{}{}), nil))
	journal, err := engine.Journal(t.Context(), "demo")
	require.NoError(t, err)
	require.Len(t, journal.Records, 1)
	r := journal.Records[0]
	require.NotEmpty(t, r.Session)
	require.EqualValues(t, 330, r.Usage.Tokens())
	require.True(t, r.Usage.Complete)
	require.Equal(t, `{"summary":"a file"}`, string(r.Value))
	require.Equal(t, "made", repo.Git("show", "agl/demo:made.txt"))

	// The report that did not fit was refused, and made again in the same turn.
	require.Contains(t, api.Requests()[1].Results()[1].String(), "Refused: ")
}

func TestTheOptionSaysBeforeTheEnvironmentWhereCopilotIs(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	nowhere := filepath.Join(t.TempDir(), "copilot")
	env := vendortest.CopilotEnv(t, "http://127.0.0.1:1")
	set, err := local.New(t.Context(), local.Options{Repo: repo.Dir, Home: t.TempDir(), Copilot: nowhere, Env: append(env, "AGL_COPILOT=elsewhere")})
	require.NoError(t, err)
	require.ErrorContains(t, set.Agents["copilot"].Ready(t.Context(), "copilot/m"), nowhere)
	_, err = local.New(t.Context(), local.Options{Repo: repo.Dir, Home: t.TempDir(), Env: append(env, "AGL_COPILOT=")})
	require.ErrorContains(t, err, "AGL_COPILOT")
}
