package engine

import (
	"context"

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
