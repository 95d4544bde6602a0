package copilot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// busy has the model start commands that do not end.
func busy(fakeapi.Request) fakeapi.Reply {
	return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "bash", Args: `{"command":"echo on >started; setsid tail -f /dev/null & tail -f /dev/null","description":"x"}`}}}
}

// marked is a task whose processes can be told from all others.
func marked(t *testing.T) (task ports.Task, entry string) {
	task = request(t, "hi")
	entry = fmt.Sprintf("%s=%d-%s", ports.EnvStep, os.Getpid(), filepath.Base(filepath.Dir(task.Dir)))
	task.Env = []string{entry}
	return task, entry
}

// running returns the processes that an entry of the environment marks.
func running(t *testing.T, entry string) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(entry)) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			list = append(list, fmt.Sprintf("%s: %q", file, args))
		}
	}
	return list
}

func awaitFile(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(name)
		return err == nil
	}, time.Minute, 5*time.Millisecond)
}

func TestACancelledTurnLeavesNoCommandRunning(t *testing.T) {
	t.Parallel()
	task, entry := marked(t)
	agent, _ := served(t, copilot.Options{Retries: -1}, busy)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := agent.Run(ctx, task, silent)
		ended <- err
	}()
	awaitFile(t, filepath.Join(task.Dir, "started"))
	require.NotEmpty(t, running(t, entry))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Empty(t, running(t, entry))
}

// agl is a process that runs a turn with the program, as its test says in a file.
var agl = play("AGL", func(s *standIn) {
	var how struct {
		vendortest.Handover
		Dir, Mark string
	}
	doc, err := os.ReadFile(filepath.Join(s.out, "how"))
	if err == nil {
		err = json.Unmarshal(doc, &how)
	}
	if err != nil {
		panic(err)
	}
	_, err = copilot.New(copilot.Options{Program: how.Program, Env: how.Env}).Run(context.Background(), ports.Task{
		Model: "copilot/fake-model", Instructions: "hi", Dir: how.Dir, Env: []string{how.Mark},
	}, silent)
	panic(err) // it is to be killed in its turn
})

func TestNothingOutlivesAGLByMoreThanASecond(t *testing.T) {
	t.Parallel()
	api := fakeapi.New(t, busy)
	program, env := vendortest.Copilot(t, api.URL)
	task, entry := marked(t)
	out := t.TempDir()
	doc, err := json.Marshal(map[string]any{"Program": program, "Env": env, "Dir": task.Dir, "Mark": entry})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(out, "how"), doc, 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	parent := exec.Command(self)
	parent.Env = []string{playing + "=" + agl, "OUT=" + out, "PATH=/usr/bin:/bin", "TMPDIR=" + t.TempDir()}
	parent.Stderr = os.Stderr
	require.NoError(t, parent.Start())
	defer func() { _ = parent.Wait() }()
	defer func() { _ = parent.Process.Kill() }()
	awaitFile(t, filepath.Join(task.Dir, "started"))
	require.NotEmpty(t, running(t, entry))

	require.NoError(t, parent.Process.Kill())
	killed := time.Now()
	require.Eventually(t, func() bool { return len(running(t, entry)) == 0 }, 20*time.Second, 10*time.Millisecond)
	took := time.Since(killed)
	t.Logf("all had ended after %v", took)
	if took > 5*time.Second { // a second, where nothing else runs
		t.Errorf("all had ended after %v, want a second", took)
	}
}
