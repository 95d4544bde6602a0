package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// Plan says what a resume would do. It calls the workflow with nothing run,
// and changes nothing.
func (e *Engine) Plan(ctx context.Context, label string, def Definition) (ports.Plan, error) {
	if err := ports.CheckName("label", label); err != nil {
		return ports.Plan{}, err
	}
	x := &execution{engine: e, label: label, workspaces: map[string]ports.Workspace{}, quiet: true}
	if err := x.restore(ctx, def); err != nil {
		return ports.Plan{}, err
	}
	w := x.newWalk(true, nil, nil)
	w.pending = map[string]*ports.Record{}
	for _, name := range x.book.Namespaces() {
		r, err := restoreNote(ctx, x.book, name)
		if err != nil {
			return ports.Plan{}, err
		}
		w.pending[name] = r
	}
	x.since = x.book.Last()
	err := w.call(ctx)
	if halt := w.halted(); halt != nil {
		return ports.Plan{}, halt
	}
	p := w.plan(err)
	if w.missed() || len(p.Retries) > 0 {
		if err := x.ungatedSince(); err != nil {
			p.Refused = err.Error()
		}
	}
	return p, nil
}

// rest returns the live records of a namespace that were not asked for.
func (w *walk) rest(s *namespace) []*ledger.Entry {
	var rest []*ledger.Entry
	for _, e := range s.live[s.pos:] {
		if !w.again(e.Seq) {
			rest = append(rest, e)
		}
	}
	return rest
}

// planOf says what becomes of a namespace's records.
func (w *walk) planOf(s *namespace, miss *ports.Miss) ports.NamespacePlan {
	p := ports.NamespacePlan{Namespace: s.name, Hits: s.pos, Miss: miss}
	rest := w.rest(s)
	if miss != nil && s.again {
		rest = nil // what follows is asked for when the landing has been made
	}
	p.Unreached, p.Cost = w.x.cost(rest)
	if s.parent != nil {
		p.Parent = s.parent.name
	} else if opened := w.x.book.Opened(s.name); opened != nil { // it was not opened in this walk
		p.Parent = opened.Parent
	}
	return p
}

// bought reports whether a record says what something was bought for: a step,
// or a landing, for the agents in its conflicts.
func bought(e *ledger.Entry) bool {
	return e.Kind == ports.KindStep || e.Kind == ports.KindLanding
}

// cost returns the ordered ones among records, and what they were bought for:
// a landing for what was spent on its conflicts.
func (x *execution) cost(entries []*ledger.Entry) (ordered []ports.PlanRecord, cost ports.Usage) {
	ordered, cost = []ports.PlanRecord{}, ports.Usage{Complete: true}
	for _, e := range entries {
		switch {
		case !e.Kind.Ordered():
			continue
		case bought(e):
			cost = cost.Add(e.Usage)
		}
		ordered = append(ordered, planRecord(e))
	}
	return ordered, cost
}

// plan says what a dry walk found. err is what the function returned.
func (w *walk) plan(err error) ports.Plan {
	p := ports.Plan{Label: w.x.label, Retries: []ports.PlanRecord{}}
	for _, s := range w.all() {
		p.Namespaces = append(p.Namespaces, w.planOf(s, s.missed.Load()))
	}
	missed := w.missed()
	p.Partial = missed && !errors.Is(err, errDry)
	if !missed && err != nil {
		p.Error = err.Error()
	}
	for _, e := range w.x.retryable(err) {
		p.Retries = append(p.Retries, planRecord(e))
	}
	return p
}

// all returns the run's namespaces, sorted: those that the walk entered, and
// those that it did not and that have live records.
func (w *walk) all() []*namespace {
	w.base()
	all := maps.Clone(w.spaces)
	for _, name := range w.x.book.Namespaces() {
		if all[name] == nil {
			if s := w.enter(name, nil); len(w.rest(s)) > 0 {
				all[name] = s
			}
		}
	}
	var sorted []*namespace
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sorted = append(sorted, all[name])
	}
	return sorted
}

// missed reports whether a dry walk met a verb that is not recorded.
func (w *walk) missed() bool {
	for _, s := range w.spaces {
		if s.missed.Load() != nil {
			return true
		}
	}
	return false
}

// unreached counts the live records that the walk did not ask for.
func (w *walk) unreached() int {
	n := 0
	for _, s := range w.all() {
		n += len(w.rest(s))
	}
	return n
}
