package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/agl"
	"example.com/agl/ports"
)

// silence is how long nothing is written about a verb that runs before a line
// says that it still does.
const silence = 30 * time.Second

// A volume is how much of what happens is written.
type volume int

const (
	nothing  volume = iota
	warnings        // what a person should know: salvage and notes
	everything
)

// A progress writes what happens in a run as plain lines: who, how long it has
// been at it, and what it does.
type progress struct {
	out     io.Writer
	program string // what a person types to answer
	volume  volume
	// attended says that a person is asked at the terminal, which tells them.
	attended bool
	begun    bool // a run has begun

	mu    sync.Mutex
	now   map[string]*underWay // by namespace
	waits map[string]bool      // the namespaces of which it was told that they wait
	hits  []hit                // that are to be told of once something else happens
}

// A hit is a verb that was answered from its record.
type hit struct {
	run, who, text string
	failed         bool
}

// hitsTold is how many hits in a row have a line each; more are counted.
const hitsTold = 5

// underWay is what a namespace does now.
type underWay struct {
	kind  ports.RecordKind
	who   string
	when  time.Time // it began
	told  time.Time // the last line about it was written
	tries int       // of a landing: how often what a resolver had made of its conflict was tried
	red   bool      // of a landing: the output of its red gate is written already
	under *underWay // of an agent in a conflict: the landing
}

// progress returns one for what the command line asked for.
func (s *session) progress() *progress {
	volume := everything
	switch {
	case s.globals.JSON:
		volume = nothing
	case s.globals.Quiet:
		volume = warnings
	}
	p := newProgress(s.stderr, volume)
	p.program = s.program.Name
	return p
}

func newProgress(out io.Writer, volume volume) *progress {
	return &progress{out: out, volume: volume, now: make(map[string]*underWay), waits: make(map[string]bool)}
}

// keepTime writes lines about verbs that say nothing for long, until stop is
// called.
func (p *progress) keepTime() (stop func()) {
	ticker := time.NewTicker(time.Second)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case now := <-ticker.C:
				p.tick(now)
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// tick writes a line about each verb that nothing was told of for long.
func (p *progress) tick(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tellHits()
	for _, namespace := range slices.Sorted(maps.Keys(p.now)) {
		if now.Sub(p.now[namespace].told) >= silence {
			p.line(everything, agl.Event{Namespace: namespace, Time: now}, "… still running")
		}
	}
}

// event writes one event. The engine calls it from one goroutine.
func (p *progress) event(e agl.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch what := e.What.(type) {
	case ports.RunBegan:
		p.begun = true
		verb := "begins"
		if what.Resumed {
			verb = "resumes"
		}
		p.by(everything, e, what.Info.Workflow, fmt.Sprintf("%s run %s (branch %s)", verb, what.Info.Label, what.Info.Branch))
	case ports.Opened:
		p.by(everything, e, place(e), openedText(what))
	case ports.Hit:
		who := called(what.Record.Kind, e.Namespace, what.Record.Name, what.Ordinal)
		p.hits = append(p.hits, hit{line(e.Run, 60), who, hitText(what), what.Failed})
	case ports.Waits:
		if what.For != "" && !p.waits[e.Namespace] {
			p.by(everything, e, place(e), "waits for "+whose(what.For))
		}
		p.waits[e.Namespace] = what.For != ""
	case ports.Began:
		now := &underWay{kind: what.Kind, who: called(what.Kind, e.Namespace, what.Name, what.Ordinal), when: e.Time}
		if what.Kind == ports.KindFix {
			now.under = p.now[e.Namespace]
		}
		p.now[e.Namespace] = now
		p.line(everything, e, begunText(what))
	case ports.Activity:
		p.line(everything, e, what.Text)
	case ports.Gated:
		p.line(everything, e, gatedText(what))
		p.output(&what.Verdict)
		if now := p.now[e.Namespace]; now != nil {
			now.red = !what.Verdict.Passed
		}
	case ports.Met:
		p.line(everything, e, metText(what))
		now := p.now[e.Namespace]
		if now == nil || !now.red { // recorded by an earlier process
			p.output(what.Verdict)
		}
		if now != nil {
			now.tries, now.red = what.Attempt-1, false
		}
	case ports.Asked:
		if !p.attended {
			p.line(warnings, e, askedText(what.Question, p.program))
		}
	case ports.Answered:
		if text := answeredText(what); text != "" {
			p.line(everything, e, text)
		}
	case ports.Ended:
		now := p.now[e.Namespace]
		for now != nil && now.kind != what.Record.Kind { // an agent that was cancelled in a conflict has no end
			now = now.under
		}
		name := called(what.Record.Kind, e.Namespace, what.Record.Name, 0) // of a step that was refused before it began
		if now == nil {
			p.by(everything, e, name, endedText(&what.Record, 0))
			break
		}
		p.now[e.Namespace] = now
		p.line(everything, e, endedText(&what.Record, now.tries))
		if p.now[e.Namespace] = now.under; now.under == nil {
			delete(p.now, e.Namespace)
		}
	case ports.WasSalvaged:
		s := what.Salvage
		p.line(warnings, e, fmt.Sprintf("kept %s as salvage %d: %s", counted(int64(s.Paths), "changed path"), s.N, s.Reason))
	case ports.Noted:
		p.line(warnings, e, what.Text)
	case ports.RunEnded:
		p.tellHits()
	}
}

// tellHits writes of the verbs that were answered from their records since the
// last line. Of many, those that are recorded as done are counted.
func (p *progress) tellHits() {
	hits := p.hits
	p.hits = nil
	if p.volume < everything {
		return
	}
	if len(hits) > hitsTold {
		all := len(hits)
		run := hits[0].run
		hits = slices.DeleteFunc(hits, func(h hit) bool { return !h.failed })
		p.write(run, "", counted(int64(all-len(hits)), "verb")+" recorded already")
	}
	for _, h := range hits {
		p.write(h.who, "", h.text)
	}
}

// output writes the end of what a red gate has written.
func (p *progress) output(verdict *agl.Verdict) {
	if p.volume < everything || verdict == nil || verdict.Passed {
		return
	}
	fmt.Fprint(p.out, outputText(verdict.Output))
}

// line writes a line about what the event's namespace does now, or about the
// run.
func (p *progress) line(at volume, e agl.Event, text string) {
	name := place(e)
	if now := p.now[e.Namespace]; now != nil {
		name = now.who
	}
	p.by(at, e, name, text)
}

// by writes a line: who, how long its namespace has been at what it does, and
// what.
func (p *progress) by(at volume, e agl.Event, name, text string) {
	since := ""
	if now := p.now[e.Namespace]; now != nil {
		since = took(e.Time.Sub(now.when).Round(100 * time.Millisecond))
		now.told = e.Time
	}
	if at > p.volume {
		return
	}
	p.tellHits()
	p.write(name, since, text)
}

func (p *progress) write(name, since, text string) {
	fmt.Fprintf(p.out, "%-20s %6s  %s\n", name, since, line(text, 200))
}
