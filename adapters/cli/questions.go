package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/agl"
	"example.com/agl/ports"
)

type questionsCmd struct {
	Label string `arg:"" optional:"" help:"The run; all of them by default."`
}

func (c *questionsCmd) run(ctx context.Context, s *session) error {
	return s.with(ctx, func(engine *agl.Engine) error {
		labels := []string{c.Label}
		if c.Label == "" {
			runs, err := engine.Runs(ctx)
			if err != nil {
				return err
			}
			labels = nil
			for _, info := range runs {
				labels = append(labels, info.Label)
			}
		}
		var open []agl.OpenQuestion
		for _, label := range labels {
			of, err := engine.Questions(ctx, label)
			if err != nil {
				return err
			}
			open = append(open, of...)
		}
		if s.globals.JSON {
			answer := questionsAnswer{}
			for _, o := range open {
				answer.Questions = append(answer.Questions, questionJSON(o))
			}
			return s.answer(answer)
		}
		return s.print("%s", questionsText(open, s.program.Name))
	})
}

// questionsText lists questions, each with how it is answered.
func questionsText(open []agl.OpenQuestion, program string) string {
	if len(open) == 0 {
		return "no question waits for an answer\n"
	}
	var b strings.Builder
	for _, o := range open {
		q := o.Question
		if o.Unused {
			fmt.Fprintf(&b, "%s  %s  nothing asks for the answer %q\n", q.Run, q.ID, line(o.Answer, 200))
			continue
		}
		fmt.Fprintf(&b, "%s  %s  asked by %s, %s\n", q.Run, q.ID, asker(q), stamp(o.Asked))
		for text := range strings.Lines(q.Text) {
			fmt.Fprintf(&b, "    %s\n", line(text, 1000))
		}
		for i, option := range q.Options {
			fmt.Fprintf(&b, "    %d  %s\n", i+1, line(option, 1000))
		}
		if q.Free && len(q.Options) > 0 {
			b.WriteString("    or a text of your own\n")
		}
		switch {
		case o.Answer != "":
			fmt.Fprintf(&b, "    answered: %q; the run takes it when it goes on\n", line(o.Answer, 200))
		default:
			fmt.Fprintf(&b, "    %s answer %s %s %s\n", program, q.Run, q.ID, answerForm(q))
		}
	}
	return b.String()
}

// asker names who asks.
func asker(q ports.Question) string {
	if strings.HasPrefix(q.From, string(ports.KindLanding)+" ") { // of its namespace
		return line(q.From, 60)
	}
	if q.From == "" && q.Namespace != ports.Base {
		return "the workflow, in " + line(q.Namespace, 60)
	}
	return who(q.Namespace, cmp.Or(q.From, "the workflow"))
}

// answerForm says what an answer to a question looks like.
func answerForm(q ports.Question) string {
	switch {
	case len(q.Options) == 0:
		return "TEXT"
	case q.Free:
		return "OPTION|TEXT"
	}
	return "OPTION"
}

type answerCmd struct {
	Label string `arg:"" help:"The run."`
	ID    string `arg:"" name:"id" help:"The question, as questions lists it; its first characters do."`
	Value string `arg:"" help:"The answer: an option or its number (an option that is itself a number wins), or, where the question takes one, a text; - reads it from standard input."`
}

func (c *answerCmd) run(ctx context.Context, s *session) error {
	value := c.Value
	if value == "-" {
		text, err := io.ReadAll(io.LimitReader(s.stdin, ports.MaxAnswer+1))
		if err != nil {
			return ports.Unavailable.Errorf("read the answer", "%w", err)
		}
		value = strings.TrimSuffix(string(text), "\n")
	}
	return s.with(ctx, func(engine *agl.Engine) error {
		open, err := findQuestion(ctx, engine, c.Label, c.ID)
		if err != nil {
			return err
		}
		q := open.Question
		if value, err = optionOf(q, value); err != nil {
			return err
		}
		if err := engine.Answer(ctx, c.Label, q.ID, value); err != nil {
			return err
		}
		status, err := engine.Status(ctx, c.Label)
		if err != nil {
			return err
		}
		if s.globals.JSON {
			return s.answer(questionJSON(agl.OpenQuestion{Question: q, Asked: time.Now(), Answer: value}))
		}
		text := fmt.Sprintf("answered %s: %s", q.ID, line(value, 200))
		if open.Answer != "" && open.Answer != value {
			text += fmt.Sprintf(" (instead of %s)", line(open.Answer, 200))
		}
		if status.Run.State != agl.StateRunning {
			text += fmt.Sprintf("\ngo on with %s resume %s", s.program.Name, c.Label)
		}
		return s.print("%s\n", text)
	})
}

// findQuestion returns the open question whose id begins with what was typed.
func findQuestion(ctx context.Context, engine *agl.Engine, label, id string) (agl.OpenQuestion, error) {
	if id == "" {
		return agl.OpenQuestion{}, ports.Invalid.Errorf("", "the id is empty: questions %s lists what is open", label)
	}
	open, err := engine.Questions(ctx, label)
	if err != nil {
		return agl.OpenQuestion{}, err
	}
	var found []agl.OpenQuestion
	for _, o := range open {
		if !o.Unused && strings.HasPrefix(o.Question.ID, id) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return agl.OpenQuestion{}, ports.NotFound.Errorf("", "no open question of run %s has an id that begins with %q", label, line(id, 40))
	case 1:
		return found[0], nil
	}
	return agl.OpenQuestion{}, ports.Invalid.Errorf("", "%d open questions of run %s have ids that begin with %q: type more of it", len(found), label, line(id, 40))
}

// optionOf returns the option that a number stands for, where that is no option
// itself; else what was typed. The number of the entry that the dashboard has
// for a text is no answer.
func optionOf(q ports.Question, typed string) (string, error) {
	n, err := strconv.Atoi(typed)
	switch {
	case err != nil, len(q.Options) == 0, slices.Contains(q.Options, typed):
		return typed, nil
	case n >= 1 && n <= len(q.Options):
		return q.Options[n-1], nil
	case q.Free:
		return "", ports.Invalid.Errorf("", "the options are 1 to %d; to answer in your own words type these, and more than a number", len(q.Options))
	}
	return "", ports.Invalid.Errorf("", "the options are 1 to %d", len(q.Options))
}

// unansweredText says which questions a run has stopped for, and how it goes on.
func unansweredText(e *agl.UnansweredError, program string) string {
	switch n := len(e.Questions); n {
	case 0:
		return e.Error()
	case 1:
		q := e.Questions[0]
		return fmt.Sprintf("nobody is there to answer %s: %s - answer with %s answer %s %s %s, then %s resume %s",
			asker(q), line(q.Text, 200), program, e.Label, q.ID, answerForm(q), program, e.Label)
	default:
		return fmt.Sprintf("nobody is there to answer %d questions, the first by %s: %s - see %s questions %s, answer, then %s resume %s",
			n, asker(e.Questions[0]), line(e.Questions[0].Text, 200), program, e.Label, program, e.Label)
	}
}

// askedText says in one line what is asked and how it is answered.
func askedText(q ports.Question, program string) string {
	text := "asks: " + line(q.Text, 100)
	if len(q.Options) > 0 {
		text += " [" + line(strings.Join(q.Options, ", "), 60) + "]"
	}
	return fmt.Sprintf("%s (%s answer %s %s %s)", text, program, q.Run, q.ID, answerForm(q))
}

// answeredText says in one line what a question came to; "" where it was taken
// back.
func answeredText(a ports.Answered) string {
	switch a.By {
	case ports.AnsweredHere:
		return "answered: " + line(a.Answer, 100)
	case ports.AnsweredElsewhere:
		return "answered from elsewhere: " + line(a.Answer, 100)
	case ports.AnsweredBefore:
		return "was answered before: " + line(a.Answer, 100)
	case ports.AnsweredDefault:
		return "nobody is there to answer, so it is: " + line(a.Answer, 100)
	}
	return ""
}
