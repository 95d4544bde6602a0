//go:build unix

package claude_test

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// Case B1.
func TestAProgramThatDoesNotEndAfterItsResultIsEndedAndHasSucceeded(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, claude.Options{Grace: 200 * time.Millisecond}, "echo $$ >$OUT/pid; trap '' TERM\n"+say(said)+say(success)+"while :; do sleep 0.05; done")
	began := time.Now()
	o, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	require.Less(t, time.Since(began), 10*time.Second)
	want := ports.Outcome{
		Stop: ports.StopCompleted, Text: "all done", Session: "s1", Usage: ports.Usage{Input: 10, Output: 2, Cost: 0.5, Complete: true},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	pid, err := os.ReadFile(filepath.Join(out, "pid"))
	require.NoError(t, err)
	if stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("it still runs: %s", stat)
	}
}

// What has been bought is kept: its program need not have ended.
func TestATurnThatIsCancelledAfterItsResultHasSucceeded(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, claude.Options{Grace: time.Minute}, say(said)+say(success)+"cat >/dev/null; touch $OUT/waits; exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(out, "waits")); err == nil {
				return
			}
			<-time.After(5 * time.Millisecond)
		}
	}()
	o, err := agent.Run(ctx, request(t, "hi"), silent)
	require.NoError(t, err)
	require.Equal(t, "all done", o.Text)
}

// Cases B2, B3, B6, B7, and the rest of the table in the package's
// documentation that the program itself cannot be made to do.
func TestAnOutcomeIsHonest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		kind       ports.Kind // "": a success
		says       string     // in the error, or the stop reason of a success that is not complete
	}{
		{"a success", say(said) + say(success), "", ""},
		{"no result, and a good end", say(said), ports.Unexpected, "without a result, last assistant"},
		{"no result, and a bad end", say(said) + "echo out of memory >&2; exit 3", ports.Unexpected, "out of memory"},
		{"killed", say(said) + "kill -KILL $$", ports.Unexpected, "killed"},
		{"silence", say(said) + "sleep 60", ports.Unexpected, "wrote nothing for"},
		{"a success, and a bad end", say(said) + say(success) + "exit 3", ports.Unexpected, "exit status 3"},
		{
			"an error that is called a success", say(`{"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"API Error: Rate limit reached"}]}}`) +
				say(`{"type":"result","subtype":"success","is_error":true,"result":"API Error: Rate limit reached"}`),
			ports.Unavailable, "Rate limit reached",
		},
		{
			"an error without a class", say(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","errors":["it broke"]}`),
			ports.Unexpected, "it broke",
		},
		{
			"an error that is not called one", say(`{"type":"result","subtype":"error_during_execution","is_error":false}`),
			ports.Unexpected, "error_during_execution",
		},
		{
			"a success after failures", say(`{"type":"system","subtype":"api_retry","error":"overloaded"}`) +
				say(`{"type":"assistant","error":"max_output_tokens","message":{"content":[{"type":"text","text":"too much"}]}}`) + say(said) + say(success),
			"", "",
		},
		{
			"a failure after another one", say(`{"type":"system","subtype":"api_retry","error":"overloaded"}`) + say(said) +
				say(`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["it broke"]}`),
			ports.Unexpected, "it broke",
		},
		{"a spent budget", say(`{"type":"result","subtype":"error_max_budget_usd","is_error":true,"terminal_reason":"budget_exhausted"}`), ports.Denied, "budget"},
		{
			"a conversation that has become too long", say(said) + say(`{"type":"assistant","error":"invalid_request","message":{"content":[{"type":"text","text":"Prompt is too long"}]}}`) +
				say(`{"type":"result","subtype":"success","is_error":true}`),
			"", "limit",
		},
		{"a limit on turns", say(`{"type":"result","subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns"}`), "", "limit"},
		{"a long line", `printf '{"type":"user","x":"'; head -c 30000000 /dev/zero | tr '\0' x; echo '"}'` + "\n" + say(said) + say(success), "", ""},
		{"noise", "echo Warning: old; printf '\\357\\273\\277{\"type\":\"x\"}{\"type\":\"y\"}\\r\\n'; echo '{nope'\n" + say(said) + say(success), "", ""},
		{"only noise", "echo '{nope'", ports.Unexpected, `"{nope"`},
		{"lines of other kinds", say(`{"type":"assistant","message":"text"}`) + say(`{"type":7}`) + say(`{"type":"stream_event"}`) + say(said) + say(success), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := claude.Options{}
			if tt.name == "silence" {
				opts.Idle = 300 * time.Millisecond
			}
			agent, _ := standIn(t, opts, tt.body)
			o, err := agent.Run(t.Context(), request(t, "hi"), silent)
			if want := stdcmp.Or(ports.StopReason(tt.says), ports.StopCompleted); err == nil && o.Stop != want {
				t.Errorf("the stop reason is %q, want %q", o.Stop, want)
			}
			if (err == nil) != (tt.kind == "") || ports.KindOf(err) != tt.kind || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q: %v; want %q, saying %q", ports.KindOf(err), err, tt.kind, tt.says)
			}
		})
	}
}

func TestTheEndOfAUsageWindowIsKept(t *testing.T) {
	t.Parallel()
	agent, _ := standIn(t, claude.Options{}, say(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000000}}`)+
		say(`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1900000000}}`)+
		say(`{"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"limit reached"}]}}`)+
		say(`{"type":"result","subtype":"success","is_error":true}`))
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	var limit *ports.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, int64(1800000000), limit.Reset.Unix())
}

// Case B17.
func TestUsageThatIsNotToldIsNotComplete(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]ports.Usage{
		``:              {Cost: 0.25},
		`"usage":null,`: {Cost: 0.25},
		`"usage":{},`:   {Cost: 0.25, Complete: true},
		`"usage":{"input_tokens":"12","output_tokens":3.0,"cache_read_input_tokens":null,"cache_creation_input_tokens":5},`: {Input: 17, Output: 3, Cost: 0.25, Complete: true},
		`"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{"a":{"inputTokens":2,"outputTokens":3},"b":{"outputTokens":4}},`: {
			Input: 2, Output: 7, Cost: 0.25, Complete: true,
		},
	} {
		agent, _ := standIn(t, claude.Options{}, say(`{"type":"stream_event","event":{"type":"message_start"}}`)+say(`{"type":"result","subtype":"success","is_error":false,`+usage+`"total_cost_usd":0.25}`))
		o, err := agent.Run(t.Context(), request(t, "hi"), silent)
		require.NoError(t, err)
		if diff := cmp.Diff(want, o.Usage); diff != "" {
			t.Errorf("%s (-want +got):\n%s", usage, diff)
		}
	}
}

func TestWhatWasRefusedIsNamedOnce(t *testing.T) {
	t.Parallel()
	agent, _ := standIn(t, claude.Options{}, say(said)+say(strings.Replace(success, `"usage"`, `"permission_denials":[{"tool_name":"Bash"},{"tool_name":"Bash"},{"tool_name":"Write"}],"usage"`, 1)))
	o, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	require.Equal(t, []string{"Bash", "Write"}, o.Denied)
}

// Cases B10, B13, B21.
func TestTheCommandLineIsHermeticAndHoldsNothingOfTheRequest(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, claude.Options{}, `printf '%s' "$PROMPT" >$OUT/prompt; tr '\0' '\n' </proc/$$/cmdline >$OUT/args`+"\n"+say(said)+say(success))
	task := request(t, strings.Repeat("a long request, ", 1<<16)+"to its end")
	task.Model = "claude/some model --dangerously"
	task.Restrictions = []ports.Restriction{ports.NoWrite}
	_, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)

	var line struct {
		Message struct{ Content string }
	}
	doc, err := os.ReadFile(filepath.Join(out, "prompt"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(doc, &line))
	require.Equal(t, "\n"+task.Instructions, line.Message.Content)

	args, err := os.ReadFile(filepath.Join(out, "args"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("there is no /proc")
	}
	require.NoError(t, err)
	list := strings.Split(strings.TrimSuffix(string(args), "\n"), "\n")[2:] // without the shell and the script
	want := []string{
		"-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose", "--include-partial-messages",
		"--setting-sources=", "--strict-mcp-config", "--disable-slash-commands", "--permission-mode=dontAsk",
		"--tools=Glob,Grep,Read,WebFetch,WebSearch", "--allowedTools=Glob,Grep,Read,WebFetch,WebSearch,mcp__agl",
		"--no-session-persistence", "--session-id=", "--model=some model --dangerously",
	}
	for i, arg := range list {
		if strings.HasPrefix(arg, "--session-id=") {
			list[i] = "--session-id="
		}
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARequestThatIsTooLongIsInvalidAndStartsNothing(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, claude.Options{}, "touch $OUT/started\n"+say(success))
	_, err := agent.Run(t.Context(), request(t, strings.Repeat("x", claude.MaxPrompt+1)), silent)
	require.ErrorIs(t, err, ports.Invalid)
	require.NoFileExists(t, filepath.Join(out, "started"))
}

// call is a line by which the program calls a tool.
func call(id int, name string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":"r%d","request":{"subtype":"mcp_message","server_name":"agl","message":`+
		`{"jsonrpc":"2.0","id":%[1]d,"method":"tools/call","params":{"name":%q,"arguments":{}}}}}`, id, name)
}

// Case B15: nothing but the turn's own end hurries a person.
func TestAToolMayTakeLongerThanTheIdleLimit(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, claude.Options{Idle: 300 * time.Millisecond}, say(call(1, "ask"))+"read -r ANSWER; printf '%s' \"$ANSWER\" >$OUT/answer\n"+say(said)+say(success))
	task := request(t, "hi")
	task.Tools = []ports.Tool{{Name: "ask", Call: func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
		select {
		case <-time.After(1200 * time.Millisecond):
		case <-ctx.Done():
		}
		return ports.ToolResult{Text: "after a while"}
	}}}
	_, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)
	answer, err := os.ReadFile(filepath.Join(out, "answer"))
	require.NoError(t, err)
	require.Contains(t, string(answer), "after a while")
}

func TestTheEndOfTheProgramEndsItsCalls(t *testing.T) {
	t.Parallel()
	agent, _ := standIn(t, claude.Options{}, say(call(1, "ask"))+"exit 1")
	task := request(t, "hi")
	ended := false
	task.Tools = []ports.Tool{{Name: "ask", Call: func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
		<-ctx.Done()
		ended = true
		return ports.ToolResult{}
	}}}
	_, err := agent.Run(t.Context(), task, silent)
	require.ErrorIs(t, err, ports.Unexpected)
	require.True(t, ended, "Run returned before the tool had")
}

func TestACancelledTurnIsInterruptedAndThenEnded(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"it obeys":       "read -r LINE; printf '%s' \"$LINE\" >$OUT/line\n" + say(`{"type":"result","subtype":"error_during_execution","is_error":true,"usage":{"input_tokens":7,"output_tokens":1}}`) + "exit 1",
		"it is deaf":     "trap '' TERM; while :; do sleep 0.05; done",
		"it reads on":    "cat >/dev/null; sleep 60",
		"it has spawned": "sleep 60 & wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, out := standIn(t, claude.Options{Grace: 400 * time.Millisecond}, say(said)+body)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began := time.Now()
			o, err := agent.Run(ctx, request(t, "hi"), func(e ports.AgentEvent) {
				if e.Kind == ports.AgentText {
					cancel()
				}
			})
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, ports.KindOf(err))
			require.Less(t, time.Since(began), 10*time.Second)
			require.EqualValues(t, 12, o.Usage.Tokens())
			if name == "it obeys" {
				line, err := os.ReadFile(filepath.Join(out, "line"))
				require.NoError(t, err)
				require.Contains(t, string(line), `"subtype":"interrupt"`)
			}
		})
	}
}

func TestAProgramThatIsNotReadyIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, says string }{
		"logged out":   {`echo '{"loggedIn":false}'; exit 1`, "auth login"},
		"another one":  {`echo "unknown command auth" >&2; exit 2`, "unknown command auth"},
		"it is silent": {`exit 0`, "says nothing"},
		"it hangs":     {`exec sleep 600`, "did not answer within 2s"},
	} {
		program := filepath.Join(t.TempDir(), "claude")
		gittest.Program(t, program, "#!/bin/sh\n"+tt.script)
		err := claude.New(claude.Options{Program: program, Env: vendortest.ClaudeEnv(t, ""), Idle: 2 * time.Second}).Ready(t.Context(), "claude/haiku")
		require.ErrorIs(t, err, ports.Unavailable, name)
		require.ErrorContains(t, err, tt.says, name)
	}
}

func TestAProgramThatDoesNotServeTheToolsIsRefused(t *testing.T) {
	t.Parallel()
	agent, _ := standIn(t, claude.Options{}, say(`{"type":"system","subtype":"init","session_id":"s","tools":["Read"],"mcp_servers":[{"name":"agl","status":"failed"}]}`)+say(success))
	task := request(t, "hi")
	task.Tools = []ports.Tool{{Name: "ask"}}
	_, err := agent.Run(t.Context(), task, silent)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "failed")
}
