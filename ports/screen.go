package ports

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SameBlock reports whether another block is this text.
func (p Paragraph) SameBlock(other Block) bool { return other == Block(p) }

// SameBlock reports whether another block is a table of the same cells.
func (t Table) SameBlock(other Block) bool {
	o, ok := other.(Table)
	return ok && slices.Equal(t.Header, o.Header) && slices.EqualFunc(t.Rows, o.Rows, slices.Equal[[]string])
}

// SameBlock reports whether another block tells the same progress.
func (p Progress) SameBlock(other Block) bool { return other == Block(p) }

// Equal reports whether two screens show the same.
func (s Screen) Equal(other Screen) bool {
	return s.Title == other.Title && slices.EqualFunc(s.Body, other.Body, sameBlock)
}

// sameBlock knows that a view may return a nil Block, which shows nothing.
func sameBlock(a, b Block) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SameBlock(b)
}

// MaxAnswer is how long an answer may be, in bytes.
const MaxAnswer = 1 << 20

// CheckQuestion returns an Invalid error unless a question can be asked: it has
// a text, and its options are different texts, none of them blank. What shows
// nothing, such as control characters alone, is blank.
func CheckQuestion(q Question) error {
	const op = "question"
	if isBlank(q.Text) {
		return Invalid.Errorf(op, "it is blank")
	}
	seen := make(map[string]bool, len(q.Options))
	for i, option := range q.Options {
		switch {
		case isBlank(option):
			return Invalid.Errorf(op, "%q: option %d is blank", Clip(q.Text, 200), i+1)
		case !utf8.ValidString(option):
			return Invalid.Errorf(op, "%q: option %d is not UTF-8", Clip(q.Text, 200), i+1)
		case seen[option]:
			return Invalid.Errorf(op, "%q: it has option %q twice", Clip(q.Text, 200), Clip(option, 200))
		}
		seen[option] = true
	}
	if !utf8.ValidString(q.Text) {
		return Invalid.Errorf(op, "%q: it is not UTF-8", Clip(q.Text, 200))
	}
	return nil
}

// isBlank reports whether nothing of a text can be seen.
func isBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// CheckAnswer returns an Invalid error unless a text answers a question: it is
// one of its options, or, where the question takes one, a text that is not
// blank.
func CheckAnswer(q Question, answer string) error {
	op := "answer"
	switch {
	case slices.Contains(q.Options, answer):
		return nil
	case !q.TakesText():
		return Invalid.Errorf(op, "%q is none of the options: %s", Clip(answer, 200), quoted(q.Options))
	case strings.TrimSpace(answer) == "":
		return Invalid.Errorf(op, "it is blank")
	case !utf8.ValidString(answer):
		return Invalid.Errorf(op, "it is not UTF-8")
	case len(answer) > MaxAnswer:
		return Invalid.Errorf(op, "it has %d bytes, more than %d", len(answer), MaxAnswer)
	}
	return nil
}

func quoted(texts []string) string {
	const most = 20
	words := make([]string, 0, most+1)
	for i, text := range texts {
		if i == most {
			words = append(words, "…")
			break
		}
		words = append(words, strconv.Quote(text))
	}
	return strings.Join(words, ", ")
}
