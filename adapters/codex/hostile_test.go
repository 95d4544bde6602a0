//go:build unix

package codex_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// A program that asks and does not read would fill what is written to it.
func TestAProgramThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	agent, _ := standIn(t, codex.Options{}, `i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo '{"id":7,"method":"item/tool/call","params":{"callId":"c","tool":"x"}}'; done; exec sleep 60`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := agent.Run(ctx, request(t, "hi"), silent)
		ended <- err
	}()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

func TestWhatAProgramCallsThingsIsOneShortLine(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		say(failed("x", `"x\u001b[2J\ny"`)),
		say(`{"method":"item/completed","params":{"threadId":"T","item":{"type":"x\u001b[2J\n","status":"declined"}}}`) + say(said) + say(success),
		`printf '{"method":"\\u001b[2J\\n'; head -c 5000000 /dev/zero | tr '\0' x; echo '"}'`,
	} {
		agent, _ := standIn(t, codex.Options{}, body)
		o, err := agent.Run(t.Context(), request(t, "hi"), silent)
		text := o.Session + strings.Join(o.Denied, "")
		if err != nil {
			text += err.Error()
		}
		if len(text) > 2000 || strings.ContainsAny(text, "\x1b\n") {
			t.Errorf("%d bytes: %.200q", len(text), text)
		}
	}
}

func TestALimitWithoutARealEndHasNone(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"-5", "0", "1e300", "1800000000000", "253402300800", `"NaN"`} {
		agent, _ := standIn(t, codex.Options{}, say(`{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":100,"resetsAt":`+at+`}}}}`)+
			say(failed("limit", `"usageLimitExceeded"`)))
		_, err := agent.Run(t.Context(), request(t, "hi"), silent)
		var limit *ports.LimitError
		require.ErrorAs(t, err, &limit, at)
		require.Zero(t, limit.Reset, at)
		_, err = json.Marshal(limit)
		require.NoError(t, err, "it has to be recorded")
	}
}

func TestTheLoginOfARelativeHomeIsShared(t *testing.T) {
	there, err := os.MkdirTemp(".", "home-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(there) })
	require.NoError(t, os.WriteFile(filepath.Join(there, "auth.json"), []byte("{}"), 0o600))
	agent, out := standIn(t, codex.Options{Env: append(vendortest.CodexEnv(t, "http://127.0.0.1:1"), "CODEX_HOME="+there)},
		"cat $CODEX_HOME/auth.json >$OUT/login; "+say(said)+say(success))
	_, err = agent.Run(t.Context(), request(t, "hi"), silent)
	require.NoError(t, err)
	login, err := os.ReadFile(filepath.Join(out, "login"))
	require.NoError(t, err)
	require.Equal(t, "{}", string(login))
}
