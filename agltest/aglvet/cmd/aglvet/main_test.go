package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const workflow = `package main

import (
	"context"
	"time"

	"example.com/agl"
)

var reader = agl.Reader[agl.None]{Name: "reader", Model: "claude/opus", Prompt: "Read."}

func main() {
	agl.NewWorkflow(agl.Spec{Name: "tiny", Version: 1, Roles: []agl.Role{reader}}, tiny)
}

func tiny(ctx context.Context, run *agl.Run, p struct{}) error {
	var at time.Time
	err := run.Do(ctx, agl.Func("now", func(context.Context, agl.World) (time.Time, error) { return time.Now(), nil }).Into(&at))
	if err != nil {
		return err
	}
	return run.Step(ctx, reader, agl.In("at", at), agl.In("now", NOW))
}
`

// A program of somebody else, outside of this repository, is checked by go vet
// and by the command alone.
func TestTheCommandChecksAnotherModule(t *testing.T) {
	t.Parallel()
	repo, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	mod, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	require.NoError(t, err)
	write("go.mod", strings.Replace(string(mod), "module example.com/agl", "module example.com/tiny", 1)+
		"\nrequire example.com/agl v0.0.0\n\nreplace example.com/agl => "+strconv.Quote(repo)+"\n")
	sum, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	require.NoError(t, err)
	write("go.sum", string(sum))
	write("main.go", strings.Replace(workflow, "NOW", "time.Now()", 1))

	tool := filepath.Join(t.TempDir(), "aglvet.exe")
	code, out := run(t, dir, "go", "build", "-buildvcs=false", "-o", tool, "example.com/agl/agltest/aglvet/cmd/aglvet")
	require.Zero(t, code, out)

	const want = "main.go:22:68: time.Now reads the clock in a workflow function"
	code, out = run(t, dir, "go", "vet", "-vettool="+tool, "./...")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, want)
	code, out = run(t, dir, tool, "./...")
	require.Equal(t, 3, code, out)
	require.Contains(t, out, want)

	write("main.go", strings.Replace(workflow, "NOW", "time.Hour", 1))
	code, out = run(t, dir, "go", "vet", "-vettool="+tool, "./...")
	require.Zero(t, code, out)
	require.Empty(t, out)
}

// run returns a program's exit code and all that it wrote.
func run(t *testing.T, dir, name string, args ...string) (int, string) {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
