package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/agl"
	"example.com/agl/ports"
)

type showCmd struct {
	Label string `arg:"" help:"The run."`
}

func (c *showCmd) run(ctx context.Context, s *session) error {
	return s.with(ctx, func(engine *agl.Engine) error {
		status, err := engine.Status(ctx, c.Label)
		if err != nil {
			return err
		}
		journal, err := engine.Journal(ctx, c.Label)
		if err != nil {
			return err
		}
		if s.globals.JSON {
			answer := showAnswer{Run: runJSON(journal.Run), Namespaces: namespacesJSON(status), Replies: journal.Replies, Usage: usageJSON(journal.Records)}
			for i := range journal.Records {
				answer.Records = append(answer.Records, recordJSON(&journal.Records[i]))
			}
			return s.answer(answer)
		}
		return s.print("%s", journalText(journal, status, time.Now(), s.paint()))
	})
}

// journalText is a run and its records for a person. status is how it stood
// just before.
func journalText(j agl.Journal, status agl.Status, now time.Time, paint painter) string {
	var b strings.Builder
	head := table(&b)
	fmt.Fprintf(head, "run\t%s\n", j.Run.Label)
	fmt.Fprintf(head, "workflow\t%s, version %d\n", j.Run.Workflow, j.Run.Version)
	if params := string(j.Run.Params); params != "" && params != "{}" {
		fmt.Fprintf(head, "parameters\t%s\n", line(params, 200))
	}
	fmt.Fprintf(head, "branch\t%s at %s, from %s\n", j.Run.Branch, short(j.Run.Head), short(j.Run.Base))
	fmt.Fprintf(head, "begun\t%s\n", stamp(j.Run.Created))
	fmt.Fprintf(head, "state\t%s\n", paint.state(j.Run.State))
	if j.Run.Error != "" {
		fmt.Fprintf(head, "error\t%s\n", line(j.Run.Error, 400))
	}
	if n := j.Run.Unreached; n > 0 {
		fmt.Fprintf(head, "unreached\t%s that the workflow did not ask for\n", counted(int64(n), "record"))
	}
	for _, ns := range status.Namespaces {
		switch {
		case ns.Namespace != ports.Base:
		case len(ns.Asking) > 0:
			fmt.Fprintf(head, "under way\t%s\n", asksText(ns))
		case ns.Waiting != "":
			fmt.Fprintf(head, "under way\twaits for %s\n", whose(ns.Waiting))
		case ns.Verb != "":
			fmt.Fprintf(head, "under way\t%s %s, since %s (%s)\n", ns.Verb, line(ns.Name, 60), stamp(ns.Since), took(now.Sub(ns.Since)))
		}
		if ns.Namespace == ports.Base && ns.Session != "" {
			fmt.Fprintf(head, "session\t%s\n", line(ns.Session, 100))
		}
	}
	head.Flush()
	b.WriteString(worktreesText(status, j.Records, now))
	_, usage := shares(j.Records)
	if len(j.Records) > 0 {
		b.WriteString("\n" + recordsText(j.Records))
	}
	for _, r := range j.Replies {
		fmt.Fprintf(&b, "\n%s asked: %s\n    answered: %s\n", who(r.Namespace, r.From), line(r.Question, 200), line(r.Answer, 200))
	}
	if usage.Tokens() > 0 {
		b.WriteString("\n" + usageText(j.Records))
	}
	given := ports.Usage{Input: status.Usage.Tokens() - usage.Tokens(), Cost: status.Usage.Cost - usage.Cost}
	switch {
	case given.Tokens() > 0:
		fmt.Fprintf(&b, "\n%s; %s more in records given up or landings under way%s\n", tokens(usage), count(given.Tokens()), cost(given))
	case usage.Tokens() > 0 && !usage.Complete:
		fmt.Fprintf(&b, "\nat least %s in all\n", tokens(usage))
	case len(j.Records) > 0:
		fmt.Fprintf(&b, "\n%s in all\n", tokens(usage))
	}
	return b.String()
}

// recordsText is the table of a run's records, and how some of them failed.
func recordsText(records []agl.Record) string {
	var b strings.Builder
	rows := table(&b)
	fmt.Fprintln(rows, "SEQ\tKIND\tROLE\tOUTCOME\tTIME\tTOKENS\tCOMMIT")
	ordinals := map[string]int{} // of verbs of one kind and name in a namespace
	for i := range records {
		r := &records[i]
		verb := fmt.Sprint(r.Namespace, " ", r.Kind, " ", r.Name)
		ordinals[verb]++
		name := called(r.Kind, r.Namespace, r.Name, ordinals[verb])
		if r.Kind == agl.KindLanding && r.Landing != nil && r.Landing.Into != ports.Base {
			name += " in " + line(r.Landing.Into, 60)
		}
		tokens, commit := "-", "-"
		if n := r.Usage.Tokens(); n > 0 {
			tokens = count(n)
		}
		if c := made(r); c != "" {
			commit = short(c)
		}
		fmt.Fprintf(rows, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n",
			r.Seq, r.Kind, name, outcome(r), took(r.Ended.Sub(r.Started)), tokens, commit)
	}
	rows.Flush()
	for i := range records {
		if r := &records[i]; r.Failure != nil {
			fmt.Fprintf(&b, "\n%d failed: %s\n", r.Seq, line(r.Failure.Message, 400))
			if v := refusal(r); v != nil {
				b.WriteString(outputText(v.Output))
			}
		}
	}
	return b.String()
}

// refusal returns the verdict of the gate that kept a landing from being made;
// nil if it was not a gate that did.
func refusal(r *ports.Record) *agl.Verdict {
	if r.Kind != agl.KindLanding || r.Failure == nil || r.Failure.Conflict == nil {
		return nil
	}
	if v := r.Failure.Conflict.Verdict; v != nil && !v.Passed {
		return v
	}
	return nil
}

func outcome(r *ports.Record) string {
	if r.Failure != nil {
		return cmp.Or(string(r.Failure.Kind), "failed")
	}
	var answer string
	if r.Kind == agl.KindAnswer && json.Unmarshal(r.Value, &answer) == nil {
		return line(answer, 40)
	}
	return "ok"
}

type runsCmd struct{}

func (c *runsCmd) run(ctx context.Context, s *session) error {
	return s.with(ctx, func(engine *agl.Engine) error {
		runs, err := engine.Runs(ctx)
		if err != nil {
			return err
		}
		if s.globals.JSON {
			var answer []runObject
			for _, info := range runs {
				answer = append(answer, runJSON(info))
			}
			return s.answer(answer)
		}
		if len(runs) == 0 {
			return s.print("no runs here yet\n")
		}
		var b strings.Builder
		rows := table(&b)
		fmt.Fprintln(rows, "LABEL\tWORKFLOW\tSTATE\tBEGUN\tBRANCH\tERROR")
		for _, info := range runs {
			fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%s\t%s\n",
				info.Label, cmp.Or(info.Workflow, "-"), info.State, stamp(info.Created), cmp.Or(info.Branch, "-"), line(info.Error, 200))
		}
		rows.Flush()
		return s.print("%s", trimLines(b.String()))
	})
}

// table returns a writer that aligns columns.
func table(b *strings.Builder) *tabwriter.Writer { return tabwriter.NewWriter(b, 0, 0, 2, ' ', 0) }

// trimLines drops the blanks that an empty last column leaves.
func trimLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// who names a role or call, and its worktree if it is not the run's own.
func who(namespace, name string) string {
	if namespace == ports.Base || namespace == "" {
		return line(name, 60)
	}
	return line(namespace+"/"+name, 60)
}

// line is text of others on one line.
func line(text string, limit int) string { return ports.Clip(ports.Printable(text), limit) }

func short(commit string) string { return commit[:min(len(commit), 10)] }

func stamp(t time.Time) string {
	if t.IsZero() { // of a run whose records cannot be read
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// count is a number with its thousands apart.
func count(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// counted is a number of things.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// tokens is what was used, and what it cost where that is known.
func tokens(u ports.Usage) string { return counted(u.Tokens(), "token") + cost(u) }

func cost(u ports.Usage) string {
	if u.Cost == 0 {
		return ""
	}
	return fmt.Sprintf(", $%.2f", u.Cost)
}
