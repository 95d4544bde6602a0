package cli

import (
	"fmt"
	"io"
	"time"

	"example.com/agl"
	"example.com/agl/ports"
)

// A progress writes what happens in a run as plain lines: who, how long it has
// been at it, and what it does.
type progress struct {
	out   io.Writer
	began map[string]began // by namespace
}

// began is what a namespace does now.
type began struct {
	who  string
	when time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, began: make(map[string]began)} }

// event writes one event. The engine calls it from one goroutine.
func (p *progress) event(e agl.Event) {
	now := p.began[e.Namespace]
	switch what := e.What.(type) {
	case ports.RunBegan:
		verb := "begins"
		if what.Resumed {
			verb = "resumes"
		}
		p.line(e, what.Info.Workflow, fmt.Sprintf("%s run %s (branch %s)", verb, what.Info.Label, what.Info.Branch))
	case ports.Hit:
		p.line(e, who(e.Namespace, what.Record.Name), "recorded already")
	case ports.Began:
		name := who(e.Namespace, what.Name)
		if what.Ordinal > 1 {
			name = fmt.Sprintf("%s #%d", name, what.Ordinal)
		}
		p.began[e.Namespace] = began{who: name, when: e.Time}
		text := "begins"
		if what.Model != "" {
			text += " with " + string(what.Model)
		}
		p.line(e, name, text)
	case ports.Activity:
		p.line(e, now.who, what.Text)
	case ports.Gated:
		text := "the build gate passed"
		if !what.Verdict.Passed {
			text = "the build gate failed"
			if what.Verdict.Note != "" {
				text += ": " + what.Verdict.Note
			}
		}
		p.line(e, now.who, text)
	case ports.Ended:
		p.line(e, now.who, endedText(&what.Record))
		delete(p.began, e.Namespace)
	case ports.WasSalvaged:
		s := what.Salvage
		p.line(e, now.who, fmt.Sprintf("kept %d changed paths as salvage %d: %s", s.Paths, s.N, s.Reason))
	case ports.Noted:
		p.line(e, now.who, what.Text)
	}
}

func endedText(r *ports.Record) string {
	text := "done"
	if r.Failure != nil {
		text = "failed: " + r.Failure.Message
	}
	if n := r.Usage.Tokens(); n > 0 {
		text += fmt.Sprintf(", %s tokens%s", count(n), cost(r.Usage))
	}
	if r.Moved() {
		text += ", commit " + short(r.Head)
	}
	return text
}

// line writes a line about e: who did what, after how long.
func (p *progress) line(e agl.Event, who, text string) {
	since := ""
	if now, ok := p.began[e.Namespace]; ok {
		since = took(e.Time.Sub(now.when).Round(100 * time.Millisecond))
	}
	if who == "" {
		who = e.Run
	}
	fmt.Fprintf(p.out, "%-20s %6s  %s\n", who, since, line(text, 200))
}
