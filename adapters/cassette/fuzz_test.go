package cassette

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// What is read and written again is the same, and what cannot be read is an error.
func FuzzAFileIsReadOrRefused(f *testing.F) {
	const head = `{"cassette":1,"program":"p","framing":"lines"}` + "\n"
	f.Add([]byte(head + `{"take":1,"args":["⟦uuid1⟧"],"env":{"A":"b"}}` + "\n" + `{"at":1,"in":{"a":["⟦3×ab⟧"]}}` + "\n" + `{"at":2,"exit":0}` + "\n" + `{"note":"x"}` + "\n"))
	f.Add([]byte(head + `{"take":1,"args":[]}` + "\n" + `{"at":1,"file":{"name":"a","text":"b"}}` + "\n" + `{"at":2,"killed":"SIGTERM"}` + "\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		first, err := parse(doc)
		if err != nil {
			return
		}
		text := first.text()
		second, err := parse(text)
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v\n%s", err, text)
		}
		if again := second.text(); !bytes.Equal(text, again) {
			t.Errorf("written again it is another:\n%s\n%s", text, again)
		}
	})
}

// Any text is in its template, short or long.
func FuzzATextComesBackFromItsTemplate(f *testing.F) {
	for _, s := range []string{"", "⟦", "⟦⟧", "⟦dir⟧", strings.Repeat("ab", 300), "x" + strings.Repeat("⟦a⟧", 200), strings.Repeat("äöü", 500) + "ä", strings.Repeat("a", 255)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		text := template{{text: s}}.String()
		if !utf8.ValidString(text) {
			t.Errorf("the template of %q is no text: %q", s, text)
		}
		back, err := parseTemplate(text)
		if err != nil {
			t.Fatalf("the template of %q: %v", s, err)
		}
		got := ""
		for _, p := range back {
			got += p.text
			if p.name != "" {
				t.Errorf("the template of %q has a variable: %q", s, text)
			}
		}
		if got != s {
			t.Errorf("from the template %q comes %q, want %q", text, got, s)
		}
	})
}

// A message of which each string is written anew is the same message.
func FuzzRewritingChangesNothingElse(f *testing.F) {
	f.Add([]byte(`{"a":[1.50,"x\u00e4\"",{"b":null}], "c" : "d"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) {
			return
		}
		got, err := rewrite(doc, func(_, s string) (string, error) { return s, nil })
		if err != nil || !bytes.Equal(got, doc) {
			t.Errorf("from %s comes %s, %v", doc, got, err)
		}
		longer, err := rewrite(doc, func(_, s string) (string, error) { return s + "!", nil })
		if err != nil || !json.Valid(longer) {
			t.Errorf("from %s comes %s, %v", doc, longer, err)
		}
	})
}
