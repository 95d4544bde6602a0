package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// Status returns how a run stands: as it is right now if it runs in this
// engine, else from its records.
func (e *Engine) Status(ctx context.Context, label string) (ports.Status, error) {
	e.mu.Lock()
	x := e.live[label]
	e.mu.Unlock()
	if x != nil {
		if s := x.snapshot(); s.Run.Label != "" {
			return s, nil
		}
	}
	book, err := e.open(ctx, label)
	if err != nil {
		return ports.Status{}, err
	}
	s := ports.Status{Run: e.info(ctx, book)}
	fromRecords(&s, book)
	return s, e.underWay(ctx, &s, book)
}

// fromRecords fills in what a run's live records say.
func fromRecords(s *ports.Status, book *ledger.Book) {
	s.Usage = book.Spent()
	statusOf(s, ports.Base)
	for _, namespace := range book.Namespaces() {
		if opened := book.Opened(namespace); opened != nil {
			statusOf(s, namespace).Parent = opened.Parent
		}
	}
	countRecords(s, book)
	for _, entry := range book.Entries() {
		if entry.Kind == ports.KindStep || entry.Kind == ports.KindFix {
			ns := statusOf(s, entry.Namespace)
			ns.Usage = ns.Usage.Add(entry.Usage)
		}
	}
}

// landingAfter says how a namespace's landing stands after a record of it.
func landingAfter(was ports.LandingState, r *ports.Record) ports.LandingState {
	switch {
	case r.Kind == ports.KindLanding && r.Failure != nil:
		return ports.LandingFailed
	case r.Kind == ports.KindLanding:
		return ports.LandingDone
	case r.Moved():
		return ports.LandingNone
	}
	return was
}

// noted returns notes with one more, and without the oldest of too many.
func noted(notes []string, namespace, text string) []string {
	if namespace != "" && namespace != ports.Base {
		text = namespace + ": " + text
	}
	notes = append(slices.Clone(notes), ports.Clip(ports.Printable(text), 400))
	return notes[max(0, len(notes)-ports.StatusNotes):]
}

// countRecords fills in how many live records each namespace has.
func countRecords(s *ports.Status, book *ledger.Book) {
	for i := range s.Namespaces {
		s.Namespaces[i].Records, s.Namespaces[i].Landing = 0, ports.LandingNone
	}
	for _, entry := range book.Live("") {
		ns := statusOf(s, entry.Namespace)
		ns.Records++
		ns.Landing = landingAfter(ns.Landing, &entry.Record)
	}
}

// recount is for when records were given up.
func (x *execution) recount() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status.Namespaces = slices.Clone(x.status.Namespaces)
	countRecords(&x.status, x.book)
}

// inSession is for when it is known which of a vendor's conversations an agent
// is in.
func (x *execution) inSession(namespace, id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status.Namespaces = slices.Clone(x.status.Namespaces)
	statusOf(&x.status, namespace).Session = id
}

// idle is for when a verb has ended without a record.
func (x *execution) idle(namespace string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ns := statusOf(&x.status, namespace)
	rest(ns)
	if ns.Landing == ports.LandingUnderWay || ns.Landing == ports.LandingConflict {
		ns.Landing = ports.LandingNone
	}
}

// rest makes a namespace's status that of one in which no verb runs.
func rest(ns *ports.NamespaceStatus) {
	ns.Verb, ns.Name, ns.Ordinal, ns.Activity, ns.Session, ns.Since = "", "", 0, "", "", time.Time{}
}

// underWay adds what a run that has not ended waits for, and, from its notes,
// what another process that holds it is doing, or was when it was interrupted.
func (e *Engine) underWay(ctx context.Context, s *ports.Status, book *ledger.Book) error {
	if s.Run.State != ports.StateRunning && s.Run.State != ports.StateInterrupted {
		return nil
	}
	open, err := e.Questions(ctx, s.Run.Label)
	if err != nil {
		return err
	}
	for _, o := range open {
		if !o.Unused {
			ns := statusOf(s, o.Question.Namespace)
			ns.Asking = append(ns.Asking, o.Question)
		}
	}
	namespaces, err := book.Notes(ctx)
	if err != nil {
		return err
	}
	for _, namespace := range namespaces {
		note, err := book.ReadNote(ctx, namespace)
		if err != nil || note == nil {
			continue // it is written at this moment, or its verb is recorded
		}
		ns := statusOf(s, namespace)
		ns.Session = note.Session
		if s.Run.State != ports.StateRunning {
			continue
		}
		kind, name, _ := strings.Cut(note.Name, " ")
		ns.Verb, ns.Name, ns.Since = ports.RecordKind(kind), name, note.Started
	}
	return nil
}

// Status returns the run at this instant.
func (r *Run) Status() ports.Status { return r.walk.x.snapshot() }

func (x *execution) snapshot() ports.Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.status
	s.Namespaces = slices.Clone(s.Namespaces)
	return s
}

// observe keeps the run's status from what happens in it.
func (x *execution) observe(namespace string, what ports.Happening) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e := what.(type) {
	case ports.Noted:
		x.status.Notes = noted(x.status.Notes, namespace, e.Text)
		return
	case ports.WasSalvaged:
		x.status.Notes = noted(x.status.Notes, namespace, fmt.Sprintf("kept as salvage %d: %s", e.Salvage.N, e.Salvage.Reason))
		return
	}
	if namespace == "" {
		if began, ok := what.(ports.RunBegan); ok {
			x.status = ports.Status{Run: began.Info}
			x.status.Run.State = ports.StateRunning
			fromRecords(&x.status, x.book)
		}
		return
	}
	ns := statusOf(&x.status, namespace)
	switch e := what.(type) {
	case ports.Began:
		if e.Kind == ports.KindLanding {
			x.landings[namespace] = e
			ns.Landing = ports.LandingUnderWay
		}
		ns.Verb, ns.Name, ns.Ordinal, ns.Activity, ns.Session, ns.Since = e.Kind, e.Name, e.Ordinal, "", "", x.engine.now()
	case ports.Opened:
		ns.Parent = e.Parent
	case ports.Waits:
		ns.Waiting = e.For
	case ports.Activity:
		ns.Activity = e.Text
	case ports.Asked:
		ns.Asking = append(slices.Clone(ns.Asking), e.Question)
	case ports.Answered:
		ns.Asking = slices.DeleteFunc(slices.Clone(ns.Asking), func(q ports.Question) bool { return q.ID == e.Question.ID })
	case ports.Gated:
		ns.Verdict = &e.Verdict
	case ports.Met:
		ns.Landing, ns.Verdict = ports.LandingConflict, e.Verdict
	case ports.Ended:
		switch retried := x.book.Entry(e.Record.Retry); {
		case e.Record.Kind == ports.KindFix: // its landing goes on
			landing := x.landings[namespace]
			ns.Verb, ns.Name, ns.Ordinal, ns.Activity, ns.Session, ns.Since = landing.Kind, landing.Name, landing.Ordinal, "", "", x.engine.now()
		case e.Record.Kind.Ordered():
			rest(ns)
			ns.Landing = landingAfter(ns.Landing, &e.Record)
			if retried == nil || retried.Failure == nil { // else it takes the place of a live one
				ns.Records++
			}
		}
		if e.Record.Kind == ports.KindStep || e.Record.Kind == ports.KindFix {
			ns.Usage = ns.Usage.Add(e.Record.Usage)
			x.status.Usage = x.status.Usage.Add(e.Record.Usage)
		}
		x.status.Run.Head = x.book.Head(ports.Base)
	}
}

// statusOf returns the part of s about a namespace, made if it is missing.
func statusOf(s *ports.Status, namespace string) *ports.NamespaceStatus {
	for i := range s.Namespaces {
		if s.Namespaces[i].Namespace == namespace {
			return &s.Namespaces[i]
		}
	}
	s.Namespaces = append(s.Namespaces, ports.NamespaceStatus{Namespace: namespace, Usage: ports.Usage{Complete: true}})
	return &s.Namespaces[len(s.Namespaces)-1]
}
