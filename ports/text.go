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

// AsText returns s as a document can hold it: each byte that is not UTF-8 is
// U+FFFD. A file's name, a command's output and what a program calls itself are
// any bytes.
func AsText(s string) string { return string([]rune(s)) }

// Printable returns s on one line and without anything hidden, so that text of a
// model, a tool or a repository can be written to a terminal. Bytes that are not
// UTF-8 and what is Hidden become U+FFFD, one for each; white space becomes a
// single space.
func Printable(s string) string {
	var b strings.Builder
	space, last := false, rune(0)
	for i, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
			last = ' '
		}
		space = false
		if Hidden(r, last, after(s, i)) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// after returns the character behind the one at s[i:].
func after(s string, i int) rune {
	_, size := utf8.DecodeRuneInString(s[i:])
	next, _ := utf8.DecodeRuneInString(s[i+size:])
	return next
}

// Hidden reports whether a terminal obeys a character that stands between two
// others, or draws nothing for it: C0 and C1 controls, and the bidirectional,
// zero-width, tag and other format characters. A joiner is not hidden where it
// belongs: in an emoji of several, or in a script that needs it.
func Hidden(r, last, next rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0': // Hangul fillers
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !joins(r, last, next)
}

// joining are the scripts in which a joiner between two letters changes how
// they look.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Bengali, unicode.Devanagari, unicode.Gujarati, unicode.Gurmukhi, unicode.Kannada, unicode.Khmer,
	unicode.Malayalam, unicode.Mongolian, unicode.Myanmar, unicode.Oriya, unicode.Sinhala, unicode.Syriac, unicode.Tamil, unicode.Telugu,
}

// joins reports whether r is a joiner where one belongs.
func joins(r, last, next rune) bool {
	const (
		zwnj, zwj = '\u200c', '\u200d'
		emoji     = '\ufe0f' // draw what is before it as an emoji
	)
	if last == utf8.RuneError || next == utf8.RuneError { // nothing, or what is hidden itself
		return false
	}
	switch r {
	case zwj:
		if (last == emoji || unicode.In(last, unicode.So, unicode.Sk)) && unicode.Is(unicode.So, next) {
			return true
		}
	case zwnj:
	default:
		return false
	}
	return unicode.In(last, joining...) && unicode.In(next, joining...) && !unicode.Is(unicode.Cf, next) // which is hidden itself
}
