package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	labels, err := e.set.Store.Runs(ctx)
	if err != nil {
		return cleared, err
	}
	if !slices.Contains(labels, label) {
		return cleared, ports.NotFound.Errorf("", "there is no run %q", label)
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
	if x.book != nil {
		// From here on the run can only be cleared: half its records would make
		// a resume buy again.
		if err := x.book.MarkCleared(ctx); err != nil {
			return cleared, err
		}
	}
	if cleared, err = x.trees.Clear(ctx, branches); err != nil {
		return cleared, err
	}
	return cleared, e.set.Store.Remove(ctx, label, ledger.RunFile)
}

// clearable returns the run's branches, each with the commit it is at: one
// that its records account for, or that a verb which was interrupted moved. A
// branch of a run that cannot be read is taken as it is: its tip is told.
func (x *execution) clearable(ctx context.Context) (map[string]string, error) {
	book, err := ledger.Open(ctx, x.engine.set.Store, x.label)
	if unreadable(err) {
		namespaces, err := ledger.Namespaces(ctx, x.engine.set.Store, x.label)
		if err != nil {
			return nil, err
		}
		return x.branchesOf(ctx, namespaces)
	}
	if err != nil {
		return nil, err
	}
	x.book = book
	if err := x.reap(ctx, "", ports.EnvRun+"="+book.Run.Nonce); err != nil {
		return nil, err
	}
	branches, err := x.branchesOf(ctx, book.Namespaces())
	if err != nil {
		return nil, err
	}
	moved := map[string]bool{} // namespaces in whose checkout a verb was interrupted
	for _, namespace := range book.Namespaces() {
		note, err := book.ReadNote(ctx, namespace)
		if err != nil && !unreadable(err) {
			return nil, err
		}
		in := namespace
		if note != nil && note.Landing != nil {
			in = note.Landing.Into
		}
		if note != nil || err != nil {
			moved[in] = true
		}
		if note != nil {
			if err := x.guardGone(ctx, in, *note, branches[x.branch(in)]); err != nil {
				return nil, fmt.Errorf("clear %s: %w", x.label, err)
			}
		}
	}
	for _, namespace := range book.Namespaces() {
		branch := x.branch(namespace)
		was, head := track(book, namespace)
		if at := branches[branch]; at != "" && at != head && at != was && !moved[namespace] {
			return nil, fmt.Errorf("clear %s: %w", x.label, strayBranch(branch, at, head))
		}
	}
	return branches, nil
}

// branchesOf returns the branches of namespaces that there are, each with the
// commit it is at.
func (x *execution) branchesOf(ctx context.Context, namespaces []string) (map[string]string, error) {
	branches := map[string]string{}
	for _, namespace := range namespaces {
		branch := x.branch(namespace)
		at, err := x.engine.set.Workspaces.Branch(ctx, branch)
		if err != nil {
			return nil, err
		}
		if at != "" {
			branches[branch] = at
		}
	}
	return branches, nil
}

// guardGone checks, before git runs in a checkout that is to go, that nothing
// was planted while the note's verb ran.
func (x *execution) guardGone(ctx context.Context, namespace string, note ledger.Note, at string) error {
	there, err := x.trees.Exists(ctx, namespace)
	if err != nil || !there || at == "" {
		return err
	}
	ws, err := x.workspace(ctx, namespace, x.branch(namespace), at)
	if err != nil {
		return err
	}
	return guarded(ctx, ws, note)
}

// unreadable reports whether a run's documents are torn, incomplete, or
// already being removed: such a run can be cleared and no more.
func unreadable(err error) bool {
	var corrupt *ports.CorruptError
	return errors.As(err, &corrupt) || errors.Is(err, ports.NotFound) || errors.Is(err, ledger.ErrCleared)
}
