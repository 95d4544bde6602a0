package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/agl/ports"
)

// The most that is drawn of one text, in bytes.
const (
	maxText = 16 << 10 // of several lines
	maxLine = 2 << 10
)

// maxMarks is how many marks are drawn on one letter.
const maxMarks = 8

// tabWidth is how far tabs are expanded, in columns.
const tabWidth = 4

// cleanLine returns text from outside as one line that a terminal can be given:
// see clean.
func cleanLine(s string) string { return strings.TrimSpace(clean(ports.Clip(s, maxLine), false)) }

// cleanLines returns text from outside as lines that a terminal can be given:
// see clean. Empty lines at its end are dropped.
func cleanLines(s string) []string {
	s = clean(ports.Clip(s, maxText), true)
	return strings.Split(strings.TrimRight(s, " \n"), "\n")
}

// clean returns text in which nothing controls a terminal or hides: what is
// ports.Hidden, and bytes that are not UTF-8, become U+FFFD, one for each. Tabs are
// expanded, and of many marks on one letter the first stay. Line ends stay
// where lines says so, else they are spaces.
func clean(s string, lines bool) string {
	var b strings.Builder
	b.Grow(len(s))
	end := ' '
	if lines {
		end = '\n'
	}
	column, marks, last := 0, 0, rune(0)
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case r == '\r' && next == '\n':
			continue
		case r == '\n', r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			b.WriteRune(end)
			column, marks, last = 0, 0, 0
			continue
		case r == '\t':
			for ok := true; ok; ok = lines && column%tabWidth != 0 {
				b.WriteByte(' ')
				column++
			}
			last = ' '
			continue
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				continue
			}
		case ports.Hidden(r, last, next):
			r, marks = utf8.RuneError, 0
		default:
			marks = 0
		}
		b.WriteRune(r)
		column++
		last = r
	}
	return b.String()
}

// withoutColours returns text without the sequences that colour it, which
// compilers and test runners write.
func withoutColours(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		rest := strings.TrimLeft(after, "0123456789;:")
		if !strings.HasPrefix(rest, "m") {
			b.WriteString("\x1b[")
			s = after
			continue
		}
		s = rest[1:]
	}
}
