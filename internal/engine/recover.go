package engine

import (
	"context"
	"errors"
	"fmt"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// recover finishes what an earlier process of the run was in the middle of: it
// ends what that left running, moves branches to where the records say, and
// concludes the verb that had run but was not recorded.
func (x *execution) recover(ctx context.Context) error {
	if err := x.reap(ctx, "", ports.EnvRun+"="+x.book.Run.Nonce); err != nil {
		return err
	}
	for _, namespace := range x.namespaces() {
		if err := x.recoverNamespace(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// namespaces are those that the run has.
func (x *execution) namespaces() []string { return []string{ports.Base} }

func (x *execution) recoverNamespace(ctx context.Context, namespace string) error {
	if err := x.book.Whole(ctx, namespace); err != nil {
		return err
	}
	note, err := x.book.ReadNote(ctx, namespace)
	var corrupt *ports.CorruptError
	switch {
	case errors.As(err, &corrupt):
		x.note(namespace, "a torn note is dropped: %v", err)
	case err != nil:
		return err
	}
	there, err := x.trees.Exists(ctx, namespace)
	if err != nil {
		return err
	}
	branch, head := x.branch(namespace), headOf(x.book, namespace)
	at, err := x.findBranch(ctx, namespace, branch, head, note != nil)
	if err != nil {
		return err
	}
	if !there {
		if note != nil && at != head { // by then nothing else leads to it
			if err := x.trees.Keep(ctx, "stray-"+at, at); err != nil {
				return err
			}
			x.note(namespace, "%s moved branch %s to %.12s: that commit is kept until the run is cleared", note.Name, branch, at)
		}
		if err := x.trees.Move(ctx, branch, at, head); err != nil {
			return err
		}
		return x.concludeGone(ctx, namespace, note)
	}
	ws, err := x.workspace(ctx, namespace, branch, at)
	if err != nil {
		return err
	}
	if note != nil {
		if err := guarded(ctx, ws, *note); err != nil {
			return err
		}
	}
	if at != head && note == nil {
		if err := x.moveCheckout(ctx, namespace, ports.Move{Namespace: namespace, Branch: branch, Old: at, New: head}); err != nil {
			return err
		}
	}
	if note != nil && note.Ending != nil {
		e, err := x.conclude(ctx, ws, branch, *note)
		if err != nil {
			return err
		}
		x.note(namespace, "%s had ended when the run was interrupted: it is recorded now", note.Name)
		head = e.Head
	}
	if err := x.putBack(ctx, namespace, ws, head, "found on resume"); err != nil {
		return err
	}
	return x.book.DropNote(ctx, namespace)
}

// concludeGone concludes a verb whose checkout is gone, if what it left there
// does not matter.
func (x *execution) concludeGone(ctx context.Context, namespace string, note *ledger.Note) error {
	if note != nil && note.Ending != nil && !note.Ending.Commit {
		if _, err := x.record(ctx, note.Record); err != nil {
			return err
		}
	} else if note != nil {
		x.note(namespace, "the checkout in which %s ran is gone, and what it did with it", note.Name)
	}
	return x.book.DropNote(ctx, namespace)
}

// findBranch returns where a namespace's branch is: at head, where an
// interrupted move left it, or where the verb that was interrupted did: its
// ending or putting back sees to that. One that is gone is made again; one
// that is anywhere else is Conflicted.
func (x *execution) findBranch(ctx context.Context, namespace, branch, head string, interrupted bool) (string, error) {
	at, err := x.engine.set.Workspaces.Branch(ctx, branch)
	switch {
	case err != nil:
		return "", err
	case at == head, at != "" && (interrupted || at == interruptedAt(x.book, namespace)):
		return at, nil
	case at != "":
		return "", strayBranch(branch, at, head)
	case namespace == ports.Base && len(x.book.Live("")) == 0:
		return head, x.grow(ctx)
	}
	x.note(namespace, "branch %s was gone: it is made again at %.12s", branch, head)
	return head, x.trees.Move(ctx, branch, "", head)
}

// strayBranch says that a branch is where no record put it.
func strayBranch(branch, at, head string) error {
	return ports.Conflicted.Errorf("", "branch %s is at %.12s, the records say %.12s; keep what is there (git branch NAME %.12s) and put it back (git update-ref refs/heads/%s %s %s)",
		branch, at, head, at, branch, head, at)
}

// headOf returns the commit that a namespace's records say its branch is at.
func headOf(b *ledger.Book, namespace string) string {
	head := b.Run.Base
	for _, e := range b.Live(namespace) {
		if e.Moved() {
			head = e.Head
		}
	}
	return head
}

// interruptedAt returns where a namespace's branch is if its last move was
// recorded and not made; "" if it never moved.
func interruptedAt(b *ledger.Book, namespace string) string {
	at := ""
	for _, e := range b.Entries() {
		switch {
		case e.Superseded != nil:
			for _, m := range e.Superseded.Moves {
				if m.Namespace == namespace && m.Old != m.New {
					at = m.Old
				}
			}
		case e.Kind.Ordered() && e.Namespace == namespace && e.Moved():
			at = e.Before
		}
	}
	return at
}

// restoreNote gives a dry walk the record that a resume would conclude first.
func restoreNote(ctx context.Context, b *ledger.Book, namespace string) (*ports.Record, error) {
	note, err := b.ReadNote(ctx, namespace)
	var corrupt *ports.CorruptError
	if err != nil && !errors.As(err, &corrupt) {
		return nil, fmt.Errorf("the note of %s: %w", namespace, err)
	}
	if note == nil || note.Ending == nil {
		return nil, nil
	}
	return note.Record, nil
}
