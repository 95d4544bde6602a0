package engine

import (
	"context"
	"fmt"
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

// retryAll gives up every recorded failure and what came after it in its
// namespace.
func (x *execution) retryAll(ctx context.Context) error {
	seen := map[string]bool{}
	var from []*ledger.Entry
	for _, e := range x.book.Live("") {
		if e.Failure != nil && !seen[e.Namespace] {
			seen[e.Namespace] = true
			from = append(from, e)
		}
	}
	if len(from) == 0 {
		return nil
	}
	return x.supersede(ctx, ledger.WhyRetry, from)
}

// supersede gives up the records given and all later ones of their namespaces.
// Their commits are kept, then one record names them and the branches' moves,
// then the branches move: what a crash interrupts, recover finishes.
func (x *execution) supersede(ctx context.Context, why string, from []*ledger.Entry) error {
	s := &ports.Superseded{Why: why, Records: []int{}, Moves: []ports.Move{}}
	for _, first := range from {
		old := first.Before
		for _, e := range x.book.Live(first.Namespace) {
			if e.Seq < first.Seq {
				continue
			}
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
	x.note("", "%d records are given up (%s); their commits are kept until the run is cleared", len(s.Records), why)
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
