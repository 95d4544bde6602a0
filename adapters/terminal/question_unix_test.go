//go:build unix

package terminal_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

var goOn = ports.Question{Run: "demo", Namespace: "a", From: "coder", Text: "Go on?", Options: []string{"yes", "no"}}

func TestAQuestionIsAnsweredByTheKeysThatTheScreenNames(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"arrow": "\x1b[B\r", "letter": "j\r", "number": "2\r", "there and back": "jjkj\r", "home and end": "\x1b[F\r",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sit(t, 80, 24)
			at := p.at()
			answer := ask(t.Context(), at, goOn)
			screen := p.sees("❯ 1 yes")
			require.Contains(t, screen, "question · demo · a · coder")
			require.Contains(t, screen, "enter answers")
			p.types(keys)
			require.Equal(t, result{answer: "no"}, gets(t, answer))
			require.NoError(t, at.Close())
			p.finds()
		})
	}
}

func TestTwoAgentsThatAskTheSameGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	at := p.at()
	first := ask(t.Context(), at, goOn)
	p.sees("Go on?")
	other := goOn
	other.Namespace = "b"
	second := ask(t.Context(), at, other)
	p.sees("(1 more)")
	p.types("\r")
	require.Equal(t, result{answer: "yes"}, gets(t, first))
	p.sees("demo · b · coder")
	p.reads()
	p.types("2\r")
	require.Equal(t, result{answer: "no"}, gets(t, second))
}

// Case F4.
func TestAQuestionThatIsDisplacedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	at := p.at()
	calm := ask(t.Context(), at, ports.Question{Text: "Why?"})
	p.sees("Why?")
	p.types("yes\x1b[D\x1b[D")
	p.sees("yes")
	urgent := ask(t.Context(), at, ports.Question{Text: "Stop?", Priority: 9})
	p.sees("Stop?")
	p.types("\r") // meant for the other
	p.reads()
	p.types("at once\r")
	require.Equal(t, result{answer: "at once"}, gets(t, urgent), "the Enter before was not its answer")
	p.sees("yes")
	p.reads()
	p.types("-\r")
	require.Equal(t, result{answer: "y-es"}, gets(t, calm), "the cursor is where it was")
}

// Case F12.
func TestAQuestionWhoseAskerIsCancelledLeavesTheScreen(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	at := p.at()
	ctx, cancel := context.WithCancel(t.Context())
	dead := ask(ctx, at, ports.Question{Text: "Dead?"})
	p.sees("Dead?")
	lives := ask(t.Context(), at, ports.Question{Text: "Alive?"})
	p.sees("(1 more)")
	cancel()
	require.ErrorIs(t, gets(t, dead).err, context.Canceled)
	p.sees("Alive?")
	p.reads()
	p.types("so it is\r")
	require.Equal(t, result{answer: "so it is"}, gets(t, lives))
	p.misses("Alive?")
}

func TestAPasteOfThreeLinesArrivesWhole(t *testing.T) {
	t.Parallel()
	lines := []string{strings.Repeat("a b ", 500), strings.Repeat("ä€", 700), strings.Repeat("the end", 228)}
	want := strings.Join(lines, "\n")
	require.GreaterOrEqual(t, utf8.RuneCountInString(want), 4990)
	for name, pasted := range map[string]string{"\\r": strings.Join(lines, "\r"), "\\n": want, "\\r\\n": strings.Join(lines, "\r\n")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sit(t, 80, 24)
			answer := ask(t.Context(), p.at(), ports.Question{Text: "Why?"})
			p.sees("Why?")
			p.types("\x1b[200~" + pasted + "\x1b[201~")
			p.sees("the end")
			p.types("\r")
			require.Equal(t, result{answer: want}, gets(t, answer))
		})
	}
}

func TestNothingIsNoAnswer(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	answer := ask(t.Context(), p.at(), ports.Question{Text: "Why?"})
	p.sees("Why?")
	p.types(" \r")
	p.sees("type an answer first")
	p.types("so\r")
	require.Equal(t, result{answer: " so"}, gets(t, answer))
}

func TestATextOfOnesOwnHasSeveralLines(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	q := goOn
	q.Free = true
	answer := ask(t.Context(), p.at(), q)
	p.sees("3 in your own words")
	p.types("3\r")
	p.sees("ctrl+j new line")
	p.types("\r")
	p.sees("type an answer first")
	p.types("one\x1b\rtwo\nthree\r")
	require.Equal(t, result{answer: "one\ntwo\nthree"}, gets(t, answer))
}

func TestManyOptionsAreFilteredByWhatIsTyped(t *testing.T) {
	t.Parallel()
	p := sit(t, 60, 12)
	q := ports.Question{Text: "Which?"}
	for c := 'a'; c <= 'z'; c++ {
		q.Options = append(q.Options, strings.Repeat(string(c), 3), strings.Repeat(string(c), 5))
	}
	answer := ask(t.Context(), p.at(), q)
	p.sees("type to filter")
	p.types("KK")
	p.sees("2 of 52")
	p.types("\x1b[B\r")
	require.Equal(t, result{answer: "kkkkk"}, gets(t, answer))
}

func TestAQuestionOutlivesAnyResize(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	at := p.at()
	q := ports.Question{Run: "demo", Namespace: "a", Text: "One two three four five six seven?", Options: []string{"yes, whatever that may mean", "no"}, Free: true}
	answer := ask(t.Context(), at, q)
	p.sees("❯ 1 yes")
	p.resizes(20, 8)
	p.sees("❯ 1 yes, whatever t…")
	p.types("j")
	p.sees("❯ 2 no")
	p.resizes(1, 1)
	p.resizes(200, 60)
	p.sees("One two three four five six seven?")
	p.types("j\rtyped")
	p.sees("typed")
	p.resizes(20, 5)
	p.sees("typed")
	p.types(" in 20 columns\r")
	require.Equal(t, result{answer: "typed in 20 columns"}, gets(t, answer))
}

func TestALongQuestionIsScrolled(t *testing.T) {
	t.Parallel()
	p := sit(t, 40, 12)
	answer := ask(t.Context(), p.at(), ports.Question{Text: strings.Repeat("line\n", 50) + "the last", Options: []string{"yes", "no"}})
	p.sees("of 51")
	p.types(strings.Repeat("\x1b[6~", 15))
	p.sees("the last")
	p.types("\r")
	require.Equal(t, result{answer: "yes"}, gets(t, answer))
}
