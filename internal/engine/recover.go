package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	if err := x.dropTaken(ctx); err != nil {
		return err
	}
	ended := x.book.End() != nil // nothing was recorded since: whatever ran was concluded then
	namespaces := x.book.Namespaces()
	working := map[string]bool{} // namespaces in whose checkout the gate, or an agent in a conflict, may have been interrupted
	var landing []string
	for _, namespace := range namespaces { // before anything is put back
		note, err := x.recoverLanding(ctx, namespace)
		if err != nil {
			return err
		}
		if note != nil {
			landing = append(landing, namespace)
			working[note.Landing.Into] = working[note.Landing.Into] || note.Phase != ledger.Resolving
		}
	}
	for _, namespace := range namespaces {
		if err := x.recoverNamespace(ctx, namespace, working[namespace], ended); err != nil {
			return err
		}
	}
	for _, namespace := range landing { // until all is put back, only its note accounts for what an agent or the gate committed
		if err := x.book.DropNote(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// recoverLanding settles a landing that an earlier process was in the middle
// of: what a person may have made of its conflict is kept for when it is made
// again. The merge itself is ended when the parent's checkout is put back.
//
// It returns the landing's note, which is to be dropped after that; nil if there
// was none under way.
func (x *execution) recoverLanding(ctx context.Context, namespace string) (*ledger.Note, error) {
	if err := x.book.Whole(ctx, namespace); err != nil {
		return nil, err
	}
	note, err := x.book.ReadNote(ctx, namespace)
	if err = ignoreCorrupt(err); err != nil || note == nil || note.Landing == nil { // recoverNamespace tells of a torn one
		return nil, err
	}
	into := note.Landing.Into
	there, err := x.trees.Exists(ctx, into)
	if err != nil {
		return nil, err
	}
	branch := x.branch(into)
	at, err := x.engine.set.Workspaces.Branch(ctx, branch)
	if err != nil {
		return nil, err
	}
	was, head := track(x.book, into)
	if at != "" && at != head && at != was && note.Phase == ledger.Resolving {
		return nil, strayBranch(branch, at, head) // with all that is there as it is
	}
	if !there || at == "" {
		return note, nil
	}
	ws, err := x.workspace(ctx, into, branch, at)
	if err != nil {
		return nil, err
	}
	if err := guarded(ctx, ws, *note); err != nil {
		return nil, err
	}
	return note, x.keepHold(ctx, namespace, ws, at, note)
}

// keepHold records what is in a checkout that holds the note's merge: what an
// agent has left there, if its turn has ended, or what somebody may have typed.
func (x *execution) keepHold(ctx context.Context, namespace string, ws ports.Workspace, at string, note *ledger.Note) error {
	l := note.Landing
	ended := note.Phase == ledger.Fixing && note.Record != nil
	resolved := note.Phase == ledger.Merging && note.Try > 0
	if note.Phase != ledger.Resolving && !resolved && !ended || at != l.Before && !ended {
		return nil
	}
	spec := ports.MergeSpec{Head: l.Before, Theirs: l.Child, Branch: x.branch(namespace), Into: x.branch(l.Into)}
	who, err := x.committer(ctx)
	if err != nil {
		return err
	}
	if ended {
		x.note(namespace, "%s had ended when the run was interrupted: it is recorded now", note.Record.Name)
		return x.recordFix(ctx, ws, spec, note.Record, who)
	}
	return x.recordHold(ctx, ws, spec, namespace, note, who)
}

func ignoreCorrupt(err error) error {
	var corrupt *ports.CorruptError
	if errors.As(err, &corrupt) {
		return nil
	}
	return err
}

// recoverNamespace makes a namespace's branch and checkout stand where its
// records say. interrupted is whether something was in the middle of work there
// besides the namespace's own verb, ended whether the run had ended.
//
// Where it had, no verb has begun since and the branch is where it belongs,
// the checkout is not looked at: a replay starts no git. What somebody may have
// left there is salvaged before the next verb works there, as ever.
func (x *execution) recoverNamespace(ctx context.Context, namespace string, interrupted, ended bool) error {
	note, err := x.book.ReadNote(ctx, namespace)
	var corrupt *ports.CorruptError
	switch {
	case errors.As(err, &corrupt):
		x.note(namespace, "a torn note is dropped: %v", err)
	case err != nil:
		return err
	}
	landing := note != nil && note.Landing != nil
	if landing { // it is about another checkout, and recoverLanding has seen to it
		note = nil
	}
	there, err := x.trees.Exists(ctx, namespace)
	if err != nil {
		return err
	}
	branch := x.branch(namespace)
	was, head := track(x.book, namespace)
	at, err := x.findBranch(ctx, namespace, was, head, there, note != nil || interrupted)
	if err != nil {
		return err
	}
	if at == "" {
		return nil // nothing has worked there yet
	}
	if ended && !interrupted && note == nil && corrupt == nil && at == head {
		return nil
	}
	if !there {
		if (note != nil || interrupted) && at != head { // by then nothing else leads to it
			if err := x.trees.Keep(ctx, "stray-"+at, at); err != nil {
				return err
			}
			x.note(namespace, "what was interrupted there had moved branch %s to %.12s: that commit is kept until the run is cleared", branch, at)
		}
		if err := x.trees.Move(ctx, branch, at, head); err != nil || landing {
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
	if at != head && note == nil && !interrupted {
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
	if err := x.putBack(ctx, namespace, ws, head, "found on resume"); err != nil || landing {
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
// ending or putting back sees to that. One that is gone is made again, unless
// it was not made yet; one that is anywhere else is Conflicted.
func (x *execution) findBranch(ctx context.Context, namespace, was, head string, there, interrupted bool) (string, error) {
	branch := x.branch(namespace)
	at, err := x.engine.set.Workspaces.Branch(ctx, branch)
	switch {
	case err != nil:
		return "", err
	case at == head, at != "" && (interrupted || at == was):
		return at, nil
	case at != "":
		return "", strayBranch(branch, at, head)
	case namespace == ports.Base && len(x.book.Live("")) == 0:
		return head, x.grow(ctx)
	case !there && !interrupted && !x.worked(namespace):
		return "", nil
	}
	x.note(namespace, "branch %s was gone: it is made again at %.12s", branch, head)
	return head, x.trees.Move(ctx, branch, "", head)
}

// worked reports whether a verb of a namespace has worked in its checkout.
func (x *execution) worked(namespace string) bool {
	return slices.ContainsFunc(x.book.Live(namespace), func(e *ledger.Entry) bool { return e.Kind != ports.KindAnswer })
}

// strayBranch says that a branch is where no record put it.
func strayBranch(branch, at, head string) error {
	return ports.Conflicted.Errorf("", "branch %s is at %.12s, the records say %.12s; keep what is there (git branch NAME %.12s) and put it back (git update-ref refs/heads/%s %s %s)",
		branch, at, head, at, branch, head, at)
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
