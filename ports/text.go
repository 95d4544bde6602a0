package ports

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip returns s cut to at most n bytes on a rune's boundary, with "…" where
// something was cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Printable returns s on one line and without control characters, so that
// text of a model, a tool or a repository can be written to a terminal. Bytes
// that are not UTF-8, C0, C1 and bidirectional controls, and what takes no room,
// become U+FFFD; white space becomes a single space. What joins letters or emoji
// stays.
func Printable(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		if unicode.IsControl(r) || isHidden(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isHidden reports whether a character is a format control that has no place in
// text: it reorders what is around it, or hides in it.
func isHidden(r rune) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != zwnj && r != zwj && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
