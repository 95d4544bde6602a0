//go:build unix

package terminal_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/terminal"
	"example.com/agl/ports"
)

// states are what may be on a screen when it ends.
var states = map[string]func(t *testing.T, p *person, at *terminal.Terminal){
	"nothing was used": func(*testing.T, *person, *terminal.Terminal) {},
	"it has just begun": func(_ *testing.T, _ *person, at *terminal.Terminal) {
		split().at(at)
	},
	"the board": func(_ *testing.T, p *person, at *terminal.Terminal) {
		split().at(at)
		p.sees("parser")
	},
	"the gates": func(_ *testing.T, p *person, at *terminal.Terminal) {
		split().at(at)
		p.sees("parser")
		p.types("g")
		p.sees("make test")
	},
	"the help": func(_ *testing.T, p *person, at *terminal.Terminal) {
		split().at(at)
		p.sees("parser")
		p.types("?")
		p.sees("suspend")
	},
	"options": func(t *testing.T, p *person, at *terminal.Terminal) {
		ask(t.Context(), at, goOn)
		p.sees("❯ 1 yes")
	},
	"a text half typed": func(t *testing.T, p *person, at *terminal.Terminal) {
		split().at(at)
		ask(t.Context(), at, ports.Question{Text: "Why?"})
		p.sees("Why?")
		p.types("half")
		p.sees("half")
	},
	"half a paste": func(t *testing.T, p *person, at *terminal.Terminal) {
		ask(t.Context(), at, ports.Question{Text: "Why?"})
		p.sees("Why?")
		p.types("\x1b[200~half a paste")
	},
	"it is to stop": func(_ *testing.T, p *person, at *terminal.Terminal) {
		split().at(at)
		p.sees("parser")
		p.types("\x03")
		p.sees("stopping in order; ctrl+c again stops at once; waits for parser")
	},
	"it is to stop now": func(_ *testing.T, p *person, at *terminal.Terminal) {
		split().at(at)
		p.sees("parser")
		p.types("\x03\x03")
	},
	"a terminal of 20 columns": func(t *testing.T, p *person, at *terminal.Terminal) {
		ask(t.Context(), at, goOn)
		p.sees("❯ 1 yes")
		p.resizes(20, 5)
		p.sees("❯ 1 yes")
	},
}

// Case F6.
func TestHoweverItEndsTheTerminalIsAsItWasFound(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*terminal.Terminal){
		"Close":   func(at *terminal.Terminal) { at.Close() },
		"Restore": func(at *terminal.Terminal) { at.Restore() },
		"Restore, and Close": func(at *terminal.Terminal) {
			at.Restore()
			at.Close()
		},
	}
	for state, get := range states {
		for end, do := range ends {
			t.Run(state+", "+end, func(t *testing.T) {
				t.Parallel()
				p := sit(t, 80, 24)
				at := p.at()
				get(t, p, at)
				begun := time.Now()
				do(at)
				require.Less(t, time.Since(begun), 3*time.Second)
				p.finds()
				_, err := at.Ask(t.Context(), goOn)
				require.ErrorIs(t, err, ports.Unavailable)
				at.Watch(ports.Watched{Status: split().now})()
				p.finds()
			})
		}
	}
}

// Case F11.
func TestWhenTheInputEndsQuestionsAreUnavailable(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]string{"board": "TERM=xterm", "lines": "TERM=dumb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sit(t, 80, 24)
			at := p.at(env)
			first := ask(t.Context(), at, goOn)
			second := ask(t.Context(), at, goOn)
			p.sees("Go on?")
			require.NoError(t, p.master.Close())
			begun := time.Now()
			require.ErrorIs(t, gets(t, first).err, ports.Unavailable)
			require.ErrorIs(t, gets(t, second).err, ports.Unavailable)
			_, err := at.Ask(t.Context(), goOn)
			require.ErrorIs(t, err, ports.Unavailable)
			require.NoError(t, at.Close())
			require.Less(t, time.Since(begun), 2*time.Second)
			require.True(t, at.Attended(), "it was")
		})
	}
}

// Case F8.
func TestWithNoColorNothingIsColoured(t *testing.T) {
	t.Parallel()
	sgr := regexp.MustCompile("\x1b\\[[0-9;:]*m")
	for env, coloured := range map[string]bool{"NO_COLOR=0": false, "NO_COLOR=": true} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			p := sit(t, 100, 24)
			at := p.at(env)
			split().at(at)
			ask(t.Context(), at, goOn)
			p.sees("parser")
			p.sees("❯ 1 yes")
			require.NoError(t, at.Close())
			p.finds()
			require.Equal(t, coloured, sgr.MatchString(p.written()), "%q", sgr.FindAllString(p.written(), -1))
		})
	}
}

// Case F8.
func TestATerminalThatMovesNoCursorIsGivenLines(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]string{"dumb": "TERM=dumb", "unset": "TERM="} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sit(t, 80, 40)
			at := p.at(env)
			require.True(t, at.Attended())
			require.False(t, at.FullScreen())
			split().at(at)
			q := goOn
			q.Text = "Go \x1b[31mon?"
			answer := ask(t.Context(), at, q)
			screen := p.sees("Type a number and press Enter.")
			require.Contains(t, screen, "question · demo · a · coder:")
			require.Contains(t, screen, "  2  no")
			p.types("maybe\n")
			p.sees(`"maybe" is no option; type 1 to 2`)
			p.types("5\n")
			p.sees(`"5" is no option; type 1 to 2`)
			p.types("\n")
			p.sees("type an answer first")
			p.types("2\n")
			require.Equal(t, result{answer: "no"}, gets(t, answer))

			p.reads()
			q.Free = true
			answer = ask(t.Context(), at, q)
			p.sees("3  in your own words")
			p.types("4\n")
			p.sees(`"4" is no option; type 1 to 3`)
			p.types("3\n")
			p.sees("Type your answer and press Enter.")
			p.types("1\n")
			require.Equal(t, result{answer: "1"}, gets(t, answer))

			p.reads()
			answer = ask(t.Context(), at, ports.Question{Text: "How many?", Options: []string{"3", "1", "2"}})
			p.sees("How many?")
			p.types("1\n")
			require.Equal(t, result{answer: "1"}, gets(t, answer), "an option that is typed, before one of that number")

			p.reads()
			calm := ask(t.Context(), at, ports.Question{Text: "Why?"})
			p.sees("Why?")
			p.types("yes")
			p.sees("yes")
			urgent := ask(t.Context(), at, ports.Question{Text: "Stop?", Priority: 9})
			p.sees("Stop?")
			p.reads()
			p.types("\n")
			p.waits("be told twice", func(screen string) bool { return strings.Count(screen, "type an answer first") == 2 })
			p.types("now\n")
			require.Equal(t, result{answer: "now"}, gets(t, urgent))
			p.reads()
			p.types("because\n")
			require.Equal(t, result{answer: "because"}, gets(t, calm))
			require.NoError(t, at.Close())
			require.NotContains(t, p.written(), "\x1b")
			p.finds()
		})
	}
}

// Case F1.
func TestWhereNobodySitsNobodyIsAsked(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	closed, err := os.Open(os.DevNull)
	require.NoError(t, err)
	closed.Close()
	for name, opts := range map[string]terminal.Options{
		"input from nothing":                     {In: null, Out: p.tty},
		"input from a pipe":                      {In: read, Out: p.tty},
		"input that is closed":                   {In: closed, Out: p.tty},
		"output to a pipe":                       {In: p.tty, Out: write},
		"output to nothing":                      {In: p.tty, Out: null},
		"output that is closed":                  {In: p.tty, Out: closed},
		"continuous integration":                 {In: p.tty, Out: p.tty, Env: []string{"TERM=xterm", "CI=true"}},
		"continuous integration of another name": {In: p.tty, Out: p.tty, Env: []string{"TERM=dumb", "CI=woodpecker"}},
		"told so":                                {In: p.tty, Out: p.tty, Headless: true},
	} {
		t.Run(name, func(t *testing.T) {
			if opts.Env == nil {
				opts.Env = []string{"TERM=xterm"}
			}
			at := terminal.New(opts)
			require.False(t, at.Attended())
			require.False(t, at.FullScreen())
			at.Watch(ports.Watched{Status: func() ports.Status { panic("nobody watches") }})()
			_, err := at.Ask(t.Context(), goOn)
			require.ErrorIs(t, err, ports.Unavailable)
			_, err = at.Ask(t.Context(), ports.Question{})
			require.ErrorIs(t, err, ports.Invalid)
			at.Restore()
			require.NoError(t, at.Close())
		})
	}
	for _, env := range []string{"CI=", "CI=0", "CI=false", "CI=False", "CI=no", "CI=Off", "ci=true"} {
		require.True(t, p.at(env).Attended(), env)
	}
	require.Empty(t, p.written())
	p.finds()
}

// Case F2.
func TestNothingThatIsShownDrivesTheTerminal(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;pwned\x07\x1bP+q\x1b\\\x1b[31m\u009b2J\u202egnp.exe\u2066\u200b\x00\x08\x7f\xff tail"
	p := sit(t, 200, 60)
	at := p.at()
	s := newStage(ports.NamespaceStatus{
		Namespace: "n" + evil, Verb: ports.RecordKind("v" + evil), Name: evil, Activity: evil, Since: time.Now(), Landing: ports.LandingState(evil),
		Verdict: &ports.Verdict{Command: evil, Note: evil, Output: evil},
	}, ports.NamespaceStatus{Namespace: "m", Waiting: evil})
	s.set(func(s *ports.Status) {
		s.Run.Label, s.Run.Workflow, s.Run.State, s.Notes = evil, evil, ports.State(evil), []string{evil}
	})
	s.at(at)
	at.Watch(ports.Watched{Status: s.now, View: func(ports.Status) (ports.Screen, bool) {
		return ports.Screen{Title: evil, Body: []ports.Block{
			ports.Paragraph(evil), ports.Table{Header: []string{evil}, Rows: [][]string{{evil}}}, ports.Progress{Label: evil, Total: 1},
		}}, true
	}})
	p.sees("tail")
	p.types("g")
	p.sees("gate of n")
	q := ports.Question{Run: evil, Namespace: evil, From: evil, Text: strings.ToValidUTF8(evil, "?"), Options: []string{strings.ToValidUTF8(evil, "?")}}
	answer := ask(t.Context(), at, q)
	p.sees("❯ 1")
	p.types("\r")
	require.Equal(t, result{answer: q.Options[0]}, gets(t, answer), "what is answered is the option itself")
	p.misses("❯ 1")
	require.NoError(t, at.Close())
	p.finds()
	written := p.written()
	for _, payload := range []string{"\x1b]0;", "\x1bP+q", "\x1b[31m", "\u009b", "\u202e", "\u2066", "\u200b", "\x00", "\x7f", "\xff"} {
		require.NotContains(t, written, payload)
	}
}
