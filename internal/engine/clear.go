package engine

import (
	"context"
	"errors"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// Clear removes a run: its processes, checkouts, branches, kept commits and
// records, run.json last. Salvage stays. A Clear that was killed can be
// repeated; a run whose records cannot be read can be cleared.
func (e *Engine) Clear(ctx context.Context, label string) (cleared ports.Cleared, err error) {
	if err := ports.CheckName("label", label); err != nil {
		return cleared, err
	}
	var corrupt *ports.CorruptError
	if _, err := ledger.ReadRun(ctx, e.set.Store, label); err != nil && !errors.As(err, &corrupt) {
		return cleared, err
	}
	x, err := e.hold(ctx, label)
	if err != nil {
		return cleared, err
	}
	defer x.release(&err)
	branches, err := x.clearable(ctx)
	if err != nil {
		return cleared, err
	}
	if cleared, err = x.trees.Clear(ctx, branches); err != nil {
		return cleared, err
	}
	return cleared, e.set.Store.Remove(ctx, label, ledger.RunFile)
}

// clearable returns the run's branches, each with the commit it is at: one
// that its records account for. A branch of a run that cannot be read is taken
// as it is: its tip is told.
func (x *execution) clearable(ctx context.Context) (map[string]string, error) {
	branch := BranchOf(x.label)
	at, err := x.engine.set.Workspaces.Branch(ctx, branch)
	if err != nil {
		return nil, err
	}
	branches := map[string]string{}
	if at != "" {
		branches[branch] = at
	}
	var corrupt *ports.CorruptError
	x.book, err = ledger.Open(ctx, x.engine.set.Store, x.label)
	if errors.As(err, &corrupt) {
		return branches, nil
	}
	if err != nil {
		return nil, err
	}
	if err := x.reap(ctx, "", ports.EnvRun+"="+x.book.Run.Nonce); err != nil {
		return nil, err
	}
	head := headOf(x.book, ports.Base)
	if at != "" && at != head && at != interruptedAt(x.book, ports.Base) {
		return nil, ports.Conflicted.Errorf("clear "+x.label,
			"branch %s is at %.12s, where no record put it (they say %.12s); give those commits a branch of their own and move it back, then clear", branch, at, head)
	}
	return branches, nil
}
