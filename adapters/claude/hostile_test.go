//go:build unix

package claude_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/ports"
)

func TestASuccessThatIsContradictedIsNone(t *testing.T) {
	t.Parallel()
	with := func(old, change string) string { return say(said) + say(strings.Replace(success, old, change, 1)) }
	for name, body := range map[string]string{
		"no answer of the model": say(success),
		"no is_error":            with(`"is_error":false,`, ``),
		"another is_error":       with(`"is_error":false`, `"is_error":"true"`),
		"an error's status":      with(`"terminal_reason":"completed"`, `"api_error_status":401`),
		"an error's reason":      with(`"completed"`, `"aborted_tools"`),
		"a refusal":              with(`"terminal_reason":"completed"`, `"stop_reason":"refusal"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := standIn(t, claude.Options{}, body)
			o, err := agent.Run(t.Context(), request(t, "hi"), silent)
			require.Error(t, err)
			require.Empty(t, o.Stop)
		})
	}
}

// A program that asks and does not read would fill what is written to it.
func TestAProgramThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	const asks = `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo '{"type":"control_request","request_id":"r","request":{"subtype":"x"}}'; done; `
	for name, body := range map[string]string{"its input is open": "", "its input is closed": "exec <&-; "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := standIn(t, claude.Options{Idle: 2 * time.Second}, body+asks+"exec sleep 60")
			_, err := agent.Run(t.Context(), request(t, "hi"), silent)
			require.ErrorIs(t, err, ports.Unexpected)
			require.ErrorIs(t, err, context.DeadlineExceeded)

			agent, _ = standIn(t, claude.Options{}, body+asks+"exec sleep 60")
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err = agent.Run(ctx, request(t, "hi"), silent)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Empty(t, ports.KindOf(err))
		})
	}
}

func TestTheRequestIsSentOnce(t *testing.T) {
	t.Parallel()
	ready := say(`{"type":"control_response","response":{"subtype":"success","request_id":"agl-initialize"}}`)
	agent, out := standIn(t, claude.Options{}, ready+say(said)+say(success)+"cat >$OUT/more")
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	more, err := os.ReadFile(filepath.Join(out, "more"))
	require.NoError(t, err)
	require.Empty(t, string(more))
}

func TestWhatAProgramCallsThingsIsOneShortLine(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		say(`{"type":"result","is_error":true,"terminal_reason":"x\u001b]0;y\u0007\n"}`),
		say(`{"type":"assistant","error":"x\u001b[2J\ny","message":{}}`) + say(`{"type":"result","is_error":true}`),
		say(`{"type":"system","subtype":"init","session_id":"x\u001b[2J\n"}`) + say(said) +
			say(strings.Replace(success, `"session_id":"s1"`, `"permission_denials":[{"tool_name":"x\u001b[2J\ny"}]`, 1)),
		`printf '{"type":"\\u001b[2J\\n'; head -c 5000000 /dev/zero | tr '\0' x; echo '"}'`,
	} {
		agent, _ := standIn(t, claude.Options{}, body)
		o, err := agent.Run(t.Context(), request(t, "hi"), silent)
		text := o.Session + strings.Join(o.Denied, "")
		if err != nil {
			text += err.Error()
		}
		if len(text) > 2000 || strings.ContainsAny(text, "\x1b\a\n") {
			t.Errorf("%d bytes: %.200q", len(text), text)
		}
	}
}

func TestALimitWithoutARealEndHasNone(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"-5", "0", "1e300", "1800000000000", "253402300800", `"NaN"`, "1e400"} {
		agent, _ := standIn(t, claude.Options{}, say(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":`+at+`}}`)+
			say(`{"type":"result","is_error":true,"api_error_status":429,"total_cost_usd":-5}`))
		o, err := agent.Run(t.Context(), request(t, "hi"), silent)
		var limit *ports.LimitError
		require.ErrorAs(t, err, &limit, at)
		require.Zero(t, limit.Reset, at)
		require.GreaterOrEqual(t, o.Usage.Cost, 0.0)
		_, err = json.Marshal(limit)
		require.NoError(t, err, "it has to be recorded")
	}
}
