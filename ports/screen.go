package ports

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func (Paragraph) block() {}
func (Table) block()     {}
func (Progress) block()  {}

// Equal reports whether two screens show the same.
func (s Screen) Equal(other Screen) bool {
	return s.Title == other.Title && slices.EqualFunc(s.Body, other.Body, sameBlock)
}

// sameBlock reports whether two blocks show the same. It calls none of their
// methods, and compares no type that it does not know: a block may be nil, or
// what an author made by embedding one.
func sameBlock(a, b Block) bool {
	switch a := a.(type) {
	case Paragraph:
		b, ok := b.(Paragraph)
		return ok && a == b
	case Table:
		b, ok := b.(Table)
		return ok && slices.Equal(a.Header, b.Header) && slices.EqualFunc(a.Rows, b.Rows, slices.Equal[[]string])
	case Progress:
		b, ok := b.(Progress)
		return ok && a == b
	}
	switch b.(type) {
	case Paragraph, Table, Progress:
		return false
	}
	return true // neither shows anything
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
