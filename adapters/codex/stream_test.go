//go:build unix

package codex_test

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// Case B1.
func TestAProgramThatDoesNotEndAfterItsTurnIsEndedAndHasSucceeded(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, codex.Options{Grace: 200 * time.Millisecond}, "echo $$ >$OUT/pid; trap '' TERM\n"+say(said)+say(used)+say(success)+"while :; do sleep 0.05; done")
	began := time.Now()
	o, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	require.Less(t, time.Since(began), 10*time.Second)
	want := ports.Outcome{
		Stop: ports.StopCompleted, Text: "all done", Session: "T", Usage: ports.Usage{Input: 10, Cached: 20, Output: 2, Reasoning: 1, Complete: true},
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
	agent, out := standIn(t, codex.Options{Grace: time.Minute}, say(said)+say(used)+say(success)+"cat >/dev/null; touch $OUT/waits; exec sleep 600")
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

// Cases B2, B3, B6, B7, and the rest of the table in the package's documentation
// that the service cannot be made to bring about.
func TestAnOutcomeIsHonest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		kind       ports.Kind // "": a success
		says       string     // in the error, or the stop reason of a success that is not complete
	}{
		{"a success", say(said) + say(success), "", ""},
		{"no end of the turn, and a good end", say(said), ports.Unexpected, "before its turn had, last item/completed agentMessage"},
		{"no end of the turn, and a bad end", say(said) + "echo out of memory >&2; exit 3", ports.Unexpected, "out of memory"},
		{"killed", say(said) + "kill -KILL $$", ports.Unexpected, "killed"},
		{"silence", say(said) + "sleep 60", ports.Unexpected, "told of nothing for"},
		{
			"a service that is asked again and again",
			"while :; do\n" + say(`{"method":"error","params":{"threadId":"T","willRetry":true,"error":{"message":"idle timeout"}}}`) + "sleep 0.1; done", ports.Unexpected, "told of nothing for",
		},
		{"a success, and a bad end", say(said) + say(success) + "exit 3", ports.Unexpected, "exit status 3"},
		{"the end of another turn", say(strings.ReplaceAll(success, `"T"`, `"nested"`)) + "exit", ports.Unexpected, "before its turn had"},
		{
			"a success with an error", say(strings.Replace(success, `"error":null`, `"error":{"message":"it broke"}`, 1)),
			ports.Unexpected, "it broke",
		},
		{"an interruption by nobody", say(strings.Replace(success, "completed\"", "interrupted\"", 2)), ports.Unexpected, "interrupted"},
		{"an error without a class", say(failed("it broke", `null`)), ports.Unexpected, "it broke"},
		{"an error of another class", say(failed("it broke", `{"odd":7}`)), ports.Unexpected, "it broke"},
		{"a spent budget", say(failed("no more", `"sessionBudgetExceeded"`)), ports.Denied, "budget"},
		{"a policy", say(failed("not this", `"cyberPolicy"`)), ports.Denied, "refuses"},
		{"too many denials", say(failed("not this", `"tooManyDenials"`)), ports.Denied, "refuses"},
		{"a sandbox that does not work", say(failed("no namespaces", `"sandboxError"`)), ports.Unavailable, "sandbox"},
		{"a login that is over", say(failed("expired", `"unauthorized"`)), ports.Unavailable, "login"},
		{"a service that is not reached", say(failed("refused", `{"httpConnectionFailed":{"httpStatusCode":null}}`)), ports.Unavailable, "does not answer"},
		{"an account that cannot pay", say(failed("pay", `{"httpConnectionFailed":{"httpStatusCode":402}}`)), ports.Unavailable, "cannot pay"},
		{"a service that is too slow", say(failed("timeout", `{"httpConnectionFailed":{"httpStatusCode":408}}`)), ports.Unavailable, "does not answer"},
		{"a stream that was cut", say(failed("cut", `{"responseStreamDisconnected":{"httpStatusCode":null}}`)), ports.Unexpected, "cut"},
		{"a rate limit", say(failed("slow", `"rateLimitExceeded"`)), ports.Unavailable, "slow"},
		{"no key", say(failed("Missing environment variable: `X`.", `"other"`)), ports.Unavailable, "Set it"},
		{"a conversation that has become too long", say(said) + say(failed("no room", `"contextWindowExceeded"`)), "", "limit"},
		{
			"a success after failures", say(`{"method":"error","params":{"threadId":"T","willRetry":true,"error":{"message":"Reconnecting","codexErrorInfo":"other"}}}`) +
				say(said) + say(success),
			"", "",
		},
		{"a long line", `printf '{"method":"x","params":"'; head -c 30000000 /dev/zero | tr '\0' x; echo '"}'` + "\n" + say(said) + say(success), "", ""},
		{"noise", "echo Warning: old; printf '\\357\\273\\277{\"method\":\"x\"}{\"method\":\"y\"}\\r\\n'; echo '{nope'\n" + say(said) + say(success), "", ""},
		{"only noise", "echo '{nope'", ports.Unexpected, `"{nope"`},
		{"lines of other kinds", say(`{"method":"item/completed","params":"text"}`) + say(`{"id":77,"result":1}`) + say(`{"method":7}`) + say(said) + say(success), "", ""},
		{"a success without the model", say(success), ports.Unexpected, "without an answer of the model"},
		{"an end before its thread is known", say(strings.Replace(success, `"threadId":"T",`, ``, 1)) + "exit", ports.Unexpected, "before its turn had"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := codex.Options{}
			if strings.HasPrefix(tt.says, "told of nothing") {
				opts.Idle = 2 * time.Second
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
	agent, _ := standIn(t, codex.Options{}, say(`{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":100,"resetsAt":1800000000},"secondary":{"usedPercent":40,"resetsAt":1900000000}}}}`)+
		say(`{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":null}}}`)+say(failed("limit", `"usageLimitExceeded"`)))
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	var limit *ports.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, int64(1800000000), limit.Reset.Unix())
}

// Case B17, and nested agents.
func TestUsageIsSummedOverThreadsAndNotCompleteIfItIsNotTold(t *testing.T) {
	t.Parallel()
	tell := func(thread, total string) string {
		return say(`{"method":"thread/tokenUsage/updated","params":{"threadId":"` + thread + `","tokenUsage":{"total":` + total + `}}}`)
	}
	for told, want := range map[string]ports.Usage{
		``:                {},
		tell("T", `null`): {},
		tell("T", `{"inputTokens":"12","outputTokens":3.0,"cachedInputTokens":null}`): {Input: 12, Output: 3, Complete: true},
		// Sums do not add up with themselves, nor fall.
		tell("T", `{"inputTokens":5,"cachedInputTokens":2,"outputTokens":1}`) + tell("T", `{"inputTokens":9,"cachedInputTokens":2,"outputTokens":3,"reasoningOutputTokens":2}`) +
			tell("T", `{}`): {Input: 7, Cached: 2, Output: 3, Reasoning: 2, Complete: true},
		// A nested agent has a thread of its own.
		tell("T", `{"inputTokens":5,"outputTokens":1}`) + tell("nested", `{"inputTokens":3,"outputTokens":2}`) + tell("nested", `{"inputTokens":4,"outputTokens":2}`): {
			Input: 9, Output: 3, Complete: true,
		},
	} {
		agent, _ := standIn(t, codex.Options{}, told+say(said)+say(success))
		o, err := agent.Run(t.Context(), request(t, "hi"), silent)
		require.NoError(t, err)
		want.Complete = strings.Contains(told, "Tokens")
		if diff := cmp.Diff(want, o.Usage); diff != "" {
			t.Errorf("%s (-want +got):\n%s", told, diff)
		}
	}
}

func TestWhatWasRefusedIsNamedOnce(t *testing.T) {
	t.Parallel()
	ask := say(`{"id":7,"method":"item/commandExecution/requestApproval","params":{"itemId":"x"}}`) + "read -r A; printf '%s\\n' \"$A\" >>$OUT/answers\n"
	agent, out := standIn(t, codex.Options{}, ask+ask+say(`{"id":8,"method":"item/fileChange/requestApproval","params":{}}`)+"read -r A\n"+
		say(`{"id":9,"method":"item/tool/requestUserInput","params":{}}`)+"read -r A; printf '%s\\n' \"$A\" >>$OUT/answers\n"+say(said)+say(success))
	o, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"exec_command", "apply_patch"}, o.Denied)
	answers, err := os.ReadFile(filepath.Join(out, "answers"))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(`{"id":7,"result":{"decision":"decline"}}`+"\n", 2)+
		`{"id":9,"error":{"code":-32601,"message":"AGL serves no item/tool/requestUserInput"}}`+"\n", string(answers))
}

// Cases B10, B13.
func TestTheCommandLineHoldsNothingOfTheRequest(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, codex.Options{}, `printf '%s' "$TURN" >$OUT/turn; printf '%s' "$THREAD" >$OUT/thread; tr '\0' '\n' </proc/$$/cmdline >$OUT/args`+"\n"+say(said)+say(success))
	task := request(t, strings.Repeat("a long request, ", 1<<13)+"to its end")
	task.Model = "codex/some model --dangerously"
	task.Restrictions = []ports.Restriction{ports.NoWrite, ports.NoShell, ports.NoNetwork}
	task.Tools = []ports.Tool{{Name: "ask", Doc: "Asks.", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)}}
	_, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)
	var line struct {
		Params struct {
			Input         []struct{ Text string }
			SandboxPolicy map[string]any
		}
	}
	doc, err := os.ReadFile(filepath.Join(out, "turn"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(doc, &line))
	require.Equal(t, task.Instructions, line.Params.Input[0].Text)

	// Golden: an optional property stays one, and null is no value of it (case C3):
	// Codex does not make such a tool strict.
	doc, err = os.ReadFile(filepath.Join(out, "thread"))
	require.NoError(t, err)
	var thread struct{ Params map[string]any }
	require.NoError(t, json.Unmarshal(doc, &thread))
	p := thread.Params
	config := p["config"].(map[string]any)
	require.Equal(t, []any{map[string]any{
		"type": "function", "name": "ask", "description": "Asks.", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"q": map[string]any{"type": "string"}}},
	}}, p["dynamicTools"])
	require.Equal(t, "some model --dangerously", p["model"])
	require.Equal(t, "read-only", p["sandbox"])
	require.Equal(t, "never", p["approvalPolicy"])
	require.Equal(t, "disabled", config["web_search"])
	features := config["features"].(map[string]any)
	for _, name := range []string{"hooks", "plugins", "multi_agent", "shell_tool", "unified_exec"} {
		require.Equal(t, false, features[name], name)
	}
	require.Equal(t, map[string]any{"type": "readOnly", "networkAccess": false}, line.Params.SandboxPolicy)
	require.Equal(t, 0.0, config["project_doc_max_bytes"])
	require.Contains(t, p["developerInstructions"], "Run no commands.")

	args, err := os.ReadFile(filepath.Join(out, "args"))
	if os.IsNotExist(err) {
		t.Skip("there is no /proc")
	}
	require.NoError(t, err)
	require.NotContains(t, string(args), "request")
	require.NotContains(t, string(args), "model")
	require.Contains(t, string(args), "app-server\n-c\nanalytics.enabled=false\n")
}

func TestARequestThatIsTooLongIsInvalidAndStartsNothing(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, codex.Options{}, "touch $OUT/started\n"+say(success))
	_, err := agent.Run(t.Context(), request(t, strings.Repeat("é", codex.MaxPrompt+1)), silent)
	require.ErrorIs(t, err, ports.Invalid)
	require.NoFileExists(t, filepath.Join(out, "started"))
}

func TestASandboxThatDoesNotHoldTheAgentIsRefused(t *testing.T) {
	t.Parallel()
	for _, sandbox := range []string{`{"type":"dangerFullAccess"}`, `{"type":"workspaceWrite","networkAccess":false}`, `{"type":"readOnly","networkAccess":true}`, `null`} {
		agent, _ := standInOn(t, codex.Options{}, `{"id":2,"result":{"thread":{"id":"T"},"sandbox":`+sandbox+`}}`, say(said)+say(success))
		_, err := agent.Run(t.Context(), request(t, "hi"), silent)
		require.ErrorIs(t, err, ports.Unavailable)
		require.ErrorContains(t, err, "restrictions")
	}
}

func TestATurnThatIsNotInItsSandboxIsEnded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		restrictions []ports.Restriction
		sandbox      string
		kind         ports.Kind
	}{
		{nil, `{"type":"dangerFullAccess"}`, ""},
		{nil, `{"type":"readOnly"}`, ""}, // an administrator's decree: the agent sees what it cannot do
		{[]ports.Restriction{ports.NoVCS}, `{"type":"workspaceWrite","networkAccess":false}`, ""},
		{[]ports.Restriction{ports.NoVCS}, `{"type":"readOnly","networkAccess":false}`, ""},
		{[]ports.Restriction{ports.NoVCS}, `{"type":"workspaceWrite","networkAccess":true}`, ports.Unavailable},
		{[]ports.Restriction{ports.NoVCS}, `{"type":"dangerFullAccess"}`, ports.Unavailable},
		{[]ports.Restriction{ports.NoWrite}, `{"type":"workspaceWrite","networkAccess":false}`, ports.Unavailable},
	} {
		agent, _ := standIn(t, codex.Options{}, say(`{"method":"thread/settings/updated","params":{"threadId":"T","threadSettings":{"sandboxPolicy":`+tt.sandbox+`}}}`)+say(said)+say(success))
		task := request(t, "hi")
		task.Restrictions = tt.restrictions
		if _, err := agent.Run(t.Context(), task, silent); ports.KindOf(err) != tt.kind {
			t.Errorf("restrictions %v, sandbox %s: %v, want %q", tt.restrictions, tt.sandbox, err, tt.kind)
		}
	}
}

func TestSettingsThatAreNotTakenAreUnavailable(t *testing.T) {
	t.Parallel()
	agent, _ := standInOn(t, codex.Options{}, `{"id":2,"error":{"code":-32600,"message":"what are dynamicTools?"}}`, say(success))
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "what are dynamicTools?")
}

// call is a line by which the program calls a tool.
func call(id int, name string) string {
	return fmt.Sprintf(`{"id":%d,"method":"item/tool/call","params":{"threadId":"T","turnId":"U","callId":"c%[1]d","namespace":null,"tool":%q,"arguments":{}}}`, id, name)
}

// Case B15: nothing but the turn's own end hurries a person.
func TestAToolMayTakeLongerThanTheIdleLimit(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, codex.Options{Idle: 2 * time.Second}, say(call(0, "ask"))+"read -r ANSWER; printf '%s' \"$ANSWER\" >$OUT/answer\n"+say(said)+say(success))
	task := request(t, "hi")
	task.Tools = []ports.Tool{{Name: "ask", Call: func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
		}
		return ports.ToolResult{Text: "after a while"}
	}}}
	_, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)
	answer, err := os.ReadFile(filepath.Join(out, "answer"))
	require.NoError(t, err)
	require.Equal(t, `{"id":0,"result":{"contentItems":[{"text":"after a while","type":"inputText"}],"success":true}}`, string(answer))
}

func TestACallThatIsNotWaitedForAnyMoreIsCancelled(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"its item is over": say(`{"method":"item/completed","params":{"threadId":"T","item":{"type":"dynamicToolCall","id":"c1","status":"failed","success":false}}}`) + "read -r ANSWER\n" + say(said) + say(success),
		"its turn is over": say(said) + say(success),
		"its program is":   "exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := standIn(t, codex.Options{}, say(call(1, "ask"))+body)
			task := request(t, "hi")
			ended := false
			task.Tools = []ports.Tool{{Name: "ask", Call: func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
				<-ctx.Done()
				ended = true
				return ports.ToolResult{}
			}}}
			_, err := agent.Run(t.Context(), task, silent)
			require.Equal(t, name == "its program is", err != nil, err)
			require.True(t, ended, "Run returned before the tool had")
		})
	}
}

func TestACancelledTurnIsInterruptedAndThenEnded(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"it obeys":       "read -r LINE; printf '%s' \"$LINE\" >$OUT/line\n" + say(used) + say(strings.Replace(success, "completed\"", "interrupted\"", 2)) + "exit 1",
		"it is deaf":     "trap '' TERM; while :; do sleep 0.05; done",
		"it reads on":    "cat >/dev/null; sleep 60",
		"it has spawned": "sleep 60 & wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, out := standIn(t, codex.Options{Grace: 400 * time.Millisecond}, say(said)+body)
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
			if name == "it obeys" {
				require.EqualValues(t, 12, o.Usage.Tokens())
				line, err := os.ReadFile(filepath.Join(out, "line"))
				require.NoError(t, err)
				require.Contains(t, string(line), `"method":"turn/interrupt"`)
			}
		})
	}
}

func TestTurnsThatBeginAtOnceAskForTheConfigurationOnce(t *testing.T) {
	t.Parallel()
	agent, out := standIn(t, codex.Options{}, say(said)+say(success))
	var turns sync.WaitGroup
	for range 4 {
		task := request(t, "hi")
		turns.Go(func() {
			_, err := agent.Run(t.Context(), task, silent)
			assert.NoError(t, err)
		})
	}
	turns.Wait()
	asked, err := os.ReadFile(filepath.Join(out, "asked"))
	require.NoError(t, err)
	require.Equal(t, "\n", string(asked))
}

func TestAProgramThatIsNotReadyIsUnavailable(t *testing.T) {
	t.Parallel()
	standIn, _ := standIn(t, codex.Options{}, "")
	err := standIn.Ready(t.Context(), "codex/x")
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "login --with-api-key")
	for name, tt := range map[string]struct{ script, says string }{
		"another one":  {`echo "unknown command app-server" >&2; exit 2`, "unknown command app-server"},
		"it is silent": {`exit 0`, "says nothing"},
		"it refuses":   {"read -r X\n" + say(`{"id":1,"error":{"code":-32600,"message":"too old"}}`), "too old"},
	} {
		program := filepath.Join(t.TempDir(), "codex")
		gittest.Program(t, program, "#!/bin/sh\n"+tt.script)
		err := codex.New(codex.Options{Program: program, Env: vendortest.CodexEnv(t, "")}).Ready(t.Context(), "codex/x")
		require.ErrorIs(t, err, ports.Unavailable, name)
		require.ErrorContains(t, err, tt.says, name)
	}
}
