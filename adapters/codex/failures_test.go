package codex_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

func TestEachFailureOfTheServiceHasItsKindAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reply fakeapi.Reply
		kind  ports.Kind
		says  []string
		limit time.Time // of a LimitError; the zero time: it is none
		reset bool
	}{
		"key not accepted": {
			reply: fakeapi.Reply{Status: 401, Error: "invalid_api_key", Detail: "Incorrect API key"},
			kind:  ports.Unavailable, says: []string{"codex login"},
		},
		"forbidden": {reply: fakeapi.Reply{Status: 403, Error: "forbidden", Detail: "not for you"}, kind: ports.Unavailable, says: []string{"not for you"}},
		"no credit": {
			reply: fakeapi.Reply{Status: 429, Error: "insufficient_quota", Detail: "You exceeded your current quota"},
			kind:  ports.Unavailable, says: []string{"cannot pay"},
		},
		"no such model": {reply: fakeapi.Reply{Status: 404, Error: "model_not_found", Detail: "no such model"}, kind: ports.Invalid, says: []string{`"fake-model"`}},
		"too long": {
			reply: fakeapi.Reply{Status: 400, Error: "context_length_exceeded", Detail: "too long"},
			kind:  ports.Invalid, says: []string{"too long"},
		},
		"too large":  {reply: fakeapi.Reply{Status: 413, Error: "too_large", Detail: "large"}, kind: ports.Invalid, says: []string{"too long"}},
		"rate limit": {reply: fakeapi.Reply{Status: 429, Error: "rate_limit_exceeded", Detail: "slow down"}, kind: ports.Unavailable, says: []string{"429"}, reset: true},
		"usage limit": {
			reply: fakeapi.Reply{
				Status: 429, Error: "usage_limit_reached", Detail: "limit", Fields: map[string]any{"plan_type": "plus", "resets_at": 1_900_000_000},
				Header: map[string]string{
					"x-codex-primary-used-percent": "100", "x-codex-primary-window-minutes": "300", "x-codex-primary-reset-at": "1900000000",
				},
			},
			kind: ports.Unavailable, says: []string{"usage limit"}, reset: true, limit: time.Unix(1_900_000_000, 0),
		},
		"server error":  {reply: fakeapi.Reply{Status: 500, Error: "server_error", Detail: "boom"}, kind: ports.Unavailable, says: []string{"does not answer"}},
		"overloaded":    {reply: fakeapi.Reply{Status: 503, Error: "server_is_overloaded", Detail: "busy"}, kind: ports.Unavailable, says: []string{"does not answer"}},
		"refusal":       {reply: fakeapi.Reply{Texts: []string{"I"}, Stop: "content_filter"}, kind: ports.Denied, says: []string{"refuses"}},
		"a cut stream":  {reply: fakeapi.Reply{Texts: []string{"half"}, Cut: true}, kind: ports.Unexpected, says: []string{"stream"}},
		"a bad request": {reply: fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "input.0: odd"}, kind: ports.Unexpected, says: []string{"odd"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := served(t, codex.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply { return tt.reply })
			o, err := agent.Run(t.Context(), request(t, "hi"), silent)
			if o.Stop != "" {
				t.Errorf("the stop reason is %q, want none", o.Stop)
			}
			if got := ports.KindOf(err); got != tt.kind {
				t.Errorf("the kind is %q, want %q; the error: %v", got, tt.kind, err)
			}
			for _, s := range tt.says {
				if err != nil && !strings.Contains(err.Error(), s) {
					t.Errorf("the error does not say %q: %v", s, err)
				}
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			limit := (*ports.LimitError)(nil)
			if errors.As(err, &limit) != tt.reset {
				t.Errorf("got %v; is it a LimitError: want %v", err, tt.reset)
			}
			if limit != nil && !limit.Reset.Equal(tt.limit) {
				t.Errorf("it resets at %v, want %v", limit.Reset, tt.limit)
			}
		})
	}
}

func TestAStreamThatBreaksIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fakeapi.Reply{
		"cut":       {Texts: []string{"do not count this"}, Cut: true},
		"malformed": {Texts: []string{"done"}, Malformed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := served(t, codex.Options{Retries: 1}, func(r fakeapi.Request) fakeapi.Reply {
				if r.Try == 0 {
					return reply
				}
				return fakeapi.Reply{Texts: []string{"done"}}
			})
			o, err := agent.Run(t.Context(), request(t, "hi"), silent)
			if err != nil || o.Text != "done" || o.Stop != ports.StopCompleted {
				t.Errorf("got %+v, %v; want the text of the second answer", o, err)
			}
		})
	}
}

func TestAServiceThatIsNotThereIsReportedSoon(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	program, env := vendortest.Codex(t, gone.URL)
	began := time.Now()
	_, err := codex.New(codex.Options{Program: program, Env: env}).Run(t.Context(), request(t, "hi"), silent)
	took := time.Since(began)
	if ports.KindOf(err) != ports.Unavailable || took > 30*time.Second {
		t.Errorf("after %v: %v; want Unavailable within 30 s", took, err)
	}
}

func TestAStreamThatHangsIsEndedByTheIdleLimit(t *testing.T) {
	t.Parallel()
	agent, _ := served(t, codex.Options{Idle: 8 * time.Second}, func(fakeapi.Request) fakeapi.Reply {
		return fakeapi.Reply{Texts: []string{"half"}, Hang: true}
	})
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	if ports.KindOf(err) != ports.Unexpected || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "8s") {
		t.Errorf("got %v; want Unexpected, which wraps DeadlineExceeded and names the limit", err)
	}
}
