package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// rebuy gives up, in every namespace that diverges, the records from the first
// that is not reached on.
func (x *execution) rebuy(ctx context.Context, plan ports.Plan) error {
	var from []*ledger.Entry
	for _, p := range plan.Namespaces {
		if !p.Diverged() {
			continue
		}
		for _, e := range x.book.Live(p.Namespace) {
			if e.Seq == p.Unreached[0].Seq {
				from = append(from, e)
			}
		}
	}
	return x.supersede(ctx, ledger.WhyRebuy, from)
}

// failures returns, of each namespace, the first recorded failure; if it has
// none, a red verdict of the gate that nothing came after.
func (x *execution) failures() []*ledger.Entry {
	first, last := map[string]*ledger.Entry{}, map[string]*ledger.Entry{}
	for _, e := range x.book.Live("") {
		if e.Failure != nil && first[e.Namespace] == nil {
			first[e.Namespace] = e
		}
		last[e.Namespace] = e
	}
	var found []*ledger.Entry
	for _, namespace := range slices.Sorted(maps.Keys(last)) {
		switch {
		case first[namespace] != nil:
			found = append(found, first[namespace])
		case isRed(last[namespace]):
			found = append(found, last[namespace])
		}
	}
	return found
}

func isRed(e *ledger.Entry) bool {
	var verdict ports.Verdict
	return e.Kind == ports.KindVerdict && json.Unmarshal(e.Value, &verdict) == nil && !verdict.Passed
}

// supersede gives up the records given and all that stands on them. Their
// commits are kept, then one record names them and the branches' moves, then
// the branches move: what a crash interrupts, recover finishes.
func (x *execution) supersede(ctx context.Context, why string, from []*ledger.Entry) error {
	x.structure.Lock()
	defer x.structure.Unlock()
	return x.supersedeLocked(ctx, why, from)
}

func (x *execution) supersedeLocked(ctx context.Context, why string, from []*ledger.Entry) error {
	if len(from) == 0 {
		return nil
	}
	gone := x.standingOn(from)
	s := &ports.Superseded{Why: why, Records: []int{}, Moves: []ports.Move{}}
	heads := map[string]string{} // before
	for _, e := range gone.entries {
		s.Records = append(s.Records, e.Seq)
		if gone.again[e.Seq] {
			s.Again = append(s.Again, e.Seq)
		}
		moved, _, head := e.Moves()
		if moved == "" {
			continue
		}
		heads[moved] = x.book.Head(moved)
		if err := x.trees.Keep(ctx, fmt.Sprintf("record-%d", e.Seq), head); err != nil {
			return err
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(heads)) {
		s.Moves = append(s.Moves, ports.Move{
			Namespace: namespace, Branch: x.branch(namespace), Old: heads[namespace], New: gone.headOf(x.book, namespace),
		})
	}
	_, err := x.book.Append(ctx, &ports.Record{
		Kind: ports.KindSuperseded, Namespace: ports.Base, Name: why, Superseded: s,
		Terms: []ports.Term{}, Called: x.book.Last(), Started: x.engine.now(), Ended: x.engine.now(),
	})
	if err != nil {
		return err
	}
	x.recount()
	x.note("", "records given up (%[2]s): %[1]d; their commits are kept under refs/agl/keep/%[3]s/ until the run is cleared", len(s.Records), why, x.label)
	return x.move(ctx, s.Moves)
}

// move moves branches, and the checkouts that are on them.
func (x *execution) move(ctx context.Context, moves []ports.Move) error {
	for _, m := range moves {
		if m.Old == m.New {
			continue
		}
		there, err := x.trees.Exists(ctx, m.Namespace)
		if err != nil {
			return err
		}
		if there {
			err = x.moveCheckout(ctx, m.Namespace, m)
		} else {
			err = x.trees.Move(ctx, m.Branch, m.Old, m.New)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveCheckout moves a branch that is checked out. The checkout goes first: as
// long as it is at the commit that is left, there is nothing in it to salvage.
func (x *execution) moveCheckout(ctx context.Context, namespace string, m ports.Move) error {
	ws, err := x.workspace(ctx, namespace, m.Branch, m.Old)
	if err != nil {
		return err
	}
	if err := x.putBack(ctx, namespace, ws, m.New, fmt.Sprintf("found when branch %s was moved", m.Branch)); err != nil {
		return err
	}
	return x.trees.Move(ctx, m.Branch, m.Old, m.New)
}

// branch returns the branch of a namespace.
func (x *execution) branch(namespace string) string {
	if namespace == ports.Base {
		return BranchOf(x.label)
	}
	return "agl/_work/" + x.label + "/" + namespace
}
