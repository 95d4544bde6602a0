//go:build unix

package shell_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/shell"
	"example.com/agl/ports"
)

func TestWhatTheCommandDoesIsAVerdict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command string
		want    ports.Verdict
	}{
		{"echo out; echo err >&2", ports.Verdict{Passed: true, Output: "out\nerr\n"}},
		{"echo no; exit 2", ports.Verdict{Output: "no\n", Note: "exit status 2"}},
		{"exec 2>&-; no-such-program", ports.Verdict{Note: "exit status 127"}},
		{"exec 2>&-; /dev/null", ports.Verdict{Note: "exit status 126"}},
		{"if", ports.Verdict{Note: "exit status 2"}},
		{"kill -SEGV $$", ports.Verdict{Note: "ended by a signal: segmentation fault"}},
		{"cat; exec sh -c 'kill -KILL $$'", ports.Verdict{Note: "ended by a signal: killed"}},
		{"sleep 60 & echo done", ports.Verdict{Passed: true, Output: "done\n", Note: "it left processes in the background, which were ended"}},
		{"sleep 60 & exit 1", ports.Verdict{Note: "exit status 1; it left processes in the background, which were ended"}},
	} {
		v := shell.New(shell.Options{Command: tt.command})
		tt.want.Command = tt.command
		got, err := v.Verify(t.Context(), ports.VerifyTask{Dir: t.TempDir()})
		if err != nil {
			t.Errorf("%s: %v", tt.command, err)
		}
		if got.Took <= 0 || got.Took > time.Minute {
			t.Errorf("%s: took %v", tt.command, got.Took)
		}
		opts := cmp.Options{cmpopts.IgnoreFields(ports.Verdict{}, "Took")}
		if tt.command == "if" { // the shell's own words
			opts = append(opts, cmpopts.IgnoreFields(ports.Verdict{}, "Output"))
		}
		if diff := cmp.Diff(tt.want, got, opts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.command, diff)
		}
	}
}

func TestTheGateIsWhatWasConfigured(t *testing.T) {
	t.Parallel()
	require.Equal(t, ports.Gate{Command: "make", Timeout: time.Hour}, shell.New(shell.Options{Command: "make", Timeout: time.Hour}).Gate())
	require.Equal(t, ports.Gate{Command: "make", Timeout: 10 * time.Minute}, shell.New(shell.Options{Command: "make"}).Gate())
	require.Empty(t, shell.New(shell.Options{}).Gate().Command)
}

// Case A5.
func TestTheCommandRunsInTheCheckoutWithItsEnvironment(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere/.git")
	t.Setenv("GIT_INDEX_FILE", "/elsewhere/.git/index")
	t.Setenv("OURS", "ours")
	const command = `pwd; echo "$GIT_DIR$GIT_INDEX_FILE-$OURS-$A-$B"; read -r x || echo nothing to read`
	path := "PATH=" + os.Getenv("PATH")
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"this process's": {nil, "-ours--task"},
		"one given":      {[]string{path, "A=given", "B=given"}, "--given-task"},
		"one for git":    {[]string{path, "GIT_DIR=/other/.git", "GIT_INDEX_FILE=/other", "A=given"}, "--given-task"},
		"none":           {[]string{}, "---task"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := realPath(t, t.TempDir())
			v := shell.New(shell.Options{Command: command, Env: c.env})
			got, err := v.Verify(t.Context(), ports.VerifyTask{Dir: dir, Env: []string{"B=task"}})
			require.NoError(t, err)
			if diff := cmp.Diff(dir+"\n"+c.want+"\nnothing to read\n", got.Output); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Case E1.
func TestTooLongIsAFailedVerdictAndEndsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := shell.New(shell.Options{Command: `sleep 60 & echo $! >bg; echo working; cat bg; sleep 60; echo not reached`, Timeout: 500 * time.Millisecond})
	got, err := v.Verify(t.Context(), ports.VerifyTask{Dir: dir})
	require.NoError(t, err)
	pid := requireEnded(t, dir)
	if diff := cmp.Diff(ports.Verdict{
		Output: "working\n" + pid + "\n", Command: v.Gate().Command, Note: "ended after 500ms (timeout)",
	}, got, cmpopts.IgnoreFields(ports.Verdict{}, "Took")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Took < 500*time.Millisecond {
		t.Errorf("took %v", got.Took)
	}
}

func TestCancellingEndsEverythingAndIsNoVerdict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "started")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(fifo)
		cancel()
	}()
	v := shell.New(shell.Options{Command: `sleep 60 & echo $! >bg; echo >started; wait`})
	_, err := v.Verify(ctx, ports.VerifyTask{Dir: dir})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, ports.KindOf(err))
	requireEnded(t, dir)
}

// Case E13.
func TestOnlyTheEndOfALongOutputIsKept(t *testing.T) {
	t.Parallel()
	v := shell.New(shell.Options{Command: "head -c 3000000 /dev/zero | tr '\\0' x; printf '\\377äöü\\nend\\n'"})
	got, err := v.Verify(t.Context(), ports.VerifyTask{Dir: t.TempDir()})
	require.NoError(t, err)
	require.True(t, got.Passed)
	require.LessOrEqual(t, len(got.Output), 64<<10)
	require.Greater(t, len(got.Output), 63<<10)
	require.True(t, strings.HasSuffix(got.Output, "xx\uFFFDäöü\nend\n"), got.Output[len(got.Output)-20:])
}

// Case E16.
func TestWhatCannotBeStartedIsAnError(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "gone")
	for _, tt := range []struct {
		command, dir string
		kind         ports.Kind
		says         string
	}{
		{"true", gone, ports.Unavailable, gone},
		{"true", "", ports.Unavailable, "in memory"},
		{"true", "relative", ports.Invalid, "absolute"},
		{"", t.TempDir(), ports.Invalid, "no build gate"},
	} {
		_, err := shell.New(shell.Options{Command: tt.command}).Verify(t.Context(), ports.VerifyTask{Dir: tt.dir})
		require.Equal(t, tt.kind, ports.KindOf(err), "%v", err)
		require.ErrorContains(t, err, tt.says)
	}
}

func TestASystemWithoutAShellIsUnavailable(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := shell.New(shell.Options{Command: "true"}).Verify(t.Context(), ports.VerifyTask{Dir: t.TempDir()})
	require.Equal(t, ports.Unavailable, ports.KindOf(err), "%v", err)
	require.ErrorContains(t, err, `"sh"`)
}

// requireEnded fails unless the process whose number the gate wrote to dir/bg
// has ended, and returns the number.
func requireEnded(t *testing.T, dir string) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(dir, "bg"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(bytes.TrimSpace(doc)))
	require.NoError(t, err)
	if err := syscall.Kill(pid, 0); err == nil {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && !bytes.Contains(stat, []byte(") Z ")) {
			t.Errorf("process %d still runs", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return strconv.Itoa(pid)
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	return path
}
