package claude_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

func TestACancelledTurnLeavesNoCommandRunning(t *testing.T) {
	t.Parallel()
	task := request(t, "hi")
	entry := fmt.Sprintf("%s=%d-%s", ports.EnvStep, os.Getpid(), filepath.Base(filepath.Dir(task.Dir)))
	task.Env = []string{entry}
	agent, _ := served(t, claude.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply {
		return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "Bash", Args: `{"command":"echo on >started; tail -f /dev/null & tail -f /dev/null"}`}}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := agent.Run(ctx, task, silent)
		ended <- err
	}()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(task.Dir, "started"))
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	cancel()
	err := <-ended
	require.ErrorIs(t, err, context.Canceled)
	require.FileExists(t, filepath.Join(task.Dir, "started"))

	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(entry)) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			t.Errorf("it left %s: %q", file, args)
		}
	}
}

func TestARequestThatIsTooLongForTheModelIsInvalid(t *testing.T) {
	t.Parallel()
	agent, api := served(t, claude.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{Texts: []string{"done"}} })
	_, err := agent.Run(t.Context(), request(t, strings.Repeat("0123456789abcde\n", claude.MaxPrompt/16)), silent)
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorContains(t, err, "from a file")
	require.Empty(t, api.Requests())
}
