package jsonrpc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/internal/jsonlines"
	"example.com/agl/internal/jsonrpc"
)

func readAll(r jsonrpc.Reader) (docs []string, skipped jsonlines.Skipped, err error) {
	for {
		doc, err := r.Next()
		if err != nil {
			return docs, r.Skipped(), err
		}
		docs = append(docs, string(doc))
	}
}

func framed(doc string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(doc), doc) }

func TestMessagesWithHeadersAreReadOverWhateverElseIsWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stream string
		want         []string
		skipped      jsonlines.Skipped
		err          error
	}{
		{"two", framed(`{"a":1}`) + framed(`{"b":"é"}`), []string{`{"a":1}`, `{"b":"é"}`}, jsonlines.Skipped{}, io.EOF},
		{"another header", "Content-Type: x; charset=utf-8\r\ncontent-length:2\nX-Other: 1\n\n{}", []string{"{}"}, jsonlines.Skipped{}, io.EOF},
		{
			"noise", "Warning: old\n\n" + framed("{}") + "\nbye" + framed("{}"),
			[]string{"{}", "{}"},
			jsonlines.Skipped{Noise: 2, Said: "bye"},
			io.EOF,
		},
		{"no length", "Content-Length: -1\r\n\r\nContent-Length: x\r\n\r\n" + framed("{}"), []string{"{}"}, jsonlines.Skipped{Noise: 2, Said: "Content-Length: x"}, io.EOF},
		{"no JSON", framed("{torn") + framed("7") + framed("") + framed("{}"), []string{"{}"}, jsonlines.Skipped{Malformed: 3}, io.EOF},
		{"a byte that is none", framed("{\"a\":\"\xff\"}"), []string{"{\"a\":\"\ufffd\"}"}, jsonlines.Skipped{Repaired: 1}, io.EOF},
		{
			"too long", framed(`{"a":"`+strings.Repeat("x", 100)+`"}`) + framed("{}"),
			[]string{"{}"},
			jsonlines.Skipped{Oversized: 1, Said: `{"a":"` + strings.Repeat("x", 100) + `"}`},
			io.EOF,
		},
		{"cut off", "Content-Length: 7\r\n\r\n{\"a\"", nil, jsonlines.Skipped{}, io.ErrUnexpectedEOF},
		{"cut off, too long", "Content-Length: 9000000000000000000\r\n\r\n{", nil, jsonlines.Skipped{Oversized: 1, Said: "{"}, io.ErrUnexpectedEOF},
		{"a number of no size", "Content-Length: 90000000000000000000\r\n\r\n", nil, jsonlines.Skipped{Noise: 1, Said: "Content-Length: 90000000000000000000"}, io.EOF},
		{"cut off in a header", "Content-Len", nil, jsonlines.Skipped{Noise: 1, Said: "Content-Len"}, io.EOF},
		{
			"a long line", strings.Repeat("y", 5000) + "\n" + framed("{}"),
			[]string{"{}"},
			jsonlines.Skipped{Noise: 2, Said: strings.Repeat("y", 200)},
			io.EOF,
		},
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(tt.stream), "by bytes": iotest.OneByteReader(strings.NewReader(tt.stream))} {
			got, skipped, err := readAll(jsonrpc.Headers(100).NewReader(r))
			if diff := cmp.Diff(tt.want, got); diff != "" || err != tt.err {
				t.Errorf("%s, %s: the error is %v, want %v (-want +got):\n%s", tt.name, how, err, tt.err, diff)
			}
			if diff := cmp.Diff(tt.skipped, skipped); diff != "" {
				t.Errorf("%s, %s: skipped (-want +got):\n%s", tt.name, how, diff)
			}
		}
	}
}

func TestALineThatIsTooLongIsPassedOver(t *testing.T) {
	t.Parallel()
	got, skipped, _ := readAll(jsonrpc.Lines(10).NewReader(strings.NewReader("{\"a\":\"0123456789\"}\n{}\n")))
	if len(got) != 1 || skipped.Oversized != 1 {
		t.Errorf("got %q, %+v; want the second line, and one that was too long", got, skipped)
	}
}

func FuzzHowAStreamArrivesChangesNothing(f *testing.F) {
	for _, seed := range []string{
		framed(`{"a":1}`) + "noise\n" + framed("{torn") + framed("{}"), "Content-Length: 3\r\n\r\n{}", "Content-Length: 900\r\n\r\n{}", "\r\n\r\nxContent-Length:2\n\n{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		want, wantSkipped, wantErr := readAll(jsonrpc.Headers(300).NewReader(strings.NewReader(stream)))
		got, skipped, err := readAll(jsonrpc.Headers(300).NewReader(iotest.OneByteReader(strings.NewReader(stream))))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("byte by byte (-at once +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantSkipped, skipped); diff != "" || err != wantErr {
			t.Errorf("byte by byte: %v, at once %v; skipped (-at once +got):\n%s", err, wantErr, diff)
		}
		for _, doc := range got {
			if !json.Valid([]byte(doc)) || doc[0] != '{' || len(doc) > 3*300 { // a byte that is none becomes three
				t.Errorf("%q was given", doc)
			}
		}
		// What is framed rightly is not lost after anything that is whole.
		if wantErr == io.EOF && !strings.Contains(strings.ToLower(stream), "content-") {
			if after, _, _ := readAll(jsonrpc.Headers(300).NewReader(strings.NewReader(stream + framed("{}")))); len(after) != len(got)+1 {
				t.Errorf("a message after it was not read: %q", after)
			}
		}
	})
}

// FuzzMessages holds a connection to what it is: whatever comes, each message is
// answered, taken, told of or counted, and nothing else happens.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{`{"id":1,"method":"a"}`, `{"method":"a"}`, `{"id":1,"result":null}`, `{"id":null,"method":"b","params":3}`, `{"a":`, "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		server := jsonrpc.Server{Cancel: jsonrpc.CancelOfMCP}
		replies := 0
		server.Take(t.Context(), []byte(doc), func(answer []byte) {
			replies++
			if answer != nil && !json.Valid(answer) {
				t.Errorf("it was answered with %q", answer)
			}
		})
		server.Wait()
		if replies != 1 {
			t.Errorf("it was replied to %d times, want once", replies)
		}
	})
}
