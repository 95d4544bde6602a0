package jsonlines_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/internal/jsonlines"
)

// Cases B7, B8.
func TestObjectsAreFoundAmongWhateverElseIsWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stream string
		want         []string
		skipped      jsonlines.Skipped
	}{
		{"nothing", "", nil, jsonlines.Skipped{}},
		{"lines", "{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}, jsonlines.Skipped{}},
		{"no end at the end", "{\"a\":1}\n{\"b\":2}", []string{`{"a":1}`, `{"b":2}`}, jsonlines.Skipped{}},
		{"CRLF, blank lines, white space", "{\"a\":1}\r\n\r\n \n\t{\"b\": 2} \r\n", []string{`{"a":1}`, `{"b": 2}`}, jsonlines.Skipped{}},
		{"a byte order mark", "\ufeff{\"a\":1}\n", []string{`{"a":1}`}, jsonlines.Skipped{}},
		{"several on a line", `{"a":1}{"b":"}{"} {"c":3}` + "\n", []string{`{"a":1}`, `{"b":"}{"}`, `{"c":3}`}, jsonlines.Skipped{}},
		{"noise", "Warning: old\n> pkg@1\n[1]\n42\n{\"a\":1}\n", []string{`{"a":1}`}, jsonlines.Skipped{Noise: 4, Said: "42"}},
		{"noise after an object", `{"a":1} done` + "\n" + `{"b":2}`, []string{`{"a":1}`, `{"b":2}`}, jsonlines.Skipped{Noise: 1, Said: "done"}},
		{"malformed", "{\"a\":}\n{nope\n{\"a\":1}\n", []string{`{"a":1}`}, jsonlines.Skipped{Malformed: 2, Said: "{nope"}},
		{"torn at the end", `{"a":1}` + "\n" + `{"b":"x`, []string{`{"a":1}`}, jsonlines.Skipped{Malformed: 1, Said: `{"b":"x`}},
		{"a name that is there twice", `{"a":1,"a":2}`, []string{`{"a":1,"a":2}`}, jsonlines.Skipped{}},
		{"runes of every length", "{\"a\":\"é€🙂\"}\n", []string{`{"a":"é€🙂"}`}, jsonlines.Skipped{}},
		{"not UTF-8", "{\"a\":\"h\xc3\"}\n{\"b\":1}\n", []string{"{\"a\":\"h\ufffd\"}", `{"b":1}`}, jsonlines.Skipped{Repaired: 1}},
	} {
		for how, src := range map[string]io.Reader{
			"at once":        strings.NewReader(tt.stream),
			"byte by byte":   iotest.OneByteReader(strings.NewReader(tt.stream)),
			"with its error": iotest.DataErrReader(strings.NewReader(tt.stream)),
		} {
			got, skipped, err := readAll(jsonlines.NewReader(src))
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: it ended with %v", tt.name, how, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.name, how, diff)
			}
			if diff := cmp.Diff(tt.skipped, skipped); diff != "" {
				t.Errorf("%s, %s: skipped (-want +got):\n%s", tt.name, how, diff)
			}
		}
	}
}

// Case B6.
func TestALineThatIsTooLongIsSkippedAndTheNextIsRead(t *testing.T) {
	t.Parallel()
	const limit = 200_000
	object := func(size int) string { return `{"a":"` + strings.Repeat("x", size-len(`{"a":""}`)) + `"}` }
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		stream := object(limit) + end + object(limit+1) + end + object(5*limit) + end + `{"b":1}` + end + object(limit+1)
		r := jsonlines.NewReader(strings.NewReader(stream))
		r.Max = limit
		got, skipped, _ := readAll(r)
		if diff := cmp.Diff([]string{object(limit), `{"b":1}`}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%.300s", name, diff)
		}
		if skipped.Oversized != 3 || skipped.Noise+skipped.Malformed > 0 || !strings.HasPrefix(skipped.Said, `{"a":"xxx`) || len(skipped.Said) > 200 {
			t.Errorf("%s: skipped %+v, want three oversized lines, and how the last one began", name, skipped)
		}
	}
}

func TestAnErrorOfTheSourceComesAfterWhatWasReadBefore(t *testing.T) {
	t.Parallel()
	torn := errors.New("torn")
	got, _, err := readAll(jsonlines.NewReader(io.MultiReader(strings.NewReader("{\"a\":1}\n{\"b\":2}"), iotest.ErrReader(torn))))
	if !errors.Is(err, torn) {
		t.Errorf("it ended with %v, want the source's error", err)
	}
	if diff := cmp.Diff([]string{`{"a":1}`, `{"b":2}`}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// readAll returns all objects, what was skipped, and what the stream ended with.
func readAll(r *jsonlines.Reader) (objects []string, skipped jsonlines.Skipped, err error) {
	for {
		object, err := r.Next()
		if err != nil {
			return objects, r.Skipped(), err
		}
		objects = append(objects, string(object))
	}
}
