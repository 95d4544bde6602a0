package jsonrpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/jsonrpc"
)

// A far is the other side of a connection, word for word.
type far struct {
	r *bufio.Reader
	w io.WriteCloser
}

func (f *far) say(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		_, err := io.WriteString(f.w, line+"\n")
		require.NoError(t, err)
	}
}

func (f *far) hear(t *testing.T) string {
	t.Helper()
	line, err := f.r.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(line, "\n")
}

// connect returns a connection, which is closed when the test ends, and its
// other side.
func connect(t *testing.T, opts jsonrpc.Options) (*jsonrpc.Conn, *far) {
	t.Helper()
	hear, w := io.Pipe()
	r, say := io.Pipe()
	conn := jsonrpc.New(t.Context(), r, w, opts)
	t.Cleanup(func() {
		hear.Close()
		conn.Close()
	})
	return conn, &far{bufio.NewReader(hear), say}
}

func TestBothSidesCallEachOther(t *testing.T) {
	t.Parallel()
	var told []string
	conn, other := connect(t, jsonrpc.Options{
		Handle: func(_ context.Context, method string, params json.RawMessage) (any, error) {
			switch method {
			case "echo":
				return params, nil
			case "refuse":
				return nil, &jsonrpc.Error{Code: 7, Message: "no", Data: json.RawMessage(`{"why":"<>"}`)}
			case "fail":
				return nil, errors.New("it broke")
			case "panic":
				panic("a fault")
			case "exit":
				runtime.Goexit()
			case "odd":
				return func() {}, nil
			case "odder":
				return nil, &jsonrpc.Error{Code: 7, Message: "no", Data: json.RawMessage(`{`)}
			}
			return nil, jsonrpc.Errorf(jsonrpc.UnknownMethod, "there is no method %s", method)
		},
		Notified: func(method string, params json.RawMessage) { told = append(told, method+" "+string(params)) },
	})

	var sum int
	answer := make(chan error, 1)
	go func() { answer <- conn.Call(t.Context(), "add", map[string]int{"a": 1}, &sum) }()
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"add","params":{"a":1}}`, other.hear(t))
	// While a call waits, the other side may call.
	for _, tt := range []struct{ request, answer string }{
		{`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"n":9007199254740993}}`, `{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993}}`},
		{`{"id":"1","method":"echo"}`, `{"jsonrpc":"2.0","id":"1","result":null}`},
		{`{"id":null,"method":"echo","params":[1]}`, `{"jsonrpc":"2.0","id":null,"result":[1]}`},
		{`{"id":{"odd":[1.50]},"method":"echo","params":[1]}`, `{"jsonrpc":"2.0","id":{"odd":[1.50]},"result":[1]}`},
		{`{"id":2,"method":"refuse"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":7,"message":"no","data":{"why":"\u003c\u003e"}}}`},
		{`{"id":2,"method":"fail"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"it broke"}}`},
		{`{"id":2,"method":"panic"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"panic failed: panic: a fault"}}`},
		{`{"id":2,"method":"exit"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the handler of exit ended its goroutine"}}`},
		{`{"id":2,"method":"odd"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"json: unsupported type: func()"}}`},
		{`{"id":2,"method":"none"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"there is no method none"}}`},
	} {
		other.say(t, tt.request)
		require.Equal(t, tt.answer, other.hear(t), tt.request)
	}
	other.say(t, `{"id":2,"method":"odder"}`)
	require.Contains(t, other.hear(t), `"code":-32603`)
	other.say(t, `{"method":"hello"}`, `{"method":"world","params":{}}`, `{"jsonrpc":"2.0","id":1,"result":3}`)
	require.NoError(t, <-answer)
	require.Equal(t, 3, sum)
	require.Equal(t, []string{"hello ", "world {}"}, told)

	go func() { answer <- conn.Notify(t.Context(), "bye", nil) }()
	require.Equal(t, `{"jsonrpc":"2.0","method":"bye"}`, other.hear(t))
	require.NoError(t, <-answer)
}

func TestWhatTheOtherSideAnswersIsTheCallers(t *testing.T) {
	t.Parallel()
	conn, other := connect(t, jsonrpc.Options{Bare: true})
	for _, tt := range []struct{ answer, want string }{
		{`"result":"yes"`, "yes"},
		{`"result":null`, ""},
		{`"result":"yes","error":null`, "yes"},
		{`"error":{"code":-32001,"message":"busy","data":[1]}`, `busy (-32001) [1]`},
		{`"error":"busy"`, `"busy" (-32603) "busy"`},
		{`"error":{"code":"odd"}`, `{"code":"odd"} (-32603) {"code":"odd"}`},
		{`"result":7`, "calling ask: reading its result: json: cannot unmarshal number into Go value of type string"},
	} {
		got := make(chan string, 1)
		go func() {
			var text string
			err := conn.Call(t.Context(), "ask", nil, &text)
			failed := (*jsonrpc.Error)(nil)
			switch {
			case errors.As(err, &failed):
				text = err.Error() + " " + string(failed.Data)
			case err != nil:
				text = err.Error()
			}
			got <- text
		}()
		id, rest, _ := strings.Cut(strings.TrimPrefix(other.hear(t), `{"id":`), ",")
		require.Equal(t, `"method":"ask"}`, rest)
		other.say(t, `{"id":`+id+`,`+tt.answer+`}`)
		require.Equal(t, tt.want, <-got)
	}
}

func TestIDsAreTextsWhereTheyAreToBe(t *testing.T) {
	t.Parallel()
	conn, other := connect(t, jsonrpc.Options{Prefix: "agl-", Cancel: jsonrpc.Cancellation{Method: "cancel", ID: "id"}, TellCancel: true})
	answer := make(chan error, 1)
	go func() { answer <- conn.Call(t.Context(), "add", nil, nil) }()
	require.Equal(t, `{"jsonrpc":"2.0","id":"agl-1","method":"add"}`, other.hear(t))
	other.say(t, `{"jsonrpc":"2.0","id":"agl-1","result":3}`)
	require.NoError(t, <-answer)

	ctx, cancel := context.WithCancel(t.Context())
	go func() { answer <- conn.Call(ctx, "add", nil, nil) }()
	require.Contains(t, other.hear(t), `"id":"agl-2"`)
	cancel()
	require.Equal(t, `{"jsonrpc":"2.0","method":"cancel","params":{"id":"agl-2"}}`, other.hear(t))
	require.ErrorIs(t, <-answer, context.Canceled)
}

func TestRequestsRunAtOnceAndOneIsCancelledAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, other := connect(t, jsonrpc.Options{
			Bare: true, Cancel: jsonrpc.CancelOfLSP,
			Handle: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(time.Hour): // as long as a person thinks
					return "answered", nil
				}
			},
		})
		other.say(t, `{"id":1,"method":"wait"}`, `{"id":"1","method":"wait"}`, `{"id":1,"method":"wait"}`)
		require.Equal(t, `{"id":1,"error":{"code":-32600,"message":"a request with this id runs already"}}`, other.hear(t))
		synctest.Wait()
		require.Equal(t, 2, conn.Running())
		other.say(t, `{"method":"$/cancelRequest","params":{"id": 1 }}`, `{"method":"$/cancelRequest","params":7}`)
		require.Equal(t, `{"id":1,"error":{"code":-32603,"message":"context canceled"}}`, other.hear(t))
		require.Equal(t, `{"id":"1","result":"answered"}`, other.hear(t))
		synctest.Wait()
		require.Equal(t, 0, conn.Running())
	})
}

func TestTheEndOfTheConnectionEndsWhatIsOpenOnIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*jsonrpc.Conn, *far){
		"the other side goes":  func(_ *jsonrpc.Conn, other *far) { other.w.Close() },
		"this side closes":     func(conn *jsonrpc.Conn, _ *far) { conn.Close() },
		"the end of its words": func(_ *jsonrpc.Conn, other *far) { io.WriteString(other.w, `{"id":`); other.w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				over := false
				conn, other := connect(t, jsonrpc.Options{Handle: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
					<-ctx.Done()
					over = true
					return nil, nil
				}})
				answer := make(chan error, 1)
				go func() { answer <- conn.Call(t.Context(), "ask", nil, nil) }()
				other.hear(t)
				other.say(t, `{"id":1,"method":"wait"}`)
				synctest.Wait()
				end(conn, other)
				require.ErrorIs(t, <-answer, jsonrpc.ErrEnded)
				<-conn.Done()
				require.Error(t, conn.Err())
				conn.Close()
				require.True(t, over, "Close returned before the handler had")
				require.ErrorIs(t, conn.Call(t.Context(), "ask", nil, nil), jsonrpc.ErrEnded)
				require.ErrorIs(t, conn.Notify(t.Context(), "tell", nil), jsonrpc.ErrEnded)
			})
		})
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, tell := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			conn, other := connect(t, jsonrpc.Options{Bare: true, Cancel: jsonrpc.CancelOfLSP, TellCancel: tell})
			ctx, cancel := context.WithCancel(t.Context())
			answer := make(chan error, 2)
			go func() { answer <- conn.Call(ctx, "ask", nil, nil) }()
			require.Equal(t, `{"id":1,"method":"ask"}`, other.hear(t))
			cancel()
			require.ErrorIs(t, <-answer, context.Canceled)
			if tell {
				require.Equal(t, `{"method":"$/cancelRequest","params":{"id":1}}`, other.hear(t))
			}
			go func() { answer <- conn.Notify(t.Context(), "next", nil) }()
			require.Equal(t, `{"method":"next"}`, other.hear(t))
		})
	}
}

// A side that does not read must not keep the other from ending its calls.
func TestACallOfASideThatDoesNotReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := connect(t, jsonrpc.Options{})
		var calls sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for range 100 { // more than wait to be written
			calls.Go(func() {
				if err := conn.Call(ctx, "ask", nil, nil); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want the context's error", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		calls.Wait()
	})
}

func TestWhatIsNoMessageIsToldOfAndPassedOver(t *testing.T) {
	t.Parallel()
	var garbage []string
	conn, other := connect(t, jsonrpc.Options{
		Bare: true, Garbage: func(doc []byte) { garbage = append(garbage, string(doc)) },
		Handle: func(context.Context, string, json.RawMessage) (any, error) { return true, nil },
	})
	other.say(t, `Warning: old`, `{}`, `{"method":7,"id":1}`, `{"id":99,"result":1}`, `{"id":1}`, `[{"id":1,"method":"x"}]`, `{torn`, `{"id":1,"method":"ask"}`)
	require.Equal(t, `{"id":1,"result":true}`, other.hear(t))
	other.w.Close()
	<-conn.Done()
	require.Equal(t, io.EOF, conn.Err())
	if diff := cmp.Diff([]string{`{}`, `{"method":7,"id":1}`, `{"id":99,"result":1}`, `{"id":1}`}, garbage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	skipped := conn.Skipped()
	require.Equal(t, 2, skipped.Noise)
	require.Equal(t, 1, skipped.Malformed)
	require.Equal(t, "{torn", skipped.Said)
}

func TestWhatWasSaidIsWrittenBeforeTheEnd(t *testing.T) {
	t.Parallel()
	conn, other := connect(t, jsonrpc.Options{Bare: true, Framing: jsonrpc.Headers(0)})
	go func() {
		_ = conn.Notify(t.Context(), "one", nil)
		_ = conn.Notify(t.Context(), "two", nil)
		conn.Finish()
	}()
	all, err := io.ReadAll(other.r)
	require.NoError(t, err)
	require.Equal(t, "Content-Length: 16\r\n\r\n"+`{"method":"one"}`+"Content-Length: 16\r\n\r\n"+`{"method":"two"}`, string(all))
	require.ErrorIs(t, conn.Notify(t.Context(), "three", nil), jsonrpc.ErrEnded)
	conn.Finish() // once more does nothing
}
