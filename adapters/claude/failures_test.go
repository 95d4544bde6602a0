package claude_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// A failure is one of the service's, and what is to be made of it.
type failure struct {
	reply fakeapi.Reply
	kind  ports.Kind
	says  []string
	limit bool
}

// failures are those of the service, by what is wrong.
var failures = map[string]failure{
	"key not accepted": {
		reply: fakeapi.Reply{Status: 401, Error: "authentication_error", Detail: "invalid x-api-key"},
		kind:  ports.Unavailable, says: []string{"auth login", "ANTHROPIC_API_KEY"},
	},
	"forbidden": {
		reply: fakeapi.Reply{Status: 403, Error: "permission_error", Detail: "not for you"},
		kind:  ports.Unavailable, says: []string{"not for you"},
	},
	"no credit": {
		reply: fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "Your credit balance is too low to access the Anthropic API."},
		kind:  ports.Unavailable, says: []string{"cannot pay", "redit"},
	},
	"no such model": {
		reply: fakeapi.Reply{Status: 404, Error: "not_found_error", Detail: "model: nope"},
		kind:  ports.Invalid, says: []string{`"haiku"`},
	},
	"too long": {
		reply: fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "prompt is too long: 250000 tokens > 200000 maximum"},
		kind:  ports.Invalid, says: []string{"too long"},
	},
	"too large": {
		reply: fakeapi.Reply{Status: 413, Error: "request_too_large", Detail: "Request exceeds the maximum size"},
		kind:  ports.Invalid, says: []string{"too l"},
	},
	"rate limit": {
		reply: fakeapi.Reply{Status: 429, Error: "rate_limit_error", Detail: "slow down", Header: map[string]string{"retry-after": "600"}},
		kind:  ports.Unavailable, says: []string{"slow down"}, limit: true,
	},
	"server error": {
		reply: fakeapi.Reply{Status: 500, Error: "api_error", Detail: "Internal server error"},
		kind:  ports.Unavailable, says: []string{"does not answer"},
	},
	"overloaded": {
		reply: fakeapi.Reply{Status: 529, Error: "overloaded_error", Detail: "Overloaded"},
		kind:  ports.Unavailable, says: []string{"does not answer"},
	},
	"refusal": {reply: fakeapi.Reply{Texts: []string{"I"}, Stop: "refusal"}, kind: ports.Denied, says: []string{"refuses"}},
	"a bad request": {
		reply: fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "messages.0: odd"},
		kind:  ports.Unexpected, says: []string{"odd"},
	},
}

func TestEachFailureOfTheServiceHasItsKindAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tt := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := served(t, claude.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply { return tt.reply })
			tt.isTold(t, agent)
		})
	}
}

func TestEachFailureIsToldAsWellOnTape(t *testing.T) {
	t.Parallel()
	for name, tt := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := taped(t, "failures", claude.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply { return tt.reply })
			tt.isTold(t, agent)
		})
	}
}

// isTold runs a turn in which the service fails.
func (tt failure) isTold(t *testing.T, agent ports.Agent) {
	t.Helper()
	o, err := agent.Run(t.Context(), request(t, "hi"), func(ports.AgentEvent) {})
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
	if limit := (*ports.LimitError)(nil); errors.As(err, &limit) != tt.limit {
		t.Errorf("got %v; is it a LimitError: want %v", err, tt.limit)
	}
}

func TestAStreamThatBreaksIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fakeapi.Reply{
		"cut":       {Texts: []string{"do not count this"}, Cut: true},
		"malformed": {Texts: []string{"do not count this"}, Malformed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := served(t, claude.Options{Retries: 1}, func(r fakeapi.Request) fakeapi.Reply {
				if r.Try == 0 {
					return reply
				}
				return fakeapi.Reply{Texts: []string{"done"}}
			})
			o, err := agent.Run(t.Context(), request(t, "hi"), func(ports.AgentEvent) {})
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
	program, env := vendortest.Claude(t, gone.URL)
	began := time.Now()
	_, err := claude.New(claude.Options{Program: program, Env: env}).Run(t.Context(), request(t, "hi"), func(ports.AgentEvent) {})
	took := time.Since(began)
	if ports.KindOf(err) != ports.Unavailable || took > 30*time.Second {
		t.Errorf("after %v: %v; want Unavailable within 30 s", took, err)
	}
}

func TestAStreamThatHangsIsEndedByTheIdleLimit(t *testing.T) {
	t.Parallel()
	agent, _ := served(t, claude.Options{Idle: 8 * time.Second}, func(fakeapi.Request) fakeapi.Reply {
		return fakeapi.Reply{Texts: []string{"half"}, Hang: true}
	})
	_, err := agent.Run(t.Context(), request(t, "hi"), func(ports.AgentEvent) {})
	if ports.KindOf(err) != ports.Unexpected || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "8s") {
		t.Errorf("got %v; want Unexpected, which wraps DeadlineExceeded and names the limit", err)
	}
}

func request(t *testing.T, prompt string) ports.Task {
	t.Helper()
	return ports.Task{Role: "worker", Namespace: ports.Base, Ordinal: 1, Model: "claude/haiku", Instructions: prompt, Dir: t.TempDir()}
}
