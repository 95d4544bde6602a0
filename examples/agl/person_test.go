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
	keys, tty := ptytest.Open(t, 100, 30)
	s := &seat{Cmd: exec.Command("agl", args...), keys: keys, tty: tty, before: settings(t, tty), ended: make(chan struct{})}
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

// text is what was written, without sequences that move the cursor or colour.
func (s *seat) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sequences.ReplaceAllString(s.written.String(), "")
}

func (s *seat) sees(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(s.text(), text) }, time.Minute, 10*time.Millisecond, "%q", text)
}

func (s *seat) presses(t *testing.T, keys string) {
	t.Helper()
	_, err := s.keys.WriteString(keys)
	require.NoError(t, err)
}

// isSane requires that the terminal is as it was found.
func (s *seat) isSane(t *testing.T) {
	t.Helper()
	require.Equal(t, s.before, settings(t, s.tty))
	written := func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.written.String()
	}
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		require.Eventually(t, func() bool { return strings.LastIndex(written(), on) <= strings.LastIndex(written(), off) },
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
			var exit *exec.ExitError
			require.True(t, errors.As(s.Wait(), &exit), "%s", s.text())
			status := exit.Sys().(syscall.WaitStatus)
			require.True(t, status.Signaled(), "exit code %d\n%s", status.ExitStatus(), s.text())
			require.Equal(t, syscall.SIGINT, status.Signal())
			s.isSane(t)
			require.Contains(t, ask(t, repo, "runs"), "interrupted")
		})
	}
}

// F11: the connection is gone.
func TestARunWhoseTerminalHasGoneStops(t *testing.T) {
	t.Parallel()
	repo, args := askingRun(t)
	s := sit(t, repo, args...)
	s.sees(t, "Which dialect?")
	require.NoError(t, s.keys.Close())
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	select {
	case err := <-ended:
		require.Error(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	require.Contains(t, ask(t, repo, "runs"), "interrupted")
	require.Contains(t, ask(t, repo, "questions"), "Which dialect?")
}

// F1: whatever standard input and output are, nobody is waited for who cannot
// answer.
func TestWhereNobodySitsNothingHangs(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"no input, a pipe that is closed": "exec agl %s </dev/null 2>&1 | head -1",
		"no input":                        "agl %s </dev/null >out 2>&1",
		"input that is closed":            "agl %s <&- >out 2>&1",
		"a pipe":                          "yes 1 | agl %s >out 2>&1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, args := askingRun(t)
			cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "%s", `"$@"`), "sh")
			cmd.Args = append(cmd.Args, args...)
			cmd.Dir, cmd.Env = repo.Dir, repo.Env
			ended := make(chan error, 1)
			go func() { ended <- cmd.Run() }()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				_ = cmd.Process.Kill()
				t.Fatal("it hangs")
			}
			require.Eventually(t, func() bool { return strings.Contains(ask(t, repo, "runs"), "interrupted") }, time.Minute, 10*time.Millisecond)
		})
	}
}
