//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
)

// shellLine returns a shell that plays a line in which AGL stands for agl with args.
func shellLine(repo *gittest.Repo, line string, args []string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", strings.ReplaceAll(line, "AGL", `agl "$@"`), "sh"}, args...)...)
	cmd.Dir, cmd.Env = repo.Dir, repo.Env
	return cmd
}

// number returns the number that a shell has written to a file of the repository.
func number(t *testing.T, repo *gittest.Repo, file string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repo.Dir, file))
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return n
}

// F1: whatever standard input and output are, nobody is waited for who cannot
// answer.
func TestWhereNobodySitsNothingHangs(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"no input":                "AGL </dev/null >out 2>&1",
		"input that is closed":    "AGL <&- >out 2>&1",
		"a pipe":                  "yes 1 | AGL >out 2>&1",
		"nothing but pipes":       "{ yes 1 | AGL 2>&1; echo $? >code; } | cat >out; exit $(cat code)",
		"output that is closed":   "AGL </dev/null >&- 2>out",
		"errors that are closed":  "AGL </dev/null >out 2>&-",
		"everything that is null": "AGL </dev/null >/dev/null 2>&1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, args := askingRun(t)
			cmd := shellLine(repo, line, args)
			require.NoError(t, cmd.Start())
			late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			defer late.Stop()
			_ = cmd.Wait()
			require.Equal(t, 6, cmd.ProcessState.ExitCode())
			require.Contains(t, ask(t, repo, "runs"), "interrupted")
			require.Contains(t, ask(t, repo, "questions"), "Which dialect?")
		})
	}
}

// F1: whoever reads the first line of the progress leaves no process behind.
func TestAPipeThatIsClosedLeavesNoProcess(t *testing.T) {
	t.Parallel()
	repo, args := askingRun(t)
	cmd := shellLine(repo, `sh -c 'echo $$ >pid; exec AGL' sh "$@" </dev/null 2>&1 | head -1; exit`, args)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(out), "\n"), "%s", out)
	pid := number(t, repo, "pid")
	require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, time.Minute, 10*time.Millisecond)
	require.Contains(t, ask(t, repo, "runs"), "interrupted")
}

// F1: at a terminal, somebody is there if both what is read and what is shown is
// that terminal, and no machine says that nobody is.
func TestWhoIsAskedAtATerminalCanAnswer(t *testing.T) {
	t.Parallel()
	const answers, nobody = 0, 6
	for name, tc := range map[string]struct {
		line string
		code int
	}{
		"all of it":                         {"AGL", answers},
		"output to a pipe":                  {"{ AGL; echo $? >code; } | cat; exit $(cat code)", answers},
		"output to a file":                  {"AGL >out", answers},
		"output to nowhere":                 {"AGL >/dev/null", answers},
		"errors to a pipe":                  {"{ AGL 2>&1 >&3; echo $? >code; } 3>&1 | cat; exit $(cat code)", nobody},
		"errors to a file":                  {"AGL 2>out", nobody},
		"no input":                          {"AGL </dev/null", nobody},
		"input from a pipe":                 {"yes 1 | AGL", nobody},
		"input that is closed":              {"AGL <&-", nobody},
		"output and errors to a pipe":       {"{ AGL 2>&1; echo $? >code; } | cat; exit $(cat code)", nobody},
		"all of it, on a machine for tests": {"CI=1 AGL", nobody},
		"the same, in another word":         {"CI=true AGL", nobody},
		"all of it, and no such machine":    {"CI=false AGL", answers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, args := askingRun(t)
			s := sitAt(t, repo, shellLine(repo, tc.line, args))
			if tc.code == answers {
				s.sees(t, "Which dialect?")
				s.presses(t, "2\r")
			}
			late := time.AfterFunc(time.Minute, func() { _ = s.Process.Kill() })
			defer late.Stop()
			_ = s.Wait()
			require.Equal(t, tc.code, s.ProcessState.ExitCode(), "%s", s.text())
			s.isSane(t)
			if strings.HasPrefix(name, "output to a ") {
				require.NotContains(t, s.raw(), "\x1b[?1049h", "a pager may draw there")
			}
		})
	}
}

// F5: each of the runs would ask.
func TestAnInterruptEndsALoopOfAShell(t *testing.T) {
	t.Parallel()
	for name, flag := range map[string]string{"with job control": "-m", "a script": "+m", "a script, at lines": "+m"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, args := askingRun(t)
			line := `for i in 1 2 3; do echo "turn $i"; agl run fix -n demo$i -r x --script "$1"; done; echo "it goes on"`
			if strings.HasSuffix(name, "at lines") {
				line = strings.ReplaceAll(line, "-r x", "-r x --plain")
			}
			s := sitAt(t, repo, exec.Command("sh", flag, "-c", line, "sh", args[len(args)-1]))
			s.sees(t, "Which dialect?")
			s.presses(t, "\x03")
			s.diesOf(t, syscall.SIGINT)
			s.isSane(t)
			require.NotContains(t, s.text(), "turn 2")
			require.NotContains(t, s.text(), "it goes on")
			require.Contains(t, ask(t, repo, "runs"), "interrupted")
		})
	}
}

// F11: the connection is gone.
func TestARunWhoseTerminalHasGoneDiesOfIt(t *testing.T) {
	t.Parallel()
	repo, args := askingRun(t)
	s := sit(t, repo, args...)
	s.sees(t, "Which dialect?")
	require.NoError(t, s.keys.Close())
	s.diesOf(t, syscall.SIGHUP)
	require.Contains(t, ask(t, repo, "runs"), "interrupted")
	require.Contains(t, ask(t, repo, "questions"), "Which dialect?")
}
