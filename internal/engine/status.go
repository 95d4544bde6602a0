package engine

import (
	"context"
	"slices"
	"time"

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
	s := ports.Status{Run: e.info(ctx, book), Usage: ports.Usage{Complete: true}}
	for _, entry := range book.Live("") {
		ns := statusOf(&s, entry.Namespace)
		ns.Records++
		ns.Usage = ns.Usage.Add(entry.Usage)
		ns.Since = entry.Ended
	}
	s.Usage = book.Spent()
	return s, nil
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
	if namespace == "" {
		if began, ok := what.(ports.RunBegan); ok {
			x.status = ports.Status{Run: began.Info, Usage: x.book.Spent()}
			x.status.Run.State = ports.StateRunning
			statusOf(&x.status, ports.Base)
		}
		return
	}
	ns := statusOf(&x.status, namespace)
	switch e := what.(type) {
	case ports.Began:
		ns.Verb, ns.Name, ns.Ordinal, ns.Activity, ns.Since = e.Kind, e.Name, e.Ordinal, "", x.engine.now()
	case ports.Activity:
		ns.Activity = e.Text
	case ports.Hit:
		ns.Records++
	case ports.Ended:
		ns.Verb, ns.Name, ns.Ordinal, ns.Activity, ns.Since = "", "", 0, "", time.Time{}
		ns.Records++
		ns.Usage = ns.Usage.Add(e.Record.Usage)
		x.status.Usage = x.status.Usage.Add(e.Record.Usage)
		x.status.Run.Head = e.Record.Head
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
