//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/proc"
)

func TestRunReportsHowTheProgramEnded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		shell string
		want  proc.Exit
		words string
	}{
		{"true", proc.Exit{}, "exit status 0"},
		{"exit 3", proc.Exit{Code: 3}, "exit status 3"},
		{"kill -KILL $$", proc.Exit{Code: -1, Signal: "killed"}, "ended by a signal: killed"},
		{"sh -c 'kill -KILL $$'; exit $?", proc.Exit{Code: 137}, "exit status 137, by which a shell says that its command was ended by a signal: killed"},
		{"exit 255", proc.Exit{Code: 255}, "exit status 255"},
		{"no-such-program 2>/dev/null", proc.Exit{Code: 127}, "exit status 127"},
	} {
		exit, err := (&proc.Cmd{Shell: tt.shell}).Run(t.Context())
		if err != nil {
			t.Errorf("%s: %v", tt.shell, err)
		}
		if diff := cmp.Diff(tt.want, exit); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.shell, diff)
		}
		if got := exit.String(); got != tt.words {
			t.Errorf("%s: String() = %q, want %q", tt.shell, got, tt.words)
		}
		if got, want := exit.OK(), tt.shell == "true"; got != want {
			t.Errorf("%s: OK() = %v, want %v", tt.shell, got, want)
		}
	}
}

func TestStreamsAreThoseOfTheCaller(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	run(t, &proc.Cmd{Shell: "cat; echo two >&2", Stdin: strings.NewReader("one\n"), Stdout: &out, Stderr: &errs})
	if got, want := out.String()+errs.String(), "one\ntwo\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}

	var both proc.Tail
	run(t, &proc.Cmd{Shell: "echo 1; echo 2 >&2; echo 3; cat", Stdout: &both, Stderr: &both})
	if got, want := both.String(), "1\n2\n3\n"; got != want {
		t.Errorf("both streams in one: %q, want %q", got, want)
	}
}

func TestAProgramThatDoesNotReadItsInputIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	run(t, &proc.Cmd{Shell: "exit 0", Stdin: endless{}})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAWriterThatFailsEndsTheProgramAndIsReported(t *testing.T) {
	t.Parallel()
	full := errors.New("no more room here")
	_, err := (&proc.Cmd{Shell: "while echo more; do :; done", Stdout: failing{full}}).Run(t.Context())
	require.ErrorIs(t, err, full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestTheEnvironmentIsTheOneGivenAndPWDIsTrue(t *testing.T) {
	t.Parallel()
	dir := realPath(t, t.TempDir())
	var out proc.Tail
	run(t, &proc.Cmd{
		Shell: `echo "$A-$B-$HOME"; pwd -L; echo "$PWD"`, Dir: dir, Stdout: &out,
		Env: []string{"A=1", "A=2", "PATH=" + os.Getenv("PATH"), "PWD=/"},
	})
	if diff := cmp.Diff("2--\n"+dir+"\n"+dir+"\n", out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFilesAreInherited(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	run(t, &proc.Cmd{Shell: "echo hello >&3", Files: []*os.File{w}})
	w.Close()
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	if string(got) != "hello\n" {
		t.Errorf("read %q", got)
	}
}

// Case A5.
func TestGitsVariablesDoNotReachTheProgram(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere/.git")
	t.Setenv("GIT_INDEX_FILE", "/elsewhere/.git/index")
	t.Setenv("GIT_WORK_TREE", "/elsewhere")
	t.Setenv("GIT_AUTHOR_NAME", "somebody")
	var out proc.Tail
	run(t, &proc.Cmd{Shell: "env | grep ^GIT_", Env: proc.Environ(nil, "GIT_PREFIX=mine"), Stdout: &out})
	got := out.String()
	for _, gone := range []string{"GIT_DIR=", "GIT_INDEX_FILE=", "GIT_WORK_TREE="} {
		if strings.Contains(got, gone) {
			t.Errorf("%s reached the program:\n%s", gone, got)
		}
	}
	for _, kept := range []string{"GIT_AUTHOR_NAME=somebody", "GIT_PREFIX=mine"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%s did not reach the program:\n%s", kept, got)
		}
	}
}

func TestEveryLocalVariableThatGitNamesIsRemoved(t *testing.T) {
	t.Parallel()
	names, err := exec.Command("git", "rev-parse", "--local-env-vars").Output()
	require.NoError(t, err)
	for name := range strings.FieldsSeq(string(names)) {
		if env := proc.Environ([]string{name + "=x", "KEPT=y"}); len(env) != 1 {
			t.Errorf("%s is not removed: %v", name, env)
		}
	}
}

func TestTheProgramHasASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	var out proc.Tail
	run(t, &proc.Cmd{Shell: "echo $$; ps -o pid=,sid= -p $$; if (: </dev/tty) 2>/dev/null; then echo terminal; fi; cat", Stdout: &out})
	fields := strings.Fields(out.String())
	require.Len(t, fields, 3, "want the pid, and the pid with its session: %q", out.String())
	if fields[0] != fields[1] || fields[1] != fields[2] {
		t.Errorf("pid and session differ: %v", fields)
	}
}

// Case E16.
func TestWhatCannotBeStartedIsNamed(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "gone")
	_, err := (&proc.Cmd{Shell: "true", Dir: gone}).Run(t.Context())
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, gone)

	_, err = (&proc.Cmd{Args: []string{"no-such-program"}}).Run(t.Context())
	require.ErrorContains(t, err, "no-such-program")

	_, err = (&proc.Cmd{}).Run(t.Context())
	require.ErrorContains(t, err, "no program")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "started")
	_, err = (&proc.Cmd{Args: []string{"touch", marker}}).Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, marker)
}

// Cases E1, E2.
func TestWhatIsLeftInTheGroupIsEndedAndTheProgramStillSucceeds(t *testing.T) {
	t.Parallel()
	var out proc.Tail
	began := time.Now()
	exit, err := (&proc.Cmd{Shell: "sleep 60 & echo $!", Stdout: &out, Stderr: &out}).Run(t.Context())
	require.NoError(t, err)
	if !exit.OK() || !exit.Left {
		t.Errorf("exit = %+v, want a success that left something", exit)
	}
	if took := time.Since(began); took > proc.DefaultGrace {
		t.Errorf("took %v", took)
	}
	requireEnded(t, out.String())
}

func TestSomethingLeftThatIgnoresTheRequestIsKilled(t *testing.T) {
	t.Parallel()
	pid := &line{got: make(chan string, 1)}
	exit, err := (&proc.Cmd{
		Shell:  `sh -c 'trap "" TERM; echo $$; while :; do sleep 0.05; done' & while ! test -s "$READY"; do sleep 0.01; done`,
		Env:    proc.Environ(nil, "READY="+touchOn(t, pid)),
		Stdout: pid, Grace: 100 * time.Millisecond,
	}).Run(t.Context())
	require.NoError(t, err)
	if !exit.OK() || !exit.Left {
		t.Errorf("exit = %+v, want a success that left something", exit)
	}
	requireEnded(t, <-pid.got)
}

// Case E4, as far as a group reaches: what left it is not waited for.
func TestAProcessThatLeftTheGroupHoldsUpNobody(t *testing.T) {
	t.Parallel()
	var out proc.Tail
	began := time.Now()
	exit, err := (&proc.Cmd{Shell: "setsid sleep 60 & echo $!", Stdout: &out}).Run(t.Context())
	took := time.Since(began)
	require.NoError(t, err)
	if !exit.OK() {
		t.Errorf("exit = %+v, want a success", exit)
	}
	if took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	require.NoError(t, err)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// Case E1.
func TestTheDeadlineEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	pid := &line{got: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := (&proc.Cmd{Shell: "sleep 60 & echo $!; wait; true", Stdout: pid}).Run(ctx)
		done <- err
	}()
	child := <-pid.got
	began := time.Now()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	if took := time.Since(began); took > proc.DefaultGrace {
		t.Errorf("took %v to end", took)
	}
	requireEnded(t, child)
}

// Case E5.
func TestAProgramThatIgnoresTheRequestIsKilledAfterTheGrace(t *testing.T) {
	t.Parallel()
	pid := &line{got: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan proc.Exit, 1)
	go func() {
		exit, err := (&proc.Cmd{Shell: `trap "" TERM; echo $$; while :; do sleep 0.05; done`, Stdout: pid, Grace: 100 * time.Millisecond}).Run(ctx)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want a cancellation", err)
		}
		done <- exit
	}()
	leader := <-pid.got
	began := time.Now()
	cancel()
	if exit := <-done; exit.Signal != "killed" {
		t.Errorf("exit = %+v, want killed", exit)
	}
	if took := time.Since(began); took > 1100*time.Millisecond {
		t.Errorf("took %v, want the grace and no second more", took)
	}
	requireEnded(t, leader)
}

// Case E5: a status of 0 after the request is no success.
func TestAProgramThatEndsWellWhenAskedToEndWasStillCancelled(t *testing.T) {
	t.Parallel()
	pid := &line{got: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := (&proc.Cmd{Shell: `trap "exit 0" TERM; echo $$; while :; do sleep 0.05; done`, Stdout: pid}).Run(ctx)
		done <- err
	}()
	<-pid.got
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// Case E13.
func TestAFloodIsDrainedAndItsEndKept(t *testing.T) {
	t.Parallel()
	var out proc.Tail
	run(t, &proc.Cmd{Shell: "head -c 50000000 /dev/zero | tr '\\0' x; echo end", Stdout: &out})
	got := out.String()
	if len(got) != proc.TailSize || !strings.HasSuffix(got, "xxend\n") {
		t.Errorf("kept %d bytes ending in %q", len(got), got[max(0, len(got)-10):])
	}
}

func run(t *testing.T, c *proc.Cmd) {
	t.Helper()
	exit, err := c.Run(t.Context())
	require.NoError(t, err)
	require.True(t, exit.OK(), exit.String())
}

// line is a writer that gives the first line written to it.
type line struct {
	buf  []byte
	done bool
	got  chan string
	then func()
}

func (l *line) Write(p []byte) (int, error) {
	if l.buf = append(l.buf, p...); !l.done && bytes.ContainsRune(l.buf, '\n') {
		l.got <- string(l.buf)
		l.done = true
		if l.then != nil {
			l.then()
		}
	}
	return len(p), nil
}

// touchOn returns a file that is filled when l has its line.
func touchOn(t *testing.T, l *line) string {
	file := filepath.Join(t.TempDir(), "ready")
	l.then = func() { _ = os.WriteFile(file, []byte("x"), 0o600) }
	return file
}

// requireEnded fails unless the process of that number has ended.
func requireEnded(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	require.NoError(t, err)
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(n)).Output()
	if err == nil && !strings.HasPrefix(string(state), "Z") {
		t.Errorf("process %d still runs (%s)", n, strings.TrimSpace(string(state)))
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	return path
}

func TestNoOutputIsLostOnAReaderThatTakesItsTime(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	slow := writerFunc(func(p []byte) (int, error) {
		if got.Len() == 0 {
			<-time.After(1200 * time.Millisecond) // longer than what is left in a pipe is waited for
		}
		return got.Write(p)
	})
	_, err := (&proc.Cmd{Shell: "head -c 60000 /dev/zero; echo end", Stdout: slow}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != 60004 || !strings.HasSuffix(got.String(), "end\n") {
		t.Errorf("%d bytes have come, want 60004", got.Len())
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
