package proc_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/proc"
)

// stubborn starts what is hard to be rid of: it ignores the request to end, has
// a child that does, and one in a session of its own.
const stubborn = `trap "" TERM; sleep 600 & setsid sleep 600 & echo up; while :; do sleep 0.05; done`

func TestNothingOutlivesTheDeathOfItsStarterByMoreThanASecond(t *testing.T) {
	const name = "AGL_TEST_BOUND"
	if entry, ok := os.LookupEnv(name); ok { // in the process that is killed
		_, _ = (&proc.Cmd{Shell: stubborn, Env: []string{"PATH=" + os.Getenv("PATH"), entry}, Mark: entry, Stdout: os.Stdout}).Run(t.Context())
		return
	}
	entry := mark(t)
	starter := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	starter.Env = append(os.Environ(), name+"="+entry)
	out, err := starter.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, starter.Start())
	t.Cleanup(func() { _, _ = proc.Reaper{Grace: time.Millisecond}.Reap(context.Background(), entry) })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "up\n", line)
	require.GreaterOrEqual(t, len(carrying(t, entry)), 3, "the program and its two children")

	require.NoError(t, starter.Process.Kill())
	killed := time.Now()
	_ = starter.Wait()
	for len(carrying(t, entry)) > 0 {
		if time.Since(killed) > 20*time.Second {
			t.Fatalf("still there: %q", carrying(t, entry))
		}
		time.Sleep(5 * time.Millisecond)
	}
	// Twice the time, as this machine may be busy with other things.
	if took := time.Since(killed); took > 2*time.Second {
		t.Errorf("it took %v until all had ended", took)
	}
}

func TestAProgramWithAMarkRunsAsAnyOther(t *testing.T) {
	t.Parallel()
	entry := mark(t)
	var out proc.Tail
	run(t, &proc.Cmd{Shell: "echo here", Env: proc.Environ(nil, entry), Mark: entry, Stdout: &out})
	require.Equal(t, "here\n", out.String())
	require.Empty(t, carrying(t, entry))
	// What watched over it is gone as well.
	args, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range args {
		if doc, err := os.ReadFile(file); err == nil && slices.Contains(strings.Split(string(doc), "\x00"), entry) {
			t.Errorf("%s still watches: %q", file, doc)
		}
	}
}

// carrying returns the processes that carry an entry and have not ended.
func carrying(t *testing.T, entry string) (files []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range all {
		if env, err := os.ReadFile(file); err == nil && slices.Contains(strings.Split(string(env), "\x00"), entry) {
			files = append(files, file)
		}
	}
	return files
}
