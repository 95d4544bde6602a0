//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
	"example.com/agl/internal/ptytest"
)

// A seat is agl at a pseudo-terminal, and all that it has written there.
type seat struct {
	*exec.Cmd
	keys   *os.File
	tty    *os.File
	before string // the terminal's settings

	mu      sync.Mutex
	written bytes.Buffer
	ended   chan struct{} // closed when nothing more can be read
}

// sit starts agl with a terminal.
func sit(t *testing.T, repo *gittest.Repo, args ...string) *seat {
	t.Helper()
	return sitAt(t, repo, exec.Command("agl", args...))
}

// sitAt starts a command with a terminal.
func sitAt(t *testing.T, repo *gittest.Repo, cmd *exec.Cmd) *seat {
	t.Helper()
	keys, tty := ptytest.Open(t, 100, 30)
	s := &seat{Cmd: cmd, keys: keys, tty: tty, before: settings(t, tty), ended: make(chan struct{})}
	s.Dir, s.Env = repo.Dir, append(repo.Env, "TERM=xterm-256color")
	s.Stdin, s.Stdout, s.Stderr = tty, tty, tty
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, s.Start())
	t.Cleanup(func() {
		_ = s.Process.Kill() // if the test failed before it ended
		tty.Close()
		keys.Close()
		<-s.ended
	})
	go func() {
		defer close(s.ended)
		buf := make([]byte, 32<<10)
		for {
			n, err := keys.Read(buf)
			s.mu.Lock()
			s.written.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

// settings are those of a terminal, as stty -a has them.
func settings(t *testing.T, tty *os.File) string {
	t.Helper()
	cmd := exec.Command("stty", "-a")
	cmd.Stdin = tty
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

var sequences = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[ -/]*[0-~])")

// raw is what was written.
func (s *seat) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String()
}

// text is what was written, without sequences that move the cursor or colour.
func (s *seat) text() string { return sequences.ReplaceAllString(s.raw(), "") }

func (s *seat) sees(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(s.text(), text) }, time.Minute, 10*time.Millisecond, "%q", text)
}

func (s *seat) presses(t *testing.T, keys string) {
	t.Helper()
	_, err := s.keys.WriteString(keys)
	require.NoError(t, err)
}

// diesOf waits for the process, some seconds, and requires that sig ended it.
func (s *seat) diesOf(t *testing.T, sig syscall.Signal) {
	t.Helper()
	late := time.AfterFunc(20*time.Second, func() { _ = s.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	require.True(t, errors.As(s.Wait(), &exit), "%s", s.text())
	status := exit.Sys().(syscall.WaitStatus)
	require.True(t, status.Signaled(), "exit code %d\n%s", status.ExitStatus(), s.text())
	require.Equal(t, sig, status.Signal(), "%s", s.text())
}

// isSane requires that the terminal is as it was found.
func (s *seat) isSane(t *testing.T) {
	t.Helper()
	require.Equal(t, s.before, settings(t, s.tty))
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		require.Eventually(t, func() bool { return strings.LastIndex(s.raw(), on) <= strings.LastIndex(s.raw(), off) },
			time.Minute, 10*time.Millisecond, "%q is not taken back", on)
	}
}

const asking = "-- implementer --\nappend f.txt x\ncall ask {\"question\": \"Which dialect?\", \"options\": [\"SQL\", \"CQL\"]}\n" +
	"report {\"summary\": \"s\"}\n-- reviewer --\nreport {\"items\": []}\n"

// askingRun returns a repository, and the arguments of a run in it that asks.
func askingRun(t *testing.T) (*gittest.Repo, []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "play.txtar")
	require.NoError(t, os.WriteFile(file, []byte(asking), 0o600))
	return gittest.New(t, nil), []string{"run", "fix", "-n", "demo", "-r", "x", "--script", file}
}

func TestAPersonAnswersAtTheTerminal(t *testing.T) {
	t.Parallel()
	repo, args := askingRun(t)
	s := sit(t, repo, args...)
	s.sees(t, "Which dialect?")
	s.presses(t, "2\r")
	require.NoError(t, s.Wait(), "%s", s.text())
	s.sees(t, "demo is done")
	s.isSane(t)
	require.NotContains(t, s.text(), "answer demo", "how to answer from elsewhere is not told to whoever sits there")
}

func TestAnAnswerFromAnotherShellReachesWhoeverSitsThere(t *testing.T) {
	t.Parallel()
	repo, args := askingRun(t)
	s := sit(t, repo, args...)
	s.sees(t, "Which dialect?")
	require.Contains(t, ask(t, repo, "questions"), "Which dialect?")
	require.Contains(t, ask(t, repo, "show", "demo"), "waits for an answer")
	id, err := onlyID(ask(t, repo, "questions", "--json"))
	require.NoError(t, err)
	ask(t, repo, "answer", "demo", id, "SQL")
	require.NoError(t, s.Wait(), "%s", s.text())
	s.sees(t, "demo is done")
	s.isSane(t)
}

func TestAQuestionThatWasOpenWhenAProcessWasKilledIsPutOnceMore(t *testing.T) {
	t.Parallel()
	repo, args := askingRun(t)
	s := sit(t, repo, args...)
	s.sees(t, "Which dialect?")
	require.NoError(t, s.Process.Kill())
	_ = s.Wait()
	s = sit(t, repo, "resume", "demo", "--script", args[len(args)-1])
	s.sees(t, "Which dialect?")
	s.presses(t, "1\r")
	require.NoError(t, s.Wait(), "%s", s.text())
	s.isSane(t)
	require.Contains(t, ask(t, repo, "questions"), "no question")
	s = sit(t, repo, "resume", "demo", "--script", args[len(args)-1])
	require.NoError(t, s.Wait())
	require.NotContains(t, s.text(), "Which dialect?")
}

func TestAnInterruptAtTheDashboardStopsTheRunAndGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"in order": "\x03", "at once": "\x03\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, args := askingRun(t)
			s := sit(t, repo, args...)
			s.sees(t, "Which dialect?")
			s.presses(t, keys)
			s.diesOf(t, syscall.SIGINT)
			s.isSane(t)
			require.Contains(t, ask(t, repo, "runs"), "interrupted")
		})
	}
}

// What was to be told while the dashboard was there is on the screen after it.
func TestWhatTheDashboardHeldBackIsToldAfterIt(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"in order": asking,
		"at once":  "-- implementer --\nexec trap '' TERM; while :; do sleep 1; done\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, args := askingRun(t)
			s := sit(t, repo, args...)
			s.sees(t, "Which dialect?")
			require.NoError(t, s.Process.Kill())
			_ = s.Wait()
			require.NoError(t, os.WriteFile(args[len(args)-1], []byte(script), 0o600))
			s = sit(t, repo, "resume", "demo", "--script", args[len(args)-1]) // which keeps what the first has left
			s.sees(t, "implementer")
			require.Eventually(t, func() bool { return strings.Contains(ask(t, repo, "salvage", "demo", "--json"), `"n":1`) }, time.Minute, 10*time.Millisecond)
			s.presses(t, "\x03")
			if name == "at once" {
				s.sees(t, "stopping in order")
				s.presses(t, "\x03")
			}
			s.diesOf(t, syscall.SIGINT)
			s.isSane(t)
			require.Eventually(t, func() bool {
				_, after, _ := strings.Cut(s.raw(), "\x1b[?1049l")
				return strings.Contains(after, "kept 1 changed path as salvage 1")
			}, 10*time.Second, 10*time.Millisecond, "%q", s.raw())
			ask(t, repo, "clear", "demo") // ends what a stop at once has left running
		})
	}
}
