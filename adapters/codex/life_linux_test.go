package codex_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// lasting is a command that does not end, with a child that does not either.
const lasting = "echo on >started; tail -f /dev/null & tail -f /dev/null"

func lasts(fakeapi.Request) fakeapi.Reply {
	return fakeapi.Reply{Calls: []fakeapi.Call{shell(lasting)}}
}

func TestACancelledTurnLeavesNoCommandRunning(t *testing.T) {
	t.Parallel()
	for _, restrictions := range [][]ports.Restriction{nil, {ports.NoVCS}} { // without a sandbox, and with it
		t.Run(fmt.Sprint(restrictions), func(t *testing.T) {
			t.Parallel()
			task := request(t, "hi")
			task.Restrictions = restrictions
			entry := fmt.Sprintf("%s=%d-%s", ports.EnvStep, os.Getpid(), filepath.Base(filepath.Dir(task.Dir)))
			task.Env = []string{entry}
			agent, _ := served(t, codex.Options{Retries: -1}, lasts)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := agent.Run(ctx, task, silent)
				ended <- err
			}()
			awaitFile(t, filepath.Join(task.Dir, "started"))
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			require.Empty(t, carrying(t, entry))
		})
	}
}

func TestNothingOutlivesTheDeathOfAGLByMoreThanASecond(t *testing.T) {
	const name = "AGL_TEST_URL"
	dir := t.TempDir()
	if url, ok := os.LookupEnv(name); ok { // in the process that is killed
		var opts codex.Options
		opts.Program, opts.Env = vendortest.Codex(t, url)
		task := request(t, "hi")
		task.Dir, task.Env = os.Getenv("AGL_TEST_DIR"), []string{os.Getenv("AGL_TEST_MARK")}
		_, _ = codex.New(opts).Run(t.Context(), task, silent)
		return
	}
	api := fakeapi.New(t, lasts)
	vendortest.Codex(t, api.URL) // skips it where there is none
	entry := fmt.Sprintf("%s=%d-%s", ports.EnvStep, os.Getpid(), filepath.Base(filepath.Dir(dir)))
	agl := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	agl.Env = []string{name + "=" + api.URL, "AGL_TEST_DIR=" + dir, "AGL_TEST_MARK=" + entry, "TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	require.NoError(t, agl.Start())
	awaitFile(t, filepath.Join(dir, "started"))
	require.GreaterOrEqual(t, len(carrying(t, entry)), 3, "the program, a command and its child")
	require.NoError(t, agl.Process.Kill())
	killed := time.Now()
	_ = agl.Wait()
	require.Eventually(t, func() bool { return len(carrying(t, entry)) == 0 }, 20*time.Second, 5*time.Millisecond)
	// Twice the time, as this machine may be busy with other things.
	if took := time.Since(killed); took > 2*time.Second {
		t.Errorf("it took %v until all had ended", took)
	}
}

func awaitFile(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(name)
		return err == nil
	}, time.Minute, 5*time.Millisecond)
}

// carrying returns the command lines of the processes that have an entry in
// their environment.
func carrying(t *testing.T, entry string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(entry)) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			lines = append(lines, string(args))
		}
	}
	return lines
}
