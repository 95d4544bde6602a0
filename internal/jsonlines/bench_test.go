package jsonlines_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"example.com/agl/internal/jsonlines"
)

// BenchmarkRead reads what the longest turns write, and beside it lets a bare
// json.Decoder find the same objects, which gets over nothing.
func BenchmarkRead(b *testing.B) {
	line := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_01","name":"Bash","input":{"command":"` +
		strings.Repeat(`go test ./... \"quoted\" `, 30) + `"}}],"usage":{"input_tokens":1000,"output_tokens":50}},"session_id":"3b0b3c0e"}`
	for name, stream := range map[string][]byte{
		"10,000 lines of 1 KiB": []byte(strings.Repeat(line+strings.Repeat(" ", 1023-len(line))+"\n", 10_000)),
		"one line of 64 MiB":    []byte(`{"a":"` + strings.Repeat("0123456789abcdef", 4<<20)[9:] + "\"}\n"),
	} {
		b.Run(name+"/jsonlines", func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				r := jsonlines.NewReader(bytes.NewReader(stream))
				if err := drain(func() error { _, err := r.Next(); return err }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/json.Decoder", func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				dec := json.NewDecoder(bytes.NewReader(stream))
				var raw json.RawMessage
				if err := drain(func() error { return dec.Decode(&raw) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// drain calls next until the stream has ended.
func drain(next func() error) error {
	for {
		switch err := next(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
