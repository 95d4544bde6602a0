package porttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"example.com/agl/ports"
)

func terminalRules() []rule[seat] {
	return append([]rule[seat]{
		{
			"somebody is there or nobody",
			"Attended says whether somebody can be asked; where nobody can, it stays so.",
			func(c *check, s seat) {
				for range 2 {
					same(c, s.Attended(), s.person != nil, "Attended")
					if s.person != nil {
						return
					}
					_, _ = s.Ask(c.Context(), ports.Question{Text: "anybody?"})
				}
			},
		},
		{
			"an option is an answer",
			"The answer is the text of the option that was chosen, whatever is in it.",
			func(c *check, s seat) {
				s.taken(c)
				many := make([]string, 15)
				for i := range many {
					many[i] = fmt.Sprintf("this is %d", i)
				}
				for n, options := range [][]string{
					{"yes", "no"},
					{"only"},
					{" spaces around ", "äöü € 👩‍👩‍👧 שלום", "\x1b[31mred\x1b[0m", "two\nlines", strings.Repeat("long ", 60), "2", "q"},
					many,
				} {
					for i, option := range options {
						if len(options) == len(many) && i%7 != 0 {
							continue // each takes a person's time
						}
						r := s.ask(c, ports.Question{Text: fmt.Sprintf("which-%d-%d?", n, i), Options: options})
						s.person.Choose(i)
						r.wants(c, option)
					}
				}
			},
		},
		{
			"a text is an answer",
			"A text that was typed is the answer, to the last space: of any letters, of many lines, and long.",
			func(c *check, s seat) {
				s.taken(c)
				line := strings.Repeat("0123456789 äöü€ ", 104)
				for i, text := range []string{
					"yes", "1", "q", "?", "--help $HOME `x` %s \\n", " spaces  around ", "äöü € 👩‍👩‍👧 שלום e\u0301", "one\ntwo\n\nfour",
					line + "\n" + line + "\n" + line,
				} {
					r := s.ask(c, ports.Question{Text: fmt.Sprintf("what-%d?", i)})
					s.person.Write(text)
					r.wants(c, text)
				}
			},
		},
		{
			"a text may be an answer beside options",
			"A question with options that takes a text of one's own is answered by either.",
			func(c *check, s seat) {
				s.taken(c)
				q := ports.Question{Text: "either?", Options: []string{"yes", "no"}, Free: true}
				r := s.ask(c, q)
				s.person.Write("it depends")
				r.wants(c, "it depends")
				q.Text = "or?"
				r = s.ask(c, q)
				s.person.Choose(1)
				r.wants(c, "no")
			},
		},
		{
			"a blank text is no answer",
			"What does not answer a question is not taken, and the question waits on.",
			func(c *check, s seat) {
				s.taken(c)
				r := s.ask(c, ports.Question{Text: "blank?"})
				s.person.Write("  ")
				s.shows(c, "blank?")
				s.person.Write("not blank")
				r.wait(c)
				if r.err != nil || strings.TrimSpace(r.answer) != "not blank" {
					c.Errorf("asking it: got the answer %s, error %v; want %q", excerpt(r.answer), r.err, "not blank")
				}
			},
		},
		{
			"what nobody could answer is not asked",
			"A question that is blank, or has an option twice, a blank one or one that is not UTF-8, is Invalid at once.",
			func(c *check, s seat) {
				s.taken(c)
				for _, q := range []ports.Question{
					{Text: " \n"},
					{Text: "impossible?", Options: []string{"a", "b", "a"}},
					{Text: "impossible?", Options: []string{"a", " "}},
					{Text: "impossible?", Options: []string{"\xff"}},
					{Text: "impossible? \xff"},
				} {
					r := s.put(c.Context(), c, q)
					r.wait(c)
					c.kind(r.err, ports.Invalid, fmt.Sprintf("asking %q, of %q", q.Text, q.Options))
				}
				s.hidden(c, "impossible?", "nobody could answer it")
			},
		},
		{
			"what is asked too late is not asked",
			"A question whose context has ended is not shown; the error is the cause.",
			func(c *check, s seat) {
				s.taken(c)
				cause := errors.New("nobody wants to know")
				ctx, cancel := context.WithCancelCause(c.Context())
				cancel(cause)
				s.put(ctx, c, ports.Question{Text: "too late?"}).fails(c, cause, "asking with a context that has ended")
				s.hidden(c, "too late?", "its context had ended")
			},
		},
		{
			"a question can be taken back",
			"When its context ends a question is taken back, on the screen or not: Ask returns the cause, and the next is shown.",
			func(c *check, s seat) {
				s.taken(c)
				cause := errors.New("somebody else has found out")
				urgent, takeBack := context.WithCancelCause(c.Context())
				waiting, forget := context.WithCancelCause(c.Context())
				first := s.put(urgent, c, ports.Question{Text: "the first?", Priority: 9})
				s.shows(c, "the first?")
				second := s.put(waiting, c, ports.Question{Text: "the second?", Priority: 5})
				third := s.put(c.Context(), c, ports.Question{Text: "the third?"})
				if s.person.Waiting != nil {
					s.waits(c, 3)
				}
				forget(cause)
				second.fails(c, cause, "taking back a question that is not on the screen")
				first.open(c, "when another was taken back")
				takeBack(cause)
				first.fails(c, cause, "taking back the question on the screen")
				s.shows(c, "the third?")
				s.hidden(c, "the first?", "it was taken back")
				s.hidden(c, "the second?", "it was taken back")
				s.person.Write("well")
				third.wants(c, "well")
			},
		},
		{
			"when the person has gone nobody answers",
			"When nobody sits there any more, the questions that wait are Unavailable, and so are all that are asked later.",
			func(c *check, s seat) {
				s.taken(c)
				c.needs(s.person.Leave != nil, "Person.Leave")
				shown := s.ask(c, ports.Question{Text: "still there?", Priority: 1})
				waits := s.put(c.Context(), c, ports.Question{Text: "and you?"})
				s.person.Leave()
				for _, r := range []*reply{shown, waits, s.put(c.Context(), c, ports.Question{Text: "anybody?"})} {
					r.fails(c, ports.Unavailable, fmt.Sprintf("asking %q, when the person has left", r.text))
				}
			},
		},
		{
			"where nobody is a question is refused",
			"Where nobody sits, Ask is Unavailable, at once.",
			func(c *check, s seat) {
				s.empty(c)
				for _, q := range []ports.Question{{Text: "anybody?"}, {Text: "yes?", Options: []string{"yes", "no"}}, {Text: "urgent?", Priority: 9}} {
					r := s.put(c.Context(), c, q)
					r.fails(c, ports.Unavailable, fmt.Sprintf("asking %q where nobody is", q.Text))
				}
			},
		},
		{
			"where nobody is nothing is shown",
			"Where nobody watches, Watch does nothing: no view is called.",
			func(c *check, s seat) {
				s.empty(c)
				var called atomic.Bool
				stop := s.Watch(ports.Watched{
					Label:  "label",
					Status: func() ports.Status { called.Store(true); return ports.Status{} },
					View:   func(ports.Status) (ports.Screen, bool) { called.Store(true); return ports.Screen{}, false },
				})
				c.soon("ending what is watched, twice", func() { stop(); stop() })
				if called.Load() {
					c.Errorf("the run was looked at; want nothing")
				}
			},
		},
		{
			"runs are watched at once",
			"Watch may be called for several runs, also of one label, and what ends each may be called again, in any order and at once.",
			func(c *check, s seat) {
				status := func() ports.Status {
					return ports.Status{Run: ports.RunInfo{Label: "label", Workflow: "fix"}, Namespaces: []ports.NamespaceStatus{{Name: ports.Base}}}
				}
				var stops [4]func()
				c.together(len(stops), func(i int) {
					stops[i] = s.Watch(ports.Watched{Label: "label", Status: status, View: func(ports.Status) (ports.Screen, bool) { return ports.Screen{}, false }})
				})
				stops[1]()
				stops[1]()
				if s.person != nil {
					r := s.ask(c, ports.Question{Text: "watching?"})
					s.person.Write("yes")
					r.wants(c, "yes")
				}
				c.together(2*len(stops), func(i int) { stops[i/2]() })
			},
		},
		{
			"what a run shows is on the screen",
			"A run's own view is shown, as it is at each moment, until the run is not watched any more.",
			func(c *check, s seat) {
				s.taken(c)
				c.needs(s.person.Watches, "Person.Watches")
				var n atomic.Int64
				stop := s.Watch(ports.Watched{
					Label:  "label",
					Status: func() ports.Status { return ports.Status{Run: ports.RunInfo{Label: "label", Version: int(n.Load())}} },
					View: func(at ports.Status) (ports.Screen, bool) {
						return ports.Screen{Title: "harvest", Body: []ports.Block{ports.Paragraph(fmt.Sprintf("apples: %d", at.Run.Version))}}, true
					},
				})
				s.shows(c, "harvest")
				s.shows(c, "apples: 0")
				n.Store(7)
				s.shows(c, "apples: 7")
				stop()
				s.until(c, func() bool { return !strings.Contains(s.person.Screen(), "harvest") },
					func() { c.told("the run is on the screen; want it gone, as it is not watched any more") })
			},
		},
	}, queueRules...)
}

// queueRules are about which question is on the screen.
var queueRules = []rule[seat]{
	{
		"the most urgent is on the screen",
		"Of the questions that wait, the one of the highest priority is shown, and no other.",
		func(c *check, s seat) {
			s.taken(c)
			low := s.ask(c, ports.Question{Text: "lowly?", Priority: -1})
			normal := s.ask(c, ports.Question{Text: "normal?"})
			high := s.ask(c, ports.Question{Text: "highly?", Priority: 9})
			s.hidden(c, "normal?", "one of a higher priority waits")
			for _, r := range []*reply{high, normal, low} {
				s.shows(c, r.text)
				s.person.Write("to " + r.text)
				r.wants(c, "to "+r.text)
			}
		},
	},
	{
		"of equal ones the first comes first",
		"Questions of one priority are shown in the order in which they were asked.",
		func(c *check, s seat) {
			s.taken(c)
			c.needs(s.person.Waiting != nil, "Person.Waiting")
			var all []*reply
			for i := range 4 {
				all = append(all, s.put(c.Context(), c, ports.Question{Text: fmt.Sprintf("in turn %d?", i), Priority: 3}))
				s.waits(c, i+1)
			}
			for _, r := range all {
				s.shows(c, r.text)
				s.person.Write("to " + r.text)
				r.wants(c, "to "+r.text)
			}
		},
	},
	{
		"a displaced question keeps its place",
		"A question that gave way to a more urgent one is shown again before those that were asked after it.",
		func(c *check, s seat) {
			s.taken(c)
			c.needs(s.person.Waiting != nil, "Person.Waiting")
			first := s.ask(c, ports.Question{Text: "first of all?"})
			second := s.put(c.Context(), c, ports.Question{Text: "second to it?"})
			s.waits(c, 2)
			urgent := s.ask(c, ports.Question{Text: "urgently?", Priority: 1})
			for _, r := range []*reply{urgent, first, second} {
				s.shows(c, r.text)
				s.person.Write("to " + r.text)
				r.wants(c, "to "+r.text)
			}
		},
	},
	{
		"what is typed stays with its question",
		"The text that was typed for a question is no other's, and is there again when the question is.",
		func(c *check, s seat) {
			s.taken(c)
			c.needs(s.person.Type != nil, "Person.Type")
			first := s.ask(c, ports.Question{Text: "in two parts?"})
			s.person.Type("half ")
			urgent := s.ask(c, ports.Question{Text: "between them?", Priority: 1})
			s.person.Write("all")
			urgent.wants(c, "all")
			first.open(c, "when another was answered")
			s.shows(c, "in two parts?")
			s.person.Write("and half")
			first.wants(c, "half and half")
		},
	},
	{
		"each call is a question of its own",
		"Two that ask the same, under the same id, get an answer each, in the order in which they asked.",
		func(c *check, s seat) {
			s.taken(c)
			c.needs(s.person.Waiting != nil, "Person.Waiting")
			q := ports.Question{Text: "the very same?", Options: []string{"yes", "no"}}
			first := s.ask(c, q)
			second := s.put(c.Context(), c, q)
			s.waits(c, 2)
			s.person.Choose(0)
			first.wants(c, "yes")
			s.shows(c, q.Text)
			second.open(c, "when the other was answered")
			s.person.Choose(1)
			second.wants(c, "no")
		},
	},
	{
		"many may ask at once",
		"Several goroutines may ask at once; each gets the answer to its own question, and all are shown, one after the other.",
		func(c *check, s seat) {
			s.taken(c)
			all := map[string]*reply{}
			for i := range 8 {
				text := fmt.Sprintf("of many %d?", i)
				all[text] = s.put(c.Context(), c, ports.Question{Text: text})
			}
			for len(all) > 0 {
				var shown string
				s.until(c, func() bool {
					screen := s.person.Screen()
					for text := range all {
						if strings.Contains(screen, text) {
							shown = text
						}
					}
					return shown != ""
				}, func() {
					c.told("none of %d questions is on the screen; want one; there is:\n%s", len(all), s.person.Screen())
				})
				s.person.Write("to " + shown)
				all[shown].wants(c, "to "+shown)
				delete(all, shown)
			}
		},
	},
}
