//go:build unix

package local_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/local"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// Case A5.
func TestTheGateAndAScriptRunInTheEnvironmentGiven(t *testing.T) {
	repo := gittest.New(t, nil)
	t.Setenv("ONLY_IN_THE_PROCESS", "1")
	t.Setenv("GIT_DIR", "/elsewhere/.git")
	const show = `echo "$GIVEN-$GIT_DIR-$ONLY_IN_THE_PROCESS-$TASK" >ran`
	file := filepath.Join(t.TempDir(), "play.txtar")
	require.NoError(t, os.WriteFile(file, []byte("-- dev --\nexec "+show+"\n"), 0o600))
	set, err := local.New(t.Context(), local.Options{
		Repo: repo.Dir, Home: t.TempDir(), Build: ptr(show), Script: file,
		Env: slices.Concat(repo.Env, []string{"GIVEN=given", "GIT_DIR=/sentinel/.git"}),
	})
	require.NoError(t, err)

	for name, run := range map[string]func(dir string) error{
		"the gate": func(dir string) error {
			_, err := set.Verifier.Verify(t.Context(), ports.VerifyTask{Dir: dir, Env: []string{"TASK=task"}})
			return err
		},
		"a script": func(dir string) error {
			task := ports.Task{Role: "dev", Dir: dir, Env: []string{"TASK=task"}}
			_, err := set.Agents[ports.AnyProvider].Run(t.Context(), task, func(ports.AgentEvent) {})
			return err
		},
	} {
		dir := t.TempDir()
		require.NoError(t, run(dir), name)
		got, err := os.ReadFile(filepath.Join(dir, "ran"))
		require.NoError(t, err, name)
		if diff := cmp.Diff("given---task\n", string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
