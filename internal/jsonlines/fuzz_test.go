package jsonlines_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/internal/jsonlines"
)

func FuzzHowAStreamArrivesChangesNothing(f *testing.F) {
	for _, seed := range []string{
		"{\"a\":1}\n{\"b\":\"é\xff\"}\r\nnoise\n{torn", "\ufeff{}{}\n\n{\"a\":[{}]} x", "{\"a\":\"" + strings.Repeat("0123456789", 30) + "\"}\n{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		whole, byBytes := jsonlines.NewReader(strings.NewReader(stream)), jsonlines.NewReader(iotest.OneByteReader(strings.NewReader(stream)))
		whole.Max, byBytes.Max = 300, 300 // more than is kept of a skipped line
		want, wantSkipped, _ := readAll(whole)
		got, skipped, _ := readAll(byBytes)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("byte by byte (-at once +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantSkipped, skipped); diff != "" {
			t.Errorf("skipped byte by byte (-at once +got):\n%s", diff)
		}
		for _, object := range got {
			if !json.Valid([]byte(object)) || object[0] != '{' {
				t.Errorf("%q was given, which is no object", object)
			}
		}
		// A line that is an object by itself is not lost, whatever stands around it.
		for line := range strings.SplitSeq(stream, "\n") {
			line = strings.TrimSuffix(line, "\r")
			if len(line) > whole.Max || !strings.HasPrefix(line, "{") || !json.Valid([]byte(line)) {
				continue
			}
			line = strings.ToValidUTF8(strings.TrimSpace(line), "\ufffd")
			found := false
			for _, object := range got {
				found = found || object == line
			}
			if !found {
				t.Errorf("%q is on a line of its own and was not given: %q", line, got)
			}
		}
	})
}
