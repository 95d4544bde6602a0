package fix_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
	"example.com/agl/internal/gittest"
)

// engine returns one for repo in which a script plays the agents.
func engine(t *testing.T, repo *gittest.Repo, script string) *agl.Engine {
	t.Helper()
	file := filepath.Join(t.TempDir(), "play.txtar")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	set, err := local.New(t.Context(), local.Options{Repo: repo.Dir, Home: t.TempDir(), Script: file, Env: repo.Env})
	require.NoError(t, err)
	engine, err := agl.New(set, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

func TestTheScriptPlaysTwoRounds(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	e := engine(t, repo, fix.Script)
	require.NoError(t, e.Start(t.Context(), "demo", fix.Workflow.With(fix.Params{Request: "greet the world"}), nil))

	journal, err := e.Journal(t.Context(), "demo")
	require.NoError(t, err)
	var steps []string
	for _, r := range journal.Records {
		steps = append(steps, r.Name)
	}
	if diff := cmp.Diff([]string{"implementer", "reviewer", "implementer", "reviewer"}, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	require.Equal(t, "fix: greet the world (round 2)\nfix: greet the world (round 1)\nfirst", repo.Git("log", "--format=%s", "agl/demo"))
	require.Equal(t, "greet.go\ngreet_test.go", repo.Git("ls-tree", "--name-only", "agl/demo"))
}

func TestTheScriptMayStopAfterOneRound(t *testing.T) {
	t.Parallel()
	e := engine(t, gittest.New(t, nil), fix.Script)
	err := e.Start(t.Context(), "demo", fix.Workflow.With(fix.Params{Request: "greet the world", Rounds: 1}), nil)
	require.ErrorIs(t, err, agl.Stopped)
	require.EqualError(t, err, "1 findings left after 1 rounds")
}
