package toolserve_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/internal/toolserve"
	"example.com/agl/ports"
)

const schema = `{"type":"object","properties":{"q":{"type":"string"}}}`

func tool(name string, call func(ctx context.Context, args json.RawMessage) ports.ToolResult) ports.Tool {
	return ports.Tool{Name: name, Doc: "Does " + name + ".", Schema: json.RawMessage(schema), Call: call}
}

func TestEveryMethodIsAnswered(t *testing.T) {
	t.Parallel()
	server := toolserve.New([]ports.Tool{
		tool("echo", func(_ context.Context, args json.RawMessage) ports.ToolResult {
			return ports.ToolResult{Text: "got " + string(args)}
		}),
		tool("refuse", func(context.Context, json.RawMessage) ports.ToolResult {
			return ports.ToolResult{Text: "no", Rejected: true}
		}),
		tool("panic", func(context.Context, json.RawMessage) ports.ToolResult { panic("a fault") }),
		tool("exit", func(context.Context, json.RawMessage) ports.ToolResult { runtime.Goexit(); return ports.ToolResult{} }),
	})
	for _, tt := range []struct{ name, message, want string }{
		{
			"the first", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
			`{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}},"protocolVersion":"2025-11-25","serverInfo":{"name":"agl","version":"1"}}}`,
		},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, ``},
		{"a ping", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{
			"a call, with every digit", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993,"q":"<ä>"}}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"got {\"n\":9007199254740993,\"q\":\"\u003cä\u003e\"}","type":"text"}],"isError":false}}`,
		},
		{
			"a call without arguments", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"got {}","type":"text"}],"isError":false}}`,
		},
		{
			"a refusal", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"refuse","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"no","type":"text"}],"isError":true}}`,
		},
		{
			"a panic", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"panic","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"the tool panic failed: panic: a fault","type":"text"}],"isError":true}}`,
		},
		{
			"a goroutine's end", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"exit","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"the tool exit ended its goroutine","type":"text"}],"isError":true}}`,
		},
		{
			"a tool there is not", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"there is no tool \"x\"","type":"text"}],"isError":true}}`,
		},
		{"a method there is not", `{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"there is no method prompts/list"}}`},
		{"no request", `{"jsonrpc":"2.0","id":3}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"this is no request"}}`},
		{"no JSON", `nope`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this is no request"}}`},
	} {
		if diff := cmp.Diff(tt.want, ask(t, server, tt.message)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	server.Wait()
	if n := server.Running(); n != 0 {
		t.Errorf("%d calls run after all were waited for", n)
	}
}

func TestTheListHasEachToolWithItsSchema(t *testing.T) {
	t.Parallel()
	server := toolserve.New([]ports.Tool{tool("one", nil), tool("two", nil)})
	want := `{"jsonrpc":"2.0","id":1,"result":{"tools":[` +
		`{"annotations":{"readOnlyHint":true},"description":"Does one.","inputSchema":` + schema + `,"name":"one"},` +
		`{"annotations":{"readOnlyHint":true},"description":"Does two.","inputSchema":` + schema + `,"name":"two"}]}}`
	if diff := cmp.Diff(want, ask(t, server, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCallsRunAtOnceAndOneIsCancelledAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := toolserve.New([]ports.Tool{tool("wait", func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
			select {
			case <-ctx.Done():
				return ports.ToolResult{Text: "cancelled", Rejected: true}
			case <-time.After(time.Hour): // as long as a person thinks
				return ports.ToolResult{Text: "answered"}
			}
		})})
		var mu sync.Mutex
		replies := make(map[string]string)
		for _, id := range []string{`1`, `"1"`, `2`} {
			server.Take(t.Context(), call(id, "wait"), func(r json.RawMessage) {
				mu.Lock()
				defer mu.Unlock()
				replies[id] = string(r)
			})
		}
		synctest.Wait()
		if n := server.Running(); n != 3 {
			t.Errorf("%d calls run at once, want 3", n)
		}
		server.Take(t.Context(), call(`2`, "wait"), func(r json.RawMessage) {
			if !strings.Contains(string(r), "runs already") {
				t.Errorf("a second call of an id got %s", r)
			}
		})
		server.Take(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId": 1 }}`), func(json.RawMessage) {})
		server.Wait()
		for id, want := range map[string]string{`1`: "cancelled", `"1"`: "answered", `2`: "answered"} {
			if !strings.Contains(replies[id], want) {
				t.Errorf("call %s was replied to with %s, want %s", id, replies[id], want)
			}
		}
	})
}

func TestTheEndOfTheTurnEndsItsCalls(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := toolserve.New([]ports.Tool{tool("wait", func(ctx context.Context, _ json.RawMessage) ports.ToolResult {
		cancel()
		<-ctx.Done()
		return ports.ToolResult{Text: "over"}
	})})
	replied := ""
	server.Take(ctx, call("1", "wait"), func(r json.RawMessage) { replied = string(r) })
	server.Wait()
	if !strings.Contains(replied, "over") {
		t.Errorf("the call was replied to with %q", replied)
	}
}

func call(id, name string) json.RawMessage {
	return json.RawMessage(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`)
}

// ask returns the reply to a message, "" if there is none.
func ask(t *testing.T, server *toolserve.Server, message string) string {
	t.Helper()
	replies := make(chan string, 2)
	server.Take(t.Context(), json.RawMessage(message), func(r json.RawMessage) { replies <- string(r) })
	select {
	case r := <-replies:
		return r
	case <-time.After(10 * time.Second):
		t.Fatalf("%s was not replied to", message)
		return ""
	}
}
