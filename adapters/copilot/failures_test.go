package copilot_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/agl/adapters/copilot"
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
		limit bool
		asked int // how often the service was; 0: once
	}{
		"key not accepted": {
			reply: fakeapi.Reply{Status: 401, Error: "invalid_api_key", Detail: "Incorrect API key provided"},
			kind:  ports.Unavailable, says: []string{"Authentication failed", "COPILOT_PROVIDER_API_KEY"}, asked: 3,
		},
		"forbidden": {
			reply: fakeapi.Reply{Status: 403, Error: "permission_error", Detail: "not for you"},
			kind:  ports.Unavailable, says: []string{"COPILOT_PROVIDER_API_KEY"},
		},
		"no credit": {
			reply: fakeapi.Reply{Status: 402, Error: "billing", Detail: "pay first"},
			kind:  ports.Unavailable, says: []string{"cannot pay", "pay first"},
		},
		"no such model": {
			reply: fakeapi.Reply{Status: 404, Error: "model_not_found", Detail: "The model does not exist"},
			kind:  ports.Invalid, says: []string{`"fake-model"`},
		},
		"too long": {
			reply: fakeapi.Reply{Status: 400, Error: "context_length_exceeded", Detail: "This model's maximum context length is 128000 tokens."},
			kind:  ports.Invalid, says: []string{"too long", "from a file"},
		},
		"too large": {
			reply: fakeapi.Reply{Status: 413, Error: "request_too_large", Detail: "Request exceeds the maximum size"},
			kind:  ports.Invalid, says: []string{"too long"},
		},
		"rate limit": {
			reply: fakeapi.Reply{Status: 429, Error: "rate_limit", Detail: "slow down", Header: map[string]string{"retry-after": "600"}},
			kind:  ports.Unavailable, says: []string{"slow down"}, limit: true,
		},
		"server error": {
			reply: fakeapi.Reply{Status: 500, Error: "server_error", Detail: "Internal server error"},
			kind:  ports.Unavailable, says: []string{"does not answer", "Internal"}, asked: 4,
		},
		"cut": {
			reply: fakeapi.Reply{Texts: []string{"do not count this"}, Cut: true},
			kind:  ports.Unavailable, says: []string{"does not answer"}, asked: 4,
		},
		"malformed": {
			reply: fakeapi.Reply{Texts: []string{"do not count this"}, Malformed: true},
			kind:  ports.Unavailable, says: []string{"does not answer", "parse"}, asked: 4,
		},
		"refusal": {reply: fakeapi.Reply{Texts: []string{"I"}, Stop: "content_filter"}, kind: ports.Denied, says: []string{"refuses"}},
		"a bad request": {
			reply: fakeapi.Reply{Status: 400, Error: "invalid_request_error", Detail: "messages.0: odd"},
			kind:  ports.Unexpected, says: []string{"odd"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, api := served(t, copilot.Options{Retries: 3}, func(fakeapi.Request) fakeapi.Reply { return tt.reply })
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
			if limit := (*ports.LimitError)(nil); errors.As(err, &limit) != tt.limit {
				t.Errorf("got %v; is it a LimitError: want %v", err, tt.limit)
			}
			if got := len(api.Requests()); got != max(1, tt.asked) {
				t.Errorf("the service was asked %d times, want %d", got, max(1, tt.asked))
			}
		})
	}
}

func TestAStreamThatBreaksIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fakeapi.Reply{
		"cut":       {Texts: []string{"do not count this"}, Cut: true},
		"malformed": {Texts: []string{"do not count this"}, Malformed: true},
		"busy":      {Status: 503, Error: "busy", Detail: "busy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, _ := served(t, copilot.Options{}, func(r fakeapi.Request) fakeapi.Reply {
				if r.Try == 0 {
					return reply
				}
				return fakeapi.Reply{Texts: []string{"done"}, Usage: fakeapi.Usage{Input: 10, Output: 1}}
			})
			o, err := agent.Run(t.Context(), request(t, "hi"), silent)
			if err != nil || o.Text != "done" || o.Stop != ports.StopCompleted || o.Usage.Tokens() != 11 {
				t.Errorf("got %+v, %v; want the text of the second answer, and its tokens", o, err)
			}
		})
	}
}

func TestAServiceThatIsNotThereIsReportedSoon(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	program, env := vendortest.Copilot(t, gone.URL)
	began := time.Now()
	_, err := copilot.New(copilot.Options{Program: program, Env: env}).Run(t.Context(), request(t, "hi"), silent)
	took := time.Since(began)
	if ports.KindOf(err) != ports.Unavailable || took > 30*time.Second {
		t.Errorf("after %v: %v; want Unavailable within 30 s", took, err)
	}
}

func TestAStreamThatHangsIsEndedByTheIdleLimit(t *testing.T) {
	t.Parallel()
	agent, _ := served(t, copilot.Options{Idle: 20 * time.Second}, func(fakeapi.Request) fakeapi.Reply {
		return fakeapi.Reply{Texts: []string{"half"}, Hang: true}
	})
	_, err := agent.Run(t.Context(), request(t, "hi"), silent)
	if ports.KindOf(err) != ports.Unexpected || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "20s") {
		t.Errorf("got %v; want Unexpected, which wraps DeadlineExceeded and names the limit", err)
	}
}

func TestARequestThatIsTooLongForTheModelIsInvalid(t *testing.T) {
	t.Parallel()
	agent, api := served(t, copilot.Options{Retries: -1}, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{Texts: []string{"done"}} })
	_, err := agent.Run(t.Context(), request(t, strings.Repeat("0123456789abcde\n", 1<<16)), silent)
	if ports.KindOf(err) != ports.Invalid || !strings.Contains(err.Error(), "from a file") {
		t.Errorf("got %v; want Invalid, and what to do", err)
	}
	if n := len(api.Requests()); n != 0 {
		t.Errorf("the service was asked %d times", n)
	}
}

func TestALongConversationGoesOnAndWhatThatTookIsCounted(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	api := fakeapi.New(t, func(r fakeapi.Request) fakeapi.Reply {
		reply := fakeapi.Reply{Usage: fakeapi.Usage{Input: 100, Output: 10, CacheRead: 1000}}
		switch {
		case r.Turn > 0 && r.Said[len(r.Said)-1].Role == "user": // the program asks, and not the agent
			reply.Texts = []string{"a summary of it all"}
		case asked.Add(1) < 7:
			reply.Calls = []fakeapi.Call{{Tool: "ask", Args: `{}`}}
		default:
			reply.Texts = []string{"done"}
		}
		return reply
	})
	program, env := vendortest.Copilot(t, api.URL)
	task := request(t, "hi")
	task.Restrictions = []ports.Restriction{ports.NoWrite}
	task.Tools = []ports.Tool{{Name: "ask", Doc: "Asks.", Schema: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, json.RawMessage) ports.ToolResult {
		return ports.ToolResult{Text: strings.Repeat("words and more ", 2000)}
	}}}
	o, err := copilot.New(copilot.Options{Program: program, Env: append(env, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=20000")}).Run(t.Context(), task, silent)
	if err != nil || o.Text != "done" {
		t.Fatalf("got %+v, %v; want the turn to go on to its end", o, err)
	}
	n := int64(len(api.Requests()))
	// A summary that was still being written at the end is told by nothing.
	want := ports.Usage{Input: 100 * n, Output: 10 * n, Cached: 1000 * n, Complete: true}
	if n < 7 || o.Usage != want && (o.Usage.Complete || o.Usage.Input > want.Input) {
		t.Errorf("after %d requests the usage is %+v, want %+v, or less that is not complete", n, o.Usage, want)
	}
	compacted := false
	for _, r := range api.Requests() {
		compacted = compacted || strings.Contains(r.Body, "a summary of it all")
	}
	if !compacted {
		t.Error("the conversation was not compacted: this test shows nothing")
	}
}

func TestAServiceThatDoesNotMeterLeavesTheUsageIncomplete(t *testing.T) {
	t.Parallel()
	agent, _ := served(t, copilot.Options{}, func(fakeapi.Request) fakeapi.Reply { return fakeapi.Reply{Texts: []string{"done"}, Unmetered: true} })
	o, err := agent.Run(t.Context(), request(t, "hi"), silent)
	if err != nil || o.Usage != (ports.Usage{}) {
		t.Errorf("got %+v, %v; want no figures that are complete", o.Usage, err)
	}
}
