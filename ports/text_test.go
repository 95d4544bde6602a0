package ports_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

func TestNothingHidesInPrintableText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                           "plain",
		"\u0600\u0661":                    "\u0600\u0661", // a sign that is seen
		" a\t\n b\u2028c ":                "a b c",
		"a\x1b[31mb\x00\x7f\u009b":        "a�[31mb���",
		"\xff\xc3":                        "��",
		"a\u202eb\u2066c\u061c":           "a�b�c�",
		"rm\u200b \u2060-\ufeffr\u00adf":  "rm� �-�r�f",
		"a\u180eb\u3164c\u200ed":          "a�b�c�d",
		"a\U000e0001\U000e0041\U000e007f": "a���",
		"👩\u200d🚀 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 می\u200cخواهم क्\u200dष": "👩\u200d🚀 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 می\u200cخواهم क्\u200dष",
		"a\u200db 👩\u200da 👩\u200d 🚀\u200d":                         "a�b 👩�a 👩� 🚀�",
		"م\u200c\u061cم": "م��م",
	} {
		got := ports.Printable(text)
		require.Equal(t, want, got, "%q", text)
		require.Equal(t, got, ports.Printable(got), "%q again", text)
	}
}

func FuzzPrintableTextIsPrintable(f *testing.F) {
	for _, text := range []string{"plain", "م\u200c\u061cم", "👩\u200d\u200b🚀", "\xf0\x9f👩\u200d\xf0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := ports.Printable(text)
		require.Equal(t, got, ports.Printable(got), "%q", text)
	})
}

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
