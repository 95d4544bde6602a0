package proc_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// Case E4.
func TestTheReaperEndsWhatLeftTheGroup(t *testing.T) {
	t.Parallel()
	entry := mark(t)
	start(t, entry, "setsid sh -c 'echo up; while :; do sleep 600; done' & wait")
	if lines := reap(t, entry); len(lines) < 2 {
		t.Errorf("ended %q, want the shell and what is in another session", lines)
	}
	requireNone(t, entry)
	if again := reap(t, entry); len(again) != 0 {
		t.Errorf("a second time: %v", again)
	}
}

func TestTheReaperSaysWhatItEnded(t *testing.T) {
	t.Parallel()
	entry := mark(t)
	cmd := exec.Command("sleep", "600")
	cmd.Env = proc.Environ(nil, entry)
	require.NoError(t, cmd.Start())
	want := []string{fmt.Sprintf("pid %d (sleep 600)", cmd.Process.Pid)}
	if diff := cmp.Diff(want, reap(t, entry)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	require.Error(t, cmd.Wait())
}

func TestTheReaperKillsWhatIgnoresTheRequest(t *testing.T) {
	t.Parallel()
	entry := mark(t)
	start(t, entry, `trap "" TERM; echo up; while :; do sleep 0.05; done`)
	require.NotEmpty(t, reap(t, entry))
	requireNone(t, entry)
}

func TestTheReaperEndsWhatGoesOnForking(t *testing.T) {
	t.Parallel()
	entry := mark(t)
	script := filepath.Join(t.TempDir(), "fork.sh")
	// Each generation lives for an instant, in a session of its own.
	require.NoError(t, os.WriteFile(script, []byte("trap '' TERM\necho up\nsleep 0.01\nsetsid sh \"$0\" &\n"), 0o600))
	start(t, entry, "sh "+script)
	require.NotEmpty(t, reap(t, entry))
	requireNone(t, entry)
}

func TestTheReaperSparesEverythingElse(t *testing.T) {
	t.Parallel()
	entry := mark(t)
	near := start(t, entry+"0", "echo up; exec sleep 600")
	inner := start(t, "OTHER="+entry, "echo up; exec sleep 600")
	start(t, entry, "echo up; exec sleep 600")
	lines := reap(t, entry)
	require.Len(t, lines, 1)
	for _, id := range []proc.ID{near, inner} {
		if id.Life() != proc.Living {
			t.Errorf("process %d, which has another entry, was ended", id.PID)
		}
	}
}

func TestTheReaperSparesItself(t *testing.T) {
	const name = "AGL_TEST_MARK_SELF"
	entry := mark(t)
	if value, ok := os.LookupEnv(name); ok { // in the process of its own
		lines, err := proc.Reaper{}.Reap(t.Context(), name+"="+value)
		if err != nil || len(lines) != 0 {
			t.Errorf("found %v, %v", lines, err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), name+"="+entry)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestTheReaperRefusesWhatIsNoEntryAndStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", "NAME", "=x", "NAME=", "A=b\x00c"} {
		if _, err := (proc.Reaper{}).Reap(t.Context(), entry); ports.KindOf(err) != ports.Invalid {
			t.Errorf("%q: %v, want Invalid", entry, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := proc.Reaper{}.Reap(ctx, mark(t))
	require.ErrorIs(t, err, context.Canceled)
}

var marks atomic.Int64

// mark returns an entry that no other test uses.
func mark(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("AGL_TEST_MARK=%d-%d", os.Getpid(), marks.Add(1))
}

// start starts a shell in the background and returns when it has said "up".
func start(t *testing.T, entry, script string) proc.ID {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = proc.Environ(nil, entry)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, _ = proc.Reaper{Grace: time.Millisecond}.Reap(context.Background(), entry)
	})
	buf := make([]byte, 2)
	_, err = out.Read(buf)
	require.NoError(t, err)
	return proc.Of(cmd.Process.Pid)
}

func reap(t *testing.T, entry string) []string {
	t.Helper()
	lines, err := proc.Reaper{Grace: 300 * time.Millisecond}.Reap(t.Context(), entry)
	require.NoError(t, err)
	return lines
}

// requireNone looks for itself, by the system's own means.
func requireNone(t *testing.T, entry string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && strings.Contains(string(env), entry) {
			t.Errorf("%s has the mark still", file)
		}
	}
}
