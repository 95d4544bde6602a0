package ports_test

import (
	"testing"

	"example.com/agl/ports"
)

// F2: nothing that a terminal obeys, and nothing that cannot be seen.
func TestPrintableTextHidesNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\x1b[2J\x00b\x7f":              "a\ufffd[2J\ufffdb\ufffd",
		"a\u009b2J \xff":                 "a\ufffd2J \ufffd",
		"\u202eevil\u202c \u2066x\u2069": "\ufffdevil\ufffd \ufffdx\ufffd",
		"pay\u200b\ufeff\u2060pal":       "pay\ufffd\ufffd\ufffdpal",
		"x\U000e0041":                    "x\ufffd",
		" a\r\n\tb\u2028c ":              "a b c",
		"👩\u200d👧 می\u200cخواهم e\u0301 日本": "👩\u200d👧 می\u200cخواهم e\u0301 日本",
	} {
		if got := ports.Printable(text); got != want {
			t.Errorf("Printable(%+q) = %+q, want %+q", text, got, want)
		}
	}
}
