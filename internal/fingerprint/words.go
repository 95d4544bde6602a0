package fingerprint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxRunes = 80      // of what is shown of one side
	around   = 6       // tokens shown on either side of a change: three words and their spaces
	maxCells = 1 << 16 // of the table that aligns two texts
)

// A span is a range of tokens.
type span struct{ from, to int }

// A hunk is a change: tokens of one text that became tokens of the other. One
// of the spans may be empty.
type hunk struct{ was, now span }

// difference returns the words in which two texts differ, each side with a
// little around them and "…" for what is left out.
func difference(was, now string) (string, string) {
	a, b := tokens(was), tokens(now)
	hunks := align(a, b)
	shownWas, shownNow := "", ""
	for i := range hunks {
		w := render(a, hunks[:i+1], func(h hunk) span { return h.was })
		n := render(b, hunks[:i+1], func(h hunk) span { return h.now })
		if tooLong(w) || tooLong(n) {
			break
		}
		shownWas, shownNow = w, n
	}
	if shownWas == "" && shownNow == "" { // the first change alone is too long
		first := hunks[0]
		shownWas, shownNow = narrow(strings.Join(a[first.was.from:first.was.to], ""), strings.Join(b[first.now.from:first.now.to], ""))
	}
	return nonempty(shownWas), nonempty(shownNow)
}

// tokens splits a text into words, single marks, and runs of white space.
func tokens(text string) []string {
	var all []string
	for text != "" {
		first, size := utf8.DecodeRuneInString(text)
		if c := classOf(first); c != mark {
			size = strings.IndexFunc(text, func(r rune) bool { return classOf(r) != c })
			if size < 0 {
				size = len(text)
			}
		}
		all = append(all, text[:size])
		text = text[size:]
	}
	return all
}

type class int

const (
	mark class = iota
	letter
	space
)

func classOf(r rune) class {
	switch {
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
		return letter
	case unicode.IsSpace(r):
		return space
	default:
		return mark
	}
}

// align returns the changes that make b of a. Where it would take too long it
// returns one, of everything between what both begin and end with.
func align(a, b []string) []hunk {
	before := 0
	for before < min(len(a), len(b)) && a[before] == b[before] {
		before++
	}
	endA, endB := len(a), len(b)
	for endA > before && endB > before && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	a, b = a[before:endA], b[before:endB]
	if len(a)*len(b) > maxCells {
		return []hunk{{span{before, endA}, span{before, endB}}}
	}

	// common[i][j] is how many tokens a[i:] and b[j:] have in common, in order.
	width := len(b) + 1
	common := make([]uint16, (len(a)+1)*width)
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	var hunks []hunk
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i++
			j++
			continue
		}
		h := hunk{span{before + i, 0}, span{before + j, 0}}
		for (i < len(a) || j < len(b)) && (i == len(a) || j == len(b) || a[i] != b[j]) {
			if j == len(b) || i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1] {
				i++
			} else {
				j++
			}
		}
		h.was.to, h.now.to = before+i, before+j
		hunks = append(hunks, h)
	}
	return hunks
}

// render returns one side of the changes, with the tokens around them.
func render(tokens []string, hunks []hunk, side func(hunk) span) string {
	var b strings.Builder
	done := 0
	for _, h := range hunks {
		s := side(h)
		from, to := max(done, s.from-around), min(len(tokens), s.to+around)
		if from > done {
			b.WriteString("…")
			if from < s.from && isSpace(tokens[from]) {
				from++
			}
		}
		if to < len(tokens) && to > s.to && isSpace(tokens[to-1]) {
			to--
		}
		b.WriteString(strings.Join(tokens[from:max(from, to)], ""))
		done = max(from, to)
	}
	if done < len(tokens) {
		b.WriteString("…")
	}
	return b.String()
}

func isSpace(token string) bool { return strings.TrimSpace(token) == "" }

// narrow returns what differs in two long pieces of text, with some of what
// both begin with, each cut in its middle.
func narrow(was, now string) (string, string) {
	a, b := []rune(was), []rune(now)
	before := 0
	for before < min(len(a), len(b)) && a[before] == b[before] {
		before++
	}
	after := 0
	for after < min(len(a), len(b))-before && a[len(a)-1-after] == b[len(b)-1-after] {
		after++
	}
	const lead = 10
	from, to := max(0, before-lead), max(0, after-lead)
	return piece(a, from, to), piece(b, from, to)
}

// piece returns text from one position to as far from its end as another.
func piece(text []rune, from, after int) string {
	shown := text[from : len(text)-after]
	head, tail := "", ""
	if from > 0 {
		head = "…"
	}
	if after > 0 {
		tail = "…"
	}
	if len(shown) > maxRunes-2 {
		half := maxRunes/2 - 2
		return head + string(shown[:half]) + "…" + string(shown[len(shown)-half:]) + tail
	}
	return head + string(shown) + tail
}

func tooLong(s string) bool { return utf8.RuneCountInString(s) > maxRunes }

// cut returns the beginning of a text that is longer than one side may be.
func cut(s string) string {
	if !tooLong(s) {
		return s
	}
	return string([]rune(s)[:maxRunes-1]) + "…"
}

// nonempty keeps an empty text apart from one that is not there.
func nonempty(s string) string {
	if s == "" {
		return "(empty)"
	}
	return s
}
