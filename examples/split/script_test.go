package split_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/split"
	"example.com/agl/internal/gittest"
)

func TestTheScriptPlaysAConflictAndItsResolution(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	file := filepath.Join(t.TempDir(), "play.txtar")
	script := regexp.MustCompile(`(?m)^sleep .*\n`).ReplaceAllString(split.Script, "")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	gate := "! grep -rq '^<<<<<<<' ."
	set, err := local.New(t.Context(), local.Options{Repo: repo.Dir, Home: t.TempDir(), Script: file, Env: repo.Env, Build: &gate})
	require.NoError(t, err)
	var met int
	engine, err := agl.New(set, &agl.Options{Events: func(e agl.Event) {
		if _, ok := e.What.(agl.Met); ok {
			met++
		}
	}})
	require.NoError(t, err)
	require.NoError(t, engine.Start(t.Context(), "demo", split.Workflow.With(split.Params{Request: "greet the world"}), nil))
	require.NoError(t, engine.Close()) // all events are told then
	require.Equal(t, 1, met)
	require.Equal(t, "french.txt\ngerman.txt\ngreetings.txt\npage.md", repo.Git("ls-tree", "--name-only", "agl/demo"))
	require.Equal(t, "french\ngerman", repo.Git("show", "agl/demo:greetings.txt"))
}
