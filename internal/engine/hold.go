package engine

import (
	"context"
	"errors"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// recordHold records what somebody has made of a conflict, so that it is there
// again when the landing comes to it again: what is in a checkout that holds
// the merge, if that is not as AGL merged it, nor recorded.
// note is the landing's: it says which conflict that is, and what of the
// checkout is the gate's.
func (x *execution) recordHold(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, namespace string, note *ledger.Note, committer string) error {
	in := x.engine.set.Integrator
	if held, err := in.Held(ctx, ws, spec); err != nil || held != ports.HoldEdited {
		return err
	}
	if note.Tree != "" {
		done, err := in.Settle(ctx, ws, note.Tree, "left by the gate in "+note.Name)
		x.tellPutBack(note.Landing.Into, done)
		if err != nil {
			return err
		}
	}
	now := x.engine.now()
	snapshot, err := in.Snapshot(ctx, ws, ports.CommitSpec{
		Head: spec.Head, Message: "what was made of the conflict of " + namespace, Identity: committer, Date: now,
	})
	var rejected *ports.RejectedError
	switch {
	case errors.As(err, &rejected): // it would be so each time; it is salvaged when the checkout is put back
		x.note(namespace, "what was made of the conflict in %s is salvaged, it cannot be written back: %v", note.Name, rejected)
		return nil
	case err != nil:
		return err
	}
	key, terms, err := landingKey(spec, "hold", note.Try)
	if err != nil {
		return err
	}
	if known, err := x.recorded(ctx, namespace, spec, key, snapshot); err != nil || known {
		return err
	}
	if err := x.trees.Keep(ctx, "hold-"+snapshot, snapshot); err != nil {
		return err
	}
	_, err = x.book.Append(ctx, &ports.Record{
		Kind: ports.KindHold, Namespace: namespace, Name: namespace, Key: key, Terms: terms, Value: null, Head: snapshot,
		Landing: note.Landing, Called: x.book.Last(), Started: now, Ended: now,
	})
	if err == nil {
		x.note(namespace, "what was made of the conflict in %s is kept for when it goes on", note.Name)
	}
	return err
}

// recorded reports whether the files of a snapshot are what the landing comes
// to by itself when it is made again: what an agent left, or what was kept, or
// what a gate has refused. What was kept of this very conflict, by its key, is
// what comes last, but for an agent after it: all else is somebody's change.
func (x *execution) recorded(ctx context.Context, namespace string, spec ports.MergeSpec, key, snapshot string) (bool, error) {
	_, since := x.lastLanding(namespace)
	if kept := x.book.Support(ports.KindHold, namespace, key, since); kept != nil {
		since = kept.Seq - 1
	}
	is, err := x.engine.set.History.Tree(ctx, snapshot)
	if err != nil {
		return false, err
	}
	for _, e := range x.book.Entries()[since:] {
		if e.Namespace != namespace || e.Landing == nil || e.Landing.Before != spec.Head || e.Landing.Child != spec.Theirs {
			continue
		}
		was := ""
		switch {
		case e.Kind == ports.KindAttempt:
			var met attemptValue
			if err := x.supportValue(ctx, e, &met); err != nil {
				return false, err
			}
			if met.Verdict != nil {
				was = met.Verdict.Tree
			}
		case e.Head != "" && (e.Kind == ports.KindFix || e.Kind == ports.KindHold):
			if was, err = x.engine.set.History.Tree(ctx, e.Head); err != nil {
				return false, err
			}
		}
		if was == is {
			return true, nil
		}
	}
	return false, nil
}
