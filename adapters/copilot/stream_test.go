package copilot_test

import (
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

	"example.com/agl/adapters/copilot"
	"example.com/agl/ports"
)

func silent(ports.AgentEvent) {}

func request(t testing.TB, prompt string) ports.Task {
	t.Helper()
	return ports.Task{Role: "worker", Namespace: ports.Base, Ordinal: 1, Model: "copilot/fake-model", Instructions: prompt, Dir: t.TempDir()}
}

// begun is a turn that comes to what rest does.
func begun(rest func(s *standIn)) func(*standIn) {
	return func(s *standIn) {
		s.begin()
		rest(s)
	}
}

// failing is a turn that ends by an error.
func failing(data object) func(*standIn) { return begun(func(s *standIn) { s.fail(data) }) }

var mute = play("it does not speak", func(*standIn) {
	fmt.Fprintln(os.Stderr, "unknown option --headless")
	os.Exit(1)
})

// Cases B2, B3, B6, B7, and the rest of the table in the package's documentation
// that the program itself cannot be made to do.
var outcomes = []struct {
	name string
	kind ports.Kind // "": a success
	says string     // in the error, or the stop reason of a success that is not complete
}{
	{play("a success", (*standIn).succeed), "", ""},
	{play("no end of the turn, and a good one of the program", begun(func(s *standIn) { s.answer("half") })), ports.Unexpected, "before its turn did, last assistant.message"},
	{play("no end of the turn, and a bad one", begun(func(s *standIn) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	})), ports.Unexpected, "out of memory"},
	{play("killed", begun(func(*standIn) {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	})), ports.Unexpected, "before its turn did"},
	{play("silence", begun(func(s *standIn) { s.await("") })), ports.Unexpected, "wrote nothing for"},
	{play("silence in a command", begun(func(s *standIn) {
		s.say("tool.execution_start", object{"toolCallId": "c", "toolName": "bash"})
		s.await("")
	})), ports.Unexpected, "last tool.execution_start"},
	{play("a command that is silent for a while", begun(func(s *standIn) {
		s.say("tool.execution_start", object{"toolCallId": "c", "toolName": "bash"})
		<-time.After(1500 * time.Millisecond)
		s.say("tool.execution_complete", object{"toolCallId": "c"})
		s.answer("all done")
		s.end()
	})), "", ""},
	{play("silence after a command", begun(func(s *standIn) {
		s.say("tool.execution_start", object{"toolCallId": "c", "toolName": "bash"})
		s.say("tool.execution_complete", object{"toolCallId": "c"})
		<-time.After(1500 * time.Millisecond)
		s.answer("all done")
		s.end()
	})), ports.Unexpected, "last tool.execution_complete"},
	{play("a success, and a bad end", func(s *standIn) {
		s.succeed()
		os.Exit(3)
	}), ports.Unexpected, "exit status 3"},
	{play("an end without an answer", begun((*standIn).end)), ports.Unexpected, "without an answer"},
	{play("a silent end before the request was sent", func(s *standIn) {
		s.answer("all done")
		s.say("session.idle", object{})
		s.await("")
	}), ports.Unexpected, "wrote nothing for"},
	{play("the silent end of another session", begun(func(s *standIn) {
		for _, kind := range []string{"assistant.message", "session.idle"} {
			s.write(object{"method": "session.event", "params": object{"sessionId": "s2", "event": object{"type": kind, "data": object{"content": "x"}}}})
		}
		s.await("")
	})), ports.Unexpected, "last nothing"},
	{play("an answer, and then an error", begun(func(s *standIn) {
		s.answer("all is well")
		s.fail(object{"errorType": "query", "message": "it broke"})
	})), ports.Unexpected, "it broke"},
	{play("an aborted turn", begun(func(s *standIn) {
		s.answer("half")
		s.say("session.idle", object{"aborted": true})
		s.await("")
	})), ports.Unexpected, "aborted"},
	{play("a success after failures", begun(func(s *standIn) {
		s.say("model.call_failure", object{"statusCode": 500, "retryAttempt": 0, "errorMessage": `{"message":"boom"}`})
		s.answer("all done")
		s.end()
	})), "", ""},
	{play("a failure too many", begun(func(s *standIn) {
		for n := range 6 {
			s.say("model.call_failure", object{"statusCode": 503, "retryAttempt": n, "errorMessage": `{"message":"busy"}`})
		}
		s.await("")
	})), ports.Unavailable, "busy"},
	{play("a nested agent that fails", begun(func(s *standIn) {
		s.say("model.call_failure", object{"statusCode": 500, "retryAttempt": 9}, object{"agentId": "a"})
		s.answer("all done")
		s.end()
	})), "", ""},
	{play("a command that runs on", begun(func(s *standIn) {
		s.answer("all done")
		s.say("assistant.idle", object{})
		s.await("")
	})), "", ""},
	{play("nobody is logged in", failing(object{"errorType": "query", "message": "Execution failed: InvalidArg, No GitHub OAuth token or Copilot HMAC key provided"})), ports.Unavailable, "COPILOT_PROVIDER_API_KEY"},
	{play("a policy", failing(object{"errorType": "policy", "message": "the organization has turned it off"})), ports.Denied, "turned it off"},
	{play("no money", failing(object{"errorType": "query", "statusCode": 402, "message": "402 pay"})), ports.Unavailable, "cannot pay"},
	{play("a conversation that has become too long", begun(func(s *standIn) {
		s.answer("half")
		s.fail(object{"errorType": "context_limit", "message": "too many tokens"})
	})), "", "limit"},
	{play("an answer that is cut off", begun(func(s *standIn) {
		s.say("assistant.usage", object{"inputTokens": 1, "outputTokens": 1, "finishReason": "length"})
		s.say("assistant.message", object{"messageId": "m", "content": "half"})
		s.end()
	})), "", "limit"},
	{play("a long message", begun(func(s *standIn) {
		s.say("model.messages_snapshot", object{"x": strings.Repeat("x", 30<<20)})
		s.answer("all done")
		s.end()
	})), "", ""},
	{play("an oversized message", begun(func(s *standIn) {
		const size = 65 << 20
		s.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n", size))
		for range size >> 20 {
			s.raw(strings.Repeat("x", 1<<20))
		}
		s.answer("all done")
		s.end()
	})), "", ""},
	{play("noise", begun(func(s *standIn) {
		s.raw("Warning: old\nContent-Length: 5\r\n\r\n{nopeContent-Length: 2\r\n\r\n[]")
		s.answer("all done")
		s.end()
	})), "", ""},
	{play("only noise", begun(func(s *standIn) { s.raw("Content-Length: 5\r\n\r\n{nope") })), ports.Unexpected, `"{nope"`},
	{play("a message that is cut off", begun(func(s *standIn) { s.raw("Content-Length: 500\r\n\r\n{\"a\"") })), ports.Unexpected, "before its turn did"},
	{play("events of other kinds", begun(func(s *standIn) {
		s.say("assistant.message", object{"content": 7})
		s.write(object{"method": "session.event", "params": []int{1}})
		s.write(object{"method": "session.event", "params": object{"event": "x"}})
		s.write(object{"id": "q", "method": "hooks.invoke", "params": object{}})
		s.answer("all done")
		s.end()
	})), "", ""},
	{mute, ports.Unavailable, "unknown option"},
	{play("it knows no sessions", func(s *standIn) { s.refuse("session.create", "Unhandled method session.create") }), ports.Unavailable, "AGL works with version"},
	{play("it knows no such model", func(s *standIn) { s.refuse("session.create", "Model fake-model is not available") }), ports.Invalid, "fake-model"},
	{play("it takes no prompt", func(s *standIn) { s.refuse("session.send", "no") }), ports.Unavailable, "session.send"},
}

func TestAnOutcomeIsHonest(t *testing.T) {
	t.Parallel()
	for _, tt := range outcomes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := copilot.Options{}
			if strings.Contains(tt.name, "silen") {
				opts.Idle = time.Second
			}
			agent, _ := standsIn(t, opts, tt.name)
			o, err := agent.Run(t.Context(), request(t, "hi"), silent)
			want := ports.StopCompleted
			if tt.says != "" {
				want = ports.StopReason(tt.says)
			}
			if err == nil && o.Stop != want {
				t.Errorf("the stop reason is %q, want %q", o.Stop, want)
			}
			if (err == nil) != (tt.kind == "") || ports.KindOf(err) != tt.kind || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q: %v; want %q, saying %q", ports.KindOf(err), err, tt.kind, tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
		})
	}
}

// Case B1.
var stays = play("it does not end", func(s *standIn) {
	s.keep("pid", fmt.Append(nil, os.Getpid()))
	s.succeed()
	select {}
})

func TestAProgramThatDoesNotEndAfterItsTurnIsEndedAndHasSucceeded(t *testing.T) {
	t.Parallel()
	agent, out := standsIn(t, copilot.Options{Grace: 300 * time.Millisecond}, stays)
	o, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	want := ports.Outcome{Stop: ports.StopCompleted, Text: "all done", Session: "s1", Usage: ports.Usage{Input: 10, Output: 2, Complete: true}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	pid, err := os.ReadFile(filepath.Join(out, "pid"))
	require.NoError(t, err)
	if stat, err := os.ReadFile("/proc/" + string(pid) + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("it still runs: %s", stat)
	}
}

var (
	limitedFor = play("a limit of hours", failing(object{"errorType": "rate_limit", "message": "You have hit a limit. Please try again in 3 hours."}))
	limited    = play("a limit", failing(object{"errorType": "rate_limit", "statusCode": 429, "message": "429 slow down"}))
	quota      = play("a quota", func(s *standIn) {
		s.begin()
		s.say("session.error", object{"errorType": "quota", "errorCode": "quota_exceeded", "message": "You have no quota left"})
		s.say("assistant.idle", object{})
		s.say("session.idle", object{})
		s.answerWith("account.getQuota", object{"quotaSnapshots": object{
			"chat":                 object{"remainingPercentage": 80, "resetDate": "2026-12-24T00:00:00Z"},
			"premium_interactions": object{"remainingPercentage": 0, "resetDate": "2027-01-01T00:00:00.000Z"},
		}})
		s.await("")
	})
)

func TestTheEndOfALimitIsKept(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]time.Time{
		limitedFor: time.Now().Add(3 * time.Hour), limited: {}, quota: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		agent, _ := standsIn(t, copilot.Options{}, name, "COPILOT_PROVIDER_BASE_URL=") // GitHub's models
		_, err := agent.Run(t.Context(), request(t, "hi"), silent)
		var limit *ports.LimitError
		require.ErrorAs(t, err, &limit, name)
		if limit.Reset.Sub(want).Abs() > time.Minute {
			t.Errorf("%s: it ends at %v, want %v", name, limit.Reset, want)
		}
	}
}

// Case B17.
var usages = map[string]ports.Usage{
	play("no usage", begun(func(s *standIn) {
		s.say("assistant.message", object{"content": "done"})
		s.end()
	})): {},
	play("usage without figures", begun(func(s *standIn) {
		s.say("assistant.usage", object{"cacheReadTokens": 0})
		s.answer("done")
		s.end()
	})): {Input: 10, Output: 2},
	play("usage of more than there can be", begun(func(s *standIn) {
		s.say("assistant.usage", object{"inputTokens": int64(9e18), "outputTokens": int64(9e18), "cacheReadTokens": -5})
		s.say("assistant.usage", object{"inputTokens": int64(9e18), "outputTokens": int64(9e18)})
		s.answer("done")
		s.end()
	})): {Input: 10, Output: 2, Complete: true},
	play("usage of null", begun(func(s *standIn) {
		s.say("assistant.usage", object{"inputTokens": nil, "outputTokens": 3})
		s.say("assistant.message", object{"content": "done"})
		s.end()
	})): {Output: 3},
	play("a compaction", begun(func(s *standIn) {
		s.say("session.compaction_start", object{})
		s.say("session.compaction_complete", object{"success": true, "compactionTokensUsed": object{"inputTokens": 3000, "outputTokens": 150, "cacheReadTokens": 600}})
		s.answer("done")
		s.end()
	})): {Input: 2410, Output: 152, Cached: 600, Complete: true},
	play("a compaction that goes on", begun(func(s *standIn) {
		s.say("session.compaction_start", object{})
		s.answer("done")
		s.end()
	})): {Input: 10, Output: 2},
	play("a compaction of which nothing is told", begun(func(s *standIn) {
		s.say("session.compaction_complete", object{"success": false})
		s.answer("done")
		s.end()
	})): {Input: 10, Output: 2},
	play("usage of a nested agent", begun(func(s *standIn) {
		s.say("assistant.usage", object{"inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 40, "reasoningTokens": 7}, object{"agentId": "a"})
		s.answer("done")
		s.end()
	})): {Input: 70, Output: 22, Cached: 40, Reasoning: 7, Complete: true},
}

func TestUsageThatIsNotToldIsNotComplete(t *testing.T) {
	t.Parallel()
	for name, want := range usages {
		agent, _ := standsIn(t, copilot.Options{}, name)
		o, err := agent.Run(t.Context(), request(t, "hi"), silent)
		require.NoError(t, err)
		if diff := cmp.Diff(want, o.Usage); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

var asks = play("it calls a tool", begun(func(s *standIn) {
	s.say("external_tool.requested", object{"requestId": "r1", "toolName": "ask", "arguments": object{"q": 1}})
	s.keep("answer", s.await("session.tools.handlePendingToolCall"))
	s.say("external_tool.completed", object{"requestId": "r1"})
	s.answer("all done")
	s.end()
}))

// Case B15: nothing but the turn's own end hurries a person.
func TestAToolMayTakeLongerThanTheIdleLimit(t *testing.T) {
	t.Parallel()
	agent, out := standsIn(t, copilot.Options{Idle: time.Second}, asks)
	task := request(t, "hi")
	task.Tools = []ports.Tool{{Name: "ask", Call: func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
		select {
		case <-time.After(2500 * time.Millisecond):
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

var (
	dies = play("it ends in a call", begun(func(s *standIn) {
		s.say("external_tool.requested", object{"requestId": "r1", "toolName": "ask", "arguments": object{}})
		os.Exit(1)
	}))
	takesBack = play("it takes a call back", begun(func(s *standIn) {
		s.say("external_tool.requested", object{"requestId": "r1", "toolName": "ask", "arguments": object{}})
		s.say("external_tool.completed", object{"requestId": "r1"})
		s.await("session.tools.handlePendingToolCall") // which comes when the tool has returned
		s.answer("all done")
		s.end()
	}))
)

func TestACallEndsWithItsProgramAndWhenItIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]ports.Kind{dies: ports.Unexpected, takesBack: ""} {
		agent, _ := standsIn(t, copilot.Options{}, name)
		task := request(t, "hi")
		ended := false
		task.Tools = []ports.Tool{{Name: "ask", Call: func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
			<-ctx.Done()
			ended = true
			return ports.ToolResult{}
		}}}
		_, err := agent.Run(t.Context(), task, silent)
		require.Equal(t, kind, ports.KindOf(err), "%s: %v", name, err)
		require.True(t, ended, "Run returned before the tool had")
	}
}

var interrupted = map[string]string{
	"it obeys": play("it obeys", begun(func(s *standIn) {
		s.answer("all done")
		s.keep("abort", s.await("session.abort"))
		s.say("assistant.usage", object{"inputTokens": 7, "outputTokens": 1})
		s.say("session.idle", object{"aborted": true})
		s.await("")
	})),
	"it is deaf": play("it is deaf", begun(func(s *standIn) {
		s.answer("all done")
		select {}
	})),
	"it reads on": play("it reads on", begun(func(s *standIn) {
		s.answer("all done")
		s.await("")
		select {}
	})),
}

func TestACancelledTurnIsInterruptedAndThenEnded(t *testing.T) {
	t.Parallel()
	for name, body := range interrupted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, out := standsIn(t, copilot.Options{Grace: 600 * time.Millisecond}, body)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o, err := agent.Run(ctx, request(t, "hi"), func(e ports.AgentEvent) {
				if e.Kind == ports.AgentText {
					cancel()
				}
			})
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, ports.KindOf(err))
			require.False(t, o.Usage.Complete)
			want := 12
			if name == "it obeys" {
				want = 20
				require.FileExists(t, filepath.Join(out, "abort"))
			}
			require.EqualValues(t, want, o.Usage.Tokens())
		})
	}
}

func TestARequestThatIsTooLongIsInvalidAndStartsNothing(t *testing.T) {
	t.Parallel()
	agent, out := standsIn(t, copilot.Options{}, "a success")
	_, err := agent.Run(t.Context(), request(t, strings.Repeat("x", copilot.MaxPrompt+1)), silent)
	require.ErrorIs(t, err, ports.Invalid)
	_, err = os.Stat(filepath.Join(out, "create"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

var ready = map[string]string{
	"": play("logged in", func(s *standIn) { s.answerWith("auth.getStatus", object{"isAuthenticated": true}) }),
	"login\"": play("logged out", func(s *standIn) {
		s.answerWith("auth.getStatus", object{"isAuthenticated": false, "statusMessage": "Not authenticated"})
	}),
	"Not":              play("another program", func(s *standIn) { s.refuse("auth.getStatus", "Not known") }),
	"unknown option":   mute,
	"does not say whe": play("it says nothing", func(s *standIn) { s.answerWith("auth.getStatus", object{}) }),
}

func TestAProgramThatIsNotReadyIsUnavailable(t *testing.T) {
	t.Parallel()
	for says, name := range ready {
		agent, _ := standsIn(t, copilot.Options{}, name, "COPILOT_PROVIDER_BASE_URL=")
		err := agent.Ready(t.Context(), "copilot/fake-model")
		if says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ports.Unavailable, name)
		require.ErrorContains(t, err, says, name)
	}
	agent, _ := standsIn(t, copilot.Options{}, ready["login\""]) // with a provider of one's own
	require.NoError(t, agent.Ready(t.Context(), "copilot/fake-model"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.True(t, errors.Is(agent.Ready(ctx, "copilot/fake-model"), context.Canceled))
}
