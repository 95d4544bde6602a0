//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
)

// A started command, and the file it writes its errors to.
type started struct {
	*exec.Cmd
	errors string
}

func (s *started) stderr(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.errors)
	require.NoError(t, err)
	return string(text)
}

// start runs a shell line that ends in agl's arguments, and returns when the
// agent's script has made the file begun.
func start(t *testing.T, repo *gittest.Repo, shell, script string) *started {
	t.Helper()
	file := filepath.Join(t.TempDir(), "play.txtar")
	begun := filepath.Join(t.TempDir(), "begun")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	s := &started{
		Cmd:    exec.Command("sh", "-c", shell+` exec agl run fix -n demo -r x --script "$1" 2>"$2"`, "sh", file, begun+".errors"),
		errors: begun + ".errors",
	}
	s.Dir, s.Env = repo.Dir, append(repo.Env, "BEGUN="+begun)
	require.NoError(t, s.Start())
	t.Cleanup(func() { _ = s.Process.Kill() }) // if the test failed before it ended
	require.Eventually(t, func() bool {
		_, err := os.Stat(begun)
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	return s
}

// diedOf waits for the process and requires that sig ended it.
func (s *started) diedOf(t *testing.T, sig syscall.Signal) {
	t.Helper()
	var exit *exec.ExitError
	require.True(t, errors.As(s.Wait(), &exit), "it ended well\n%s", s.stderr(t))
	status := exit.Sys().(syscall.WaitStatus)
	require.True(t, status.Signaled(), "exit code %d\n%s", status.ExitStatus(), s.stderr(t))
	require.Equal(t, sig, status.Signal())
}

func ask(t *testing.T, repo *gittest.Repo, args ...string) string {
	t.Helper()
	cmd := exec.Command("agl", args...)
	cmd.Dir, cmd.Env = repo.Dir, repo.Env
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

func TestASignalStopsARunInOrderAndTheProcessDiesOfIt(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gittest.New(t, nil)
			run := start(t, repo, "", "-- implementer --\nexec touch \"$BEGUN\"; exec sleep 60\n")
			require.NoError(t, run.Process.Signal(sig))
			run.diedOf(t, sig)
			require.Contains(t, run.stderr(t), "stopping in order; again to stop at once\n")
			require.Contains(t, run.stderr(t), "agl: run demo was stopped; go on with agl resume demo: step implementer: context canceled\n")
			require.Contains(t, ask(t, repo, "runs"), "interrupted")
		})
	}
}

func TestASecondSignalStopsARunAtOnce(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	run := start(t, repo, "", "-- implementer --\nexec trap '' TERM; touch \"$BEGUN\"; while :; do sleep 1; done\n")
	require.NoError(t, run.Process.Signal(syscall.SIGINT))
	require.Eventually(t, func() bool { return strings.Contains(run.stderr(t), "stopping in order") }, time.Minute, 5*time.Millisecond)
	require.NoError(t, run.Process.Signal(syscall.SIGTERM))
	run.diedOf(t, syscall.SIGTERM)
	require.NotContains(t, run.stderr(t), "go on with")
	require.Contains(t, ask(t, repo, "runs"), "interrupted")
	ask(t, repo, "clear", "demo") // ends the agent's shell, which nothing else does
}

// Nobody reads what it writes, so that every line of its progress waits.
func TestTwoSignalsStopARunWhoseErrorsNobodyReads(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	dir := t.TempDir()
	file, begun, stopped := filepath.Join(dir, "play.txtar"), filepath.Join(dir, "begun"), filepath.Join(dir, "stopped")
	require.NoError(t, os.WriteFile(file, []byte("-- implementer --\n"+strings.Repeat("activity it goes on and on\n", 2000)+
		"exec trap 'touch "+stopped+"; exit' TERM; touch '"+begun+"'; while :; do sleep 0.02; done\n"), 0o600))
	_, write := fullPipe(t)
	run := &started{Cmd: exec.Command("agl", "run", "fix", "-n", "demo", "-r", "x", "--script", file), errors: os.DevNull}
	run.Dir, run.Env, run.Stderr = repo.Dir, repo.Env, write
	require.NoError(t, run.Start())
	t.Cleanup(func() { _ = run.Process.Kill() })
	for _, file := range []string{begun, stopped} {
		require.Eventually(t, func() bool {
			_, err := os.Stat(file)
			return err == nil
		}, time.Minute, 5*time.Millisecond, "%s", file)
		require.NoError(t, run.Process.Signal(syscall.SIGTERM))
	}
	run.diedOf(t, syscall.SIGTERM)
	require.Contains(t, ask(t, repo, "runs"), "interrupted")
}

// fullPipe returns a pipe into which nothing more goes.
func fullPipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { read.Close(); write.Close() })
	for chunk := 4096; chunk > 0; chunk /= 2 { // what does not fit as a whole may fit in part
		for err = nil; err == nil; {
			require.NoError(t, write.SetWriteDeadline(time.Now().Add(20*time.Millisecond)))
			_, err = write.Write(make([]byte, chunk))
		}
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	return read, write
}

func TestASignalThatIsIgnoredStaysIgnored(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	release := filepath.Join(t.TempDir(), "release")
	run := start(t, repo, "trap '' HUP; export RELEASE='"+release+"';",
		"-- implementer --\nexec touch \"$BEGUN\"; until test -e \"$RELEASE\"; do sleep 0.02; done\nwrite f f\nreport {\"summary\": \"s\"}\n"+
			"-- reviewer --\nreport {\"items\": []}\n-- f --\ntext\n")
	require.NoError(t, run.Process.Signal(syscall.SIGHUP))
	require.NoError(t, os.WriteFile(release, nil, 0o600))
	require.NoError(t, run.Wait(), "%s", run.stderr(t))
	require.NotContains(t, run.stderr(t), "stopping")
	require.Contains(t, ask(t, repo, "runs"), "done")
}

func TestARunGoesOnWhenNobodyReadsItsProgressAnyMore(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	dir := t.TempDir()
	file, begun, release := filepath.Join(dir, "play.txtar"), filepath.Join(dir, "begun"), filepath.Join(dir, "release")
	require.NoError(t, os.WriteFile(file, []byte("-- implementer --\nexec touch '"+begun+"'; until test -e '"+release+"'; do sleep 0.02; done\n"+
		"activity it goes on\nwrite f f\nreport {\"summary\": \"s\"}\n-- reviewer --\nreport {\"items\": []}\n-- f --\ntext\n"), 0o600))
	read, write, err := os.Pipe()
	require.NoError(t, err)
	run := exec.Command("agl", "run", "fix", "-n", "demo", "-r", "x", "--script", file)
	run.Dir, run.Env, run.Stderr = repo.Dir, repo.Env, write
	require.NoError(t, run.Start())
	t.Cleanup(func() { _ = run.Process.Kill() })
	require.NoError(t, write.Close())
	require.Eventually(t, func() bool {
		_, err := os.Stat(begun)
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, read.Close())
	require.NoError(t, os.WriteFile(release, nil, 0o600))
	require.NoError(t, run.Wait())
	require.Contains(t, ask(t, repo, "runs"), "done")
}
