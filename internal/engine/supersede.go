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

// following returns the records given and all later live ones of their
// namespaces.
func (x *execution) following(from []*ledger.Entry) []*ledger.Entry {
	var found []*ledger.Entry
	for _, first := range from {
		for _, e := range x.book.Live(first.Namespace) {
			if e.Seq >= first.Seq {
				found = append(found, e)
			}
		}
	}
	return found
}

func seqs(entries []*ledger.Entry) map[int]bool {
	set := map[int]bool{}
	for _, e := range entries {
		set[e.Seq] = true
	}
	return set
}

func isRed(e *ledger.Entry) bool {
	var verdict ports.Verdict
	return e.Kind == ports.KindVerdict && json.Unmarshal(e.Value, &verdict) == nil && !verdict.Passed
}

// supersede gives up the records given and all later ones of their namespaces.
// Their commits are kept, then one record names them and the branches' moves,
// then the branches move: what a crash interrupts, recover finishes.
func (x *execution) supersede(ctx context.Context, why string, from []*ledger.Entry) error {
	if len(from) == 0 {
		return nil
	}
	s := &ports.Superseded{Why: why, Records: []int{}, Moves: []ports.Move{}}
	for _, first := range from {
		old := first.Before
		for _, e := range x.following([]*ledger.Entry{first}) {
			s.Records = append(s.Records, e.Seq)
			if !e.Moved() {
				continue
			}
			old = e.Head
			if err := x.trees.Keep(ctx, fmt.Sprintf("record-%d", e.Seq), e.Head); err != nil {
				return err
			}
		}
		s.Moves = append(s.Moves, ports.Move{Namespace: first.Namespace, Branch: x.branch(first.Namespace), Old: old, New: first.Before})
	}
	slices.Sort(s.Records)
	_, err := x.book.Append(ctx, &ports.Record{
		Kind: ports.KindSuperseded, Namespace: ports.Base, Name: why, Superseded: s,
		Terms: []ports.Term{}, Called: x.book.Last(), Started: x.engine.now(), Ended: x.engine.now(),
	})
	if err != nil {
		return err
	}
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
		return x.book.Run.Branch
	}
	return "agl/_work/" + x.label + "/" + namespace
}
