//go:build unix

package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/script"
	"example.com/agl/ports"
)

func TestTheMostSpecificSectionPlays(t *testing.T) {
	t.Parallel()
	agent := parse(t, `
-- dev --
say any
-- dev#2 --
say any second
-- api/dev --
say in api
-- api/dev#2 --
say second in api
-- _base/dev#3 --
say third in the run's own
-- dev@2 --
say in a second landing
-- dev@2#2 --
say second in a second landing
-- web/dev@1 --
say in web's first landing
-- web/dev@1#2 --
say second in web's first landing
`)
	for _, tt := range []struct {
		namespace string
		landing   int
		ordinal   int
		want      string
	}{
		{ports.Base, 0, 1, "any"},
		{ports.Base, 0, 2, "any second"},
		{ports.Base, 0, 3, "third in the run's own"},
		{"api", 0, 1, "in api"},
		{"api", 0, 2, "second in api"},
		{"api", 0, 3, "in api"},
		{"web", 0, 2, "any second"},
		{"web", 0, 12, "any"},
		{"api", 2, 2, "second in api"},
		{"web", 2, 1, "in a second landing"},
		{"web", 2, 2, "second in a second landing"},
		{"web", 1, 1, "in web's first landing"},
		{"web", 1, 2, "second in web's first landing"},
		{"page", 1, 2, "any second"},
	} {
		task := ports.Task{Role: "dev", Namespace: tt.namespace, Landing: tt.landing, Ordinal: tt.ordinal}
		out, err := agent.Run(t.Context(), task, func(ports.AgentEvent) {})
		if err != nil || out.Text != tt.want || out.Stop != ports.StopCompleted {
			t.Errorf("%s, landing %d, step %d: %+v, %v; want %q", tt.namespace, tt.landing, tt.ordinal, out, err, tt.want)
		}
	}
}

func TestATurnDoesWhatItsLinesSay(t *testing.T) {
	t.Parallel()
	agent := parse(t, `
-- dev --
# a comment
activity reading #1
write cmd/main.go main.go   # its bytes
	append notes/log first  line # not a comment
append notes/log
rm old
rm olddir
exec echo "$AGL_STEP-$GIT_DIR" >ran; pwd >>ran # the shell's comment
say one
usage 10 2
usage 5 1 # more
call ask {"q": "why #1?"} # a comment
report {"n": 12345678901234567890}
say two # three
-- main.go --
package main
`)
	dir := realPath(t, t.TempDir())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old"), nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "olddir", "sub"), 0o700))
	var calls []string
	tool := func(name string, result ports.ToolResult) ports.Tool {
		return ports.Tool{Name: name, Call: func(_ context.Context, args json.RawMessage) ports.ToolResult {
			calls = append(calls, name+" "+string(args))
			return result
		}}
	}
	p := player{task: ports.Task{
		Role: "dev", Dir: dir, Report: "finish", Env: []string{"AGL_STEP=7"},
		Tools: []ports.Tool{tool("finish", ports.ToolResult{Text: "n is\ntoo big", Rejected: true}), tool("ask", ports.ToolResult{Text: "because"})},
	}}
	out, err := p.play(t.Context(), agent)
	require.NoError(t, err)

	if diff := cmp.Diff(ports.Outcome{
		Stop: ports.StopCompleted, Text: "two # three", Usage: ports.Usage{Input: 15, Output: 3, Complete: true},
	}, out); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ports.AgentEvent{
		{Kind: ports.AgentActivity, Text: "reading #1"},
		{Kind: ports.AgentText, Text: "one"},
		{Kind: ports.AgentUsage, Usage: ports.Usage{Input: 10, Output: 2, Complete: true}},
		{Kind: ports.AgentUsage, Usage: ports.Usage{Input: 15, Output: 3, Complete: true}},
		{Kind: ports.AgentActivity, Text: "ask: because"},
		{Kind: ports.AgentActivity, Text: "finish rejected: n is too big"},
		{Kind: ports.AgentText, Text: "two # three"},
	}, p.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`ask {"q": "why #1?"}`, `finish {"n": 12345678901234567890}`}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"cmd/main.go": "package main\n",
		"notes/log":   "first  line # not a comment\n\n",
		"ran":         "7-\n" + dir + "\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	require.NoFileExists(t, filepath.Join(dir, "old"))
	require.NoDirExists(t, filepath.Join(dir, "olddir"))
}

func TestAScriptOfWindowsLinesPlaysTheSame(t *testing.T) {
	t.Parallel()
	agent, err := script.Parse("s", []byte("\ufeff-- dev --\r\n\r\n# c\r\nwrite f f\r\nappend f x\r\nusage 1 2\r\nreport {}\r\nstop limit\r\n-- f --\r\na\r\n"))
	require.NoError(t, err)
	p := player{task: ports.Task{Role: "dev", Dir: t.TempDir(), Report: "r", Tools: []ports.Tool{{
		Name: "r", Call: func(context.Context, json.RawMessage) ports.ToolResult { return ports.ToolResult{} },
	}}}}
	out, err := p.play(t.Context(), agent)
	require.NoError(t, err)
	require.Equal(t, ports.StopLimit, out.Stop)
	got, err := os.ReadFile(filepath.Join(p.task.Dir, "f"))
	require.NoError(t, err)
	require.Equal(t, "a\r\nx\n", string(got), "the section's own bytes, then the line")
}

func TestATurnThatIsStoppedOrFailsDoesNothingMore(t *testing.T) {
	t.Parallel()
	p := player{task: ports.Task{Role: "dev", Dir: t.TempDir()}}
	out, err := p.play(t.Context(), parse(t, "-- dev --\nusage 1 2\nsay half\nstop limit\nappend x y\n"))
	require.NoError(t, err)
	require.Equal(t, ports.Outcome{Stop: ports.StopLimit, Text: "half", Usage: ports.Usage{Input: 1, Output: 2, Complete: true}}, out)
	require.NoFileExists(t, filepath.Join(p.task.Dir, "x"))

	for _, kind := range []ports.Kind{ports.Unavailable, ports.Unexpected, ports.Denied} {
		out, err := p.play(t.Context(), parse(t, "-- dev --\nusage 1 2\nfail "+string(kind)+" come back at #9\nappend x y\n"))
		require.Equal(t, kind, ports.KindOf(err))
		require.EqualError(t, err, "come back at #9")
		require.Equal(t, int64(3), out.Usage.Tokens(), "what was used is told")
		require.NoFileExists(t, filepath.Join(p.task.Dir, "x"))
	}
}

func TestWhatCannotBeDoneFailsTheTurnAndSaysWhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "out")))
	for _, tt := range []struct {
		line string
		kind ports.Kind
		want string
	}{
		{"rm absent", ports.Unexpected, "s:3: "},
		{"append out/x text", ports.Unexpected, "escapes"},
		{"write out/x f.txt", ports.Unexpected, "escapes"},
		{"exec echo oops >&2; exit 3", ports.Unexpected, "s:3: exec echo oops >&2; exit 3: exit status 3: oops"},
		{"exec kill -KILL $$", ports.Unexpected, "ended by a signal: killed: no output"},
		{"call guess {}", ports.Unexpected, `s:3: role dev has no tool "guess"; it has: ask`},
		{"report {}", ports.Unexpected, "s:3: role dev reports nothing"},
	} {
		p := player{task: ports.Task{Role: "dev", Dir: dir, Tools: []ports.Tool{{Name: "ask"}}}}
		_, err := p.play(t.Context(), parse(t, "-- dev --\n\n"+tt.line+"\n-- f.txt --\n"))
		if ports.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %v %s", tt.line, err, tt.kind, tt.want)
		}
		if strings.HasPrefix(tt.line, "exec") && len(p.events) != 1 {
			t.Errorf("%s: the output is not told: %v", tt.line, p.events)
		}
	}
}

// Case A5.
func TestCommandsRunInTheAgentsEnvironment(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere/.git")
	t.Setenv("OURS", "ours")
	path := "PATH=" + os.Getenv("PATH")
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"this process's": {nil, "-ours--task\n"},
		"one given":      {[]string{path, "A=given", "B=given"}, "--given-task\n"},
		"one for git":    {[]string{path, "GIT_DIR=/other/.git", "A=given"}, "--given-task\n"},
		"none":           {[]string{}, "---task\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := player{task: ports.Task{Role: "dev", Dir: t.TempDir(), Env: []string{"B=task"}}}
			agent := parse(t, "-- dev --\nexec echo \"$GIT_DIR-$OURS-$A-$B\" >ran\n")
			agent.Env = c.env
			_, err := p.play(t.Context(), agent)
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join(p.task.Dir, "ran"))
			require.NoError(t, err)
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestACheckoutInMemoryIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"append x y", "write x f.txt", "rm x", "exec true"} {
		p := player{task: ports.Task{Role: "dev"}}
		_, err := p.play(t.Context(), parse(t, "-- dev --\n"+line+"\n-- f.txt --\n"))
		if ports.KindOf(err) != ports.Unavailable || !strings.Contains(err.Error(), "in memory") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestCancellingEndsTheTurn(t *testing.T) {
	t.Parallel()
	agent := parse(t, "-- dev --\nsleep 1h\n")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := agent.Run(ctx, ports.Task{Role: "dev"}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Empty(t, ports.KindOf(err))
		_, err = agent.Run(ctx, ports.Task{Role: "dev"}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := agent.Run(t.Context(), ports.Task{Role: "dev"}, nil)
		require.NoError(t, err)
		require.Equal(t, time.Hour, time.Since(began))
	})

	dir := t.TempDir()
	fifo := filepath.Join(dir, "started")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(fifo)
		cancel()
	}()
	_, err := parse(t, "-- dev --\nexec echo >started; sleep 60\nappend x y\n").Run(ctx, ports.Task{Role: "dev", Dir: dir}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(dir, "x"))
}

func TestACrashEndsTheWholeProcess(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("AGL_TEST_CRASH"); dir != "" { // in the process of its own
		_, err := parse(t, "-- dev --\nappend before x\ncrash # now\nappend after x\n").Run(t.Context(), ports.Task{Role: "dev", Dir: dir}, nil)
		t.Fatalf("it lives: %v", err)
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), "AGL_TEST_CRASH="+dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it ended with %v\n%s", err, out)
	}
	require.FileExists(t, filepath.Join(dir, "before"))
	require.NoFileExists(t, filepath.Join(dir, "after"))
}

func TestAScriptCanDoEverything(t *testing.T) {
	t.Parallel()
	for _, agent := range []ports.Agent{parse(t, "-- dev --\n"), script.Missing()} {
		got, err := agent.Capabilities(t.Context(), "script/x")
		require.NoError(t, err)
		want := ports.Capabilities{Tools: true, Enforce: []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// player plays one turn and keeps what was told.
type player struct {
	task   ports.Task
	events []ports.AgentEvent
}

func (p *player) play(ctx context.Context, agent *script.Agent) (ports.Outcome, error) {
	return agent.Run(ctx, p.task, func(e ports.AgentEvent) { p.events = append(p.events, e) })
}

func parse(t *testing.T, text string) *script.Agent {
	t.Helper()
	agent, err := script.Parse("s", []byte(text))
	require.NoError(t, err)
	return agent
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	return path
}
