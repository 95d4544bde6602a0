package engine

import (
	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// A closure is a set of live records that are given up together: none that
// stays stands on one that goes.
type closure struct {
	in      map[int]bool // by number
	again   map[int]bool // landings in it that are only to be made again, in their place
	entries []*ledger.Entry
}

// standingOn returns the records given and everything that stands on them, to a
// fixed point:
//
//   - the later records of the same namespace;
//   - in each ancestor, every ordered record that was called when the workflow
//     knew of one that goes, or on a branch with its commits;
//   - landings into a parent after another one that goes, or after a step of
//     the parent that goes: they stand on a head that is left. Only their place
//     in the parent is: what follows them in their own namespace stays;
//   - worktrees whose base has a commit that goes, with all that is theirs.
func (x *execution) standingOn(from []*ledger.Entry) *closure {
	c := &closure{in: map[int]bool{}, again: map[int]bool{}}
	live := x.book.LiveEntries()
	parent := map[string]string{}
	for _, e := range live {
		if e.Kind == ports.KindOpened {
			parent[e.Namespace] = e.Parent
		}
	}
	for _, e := range from {
		c.in[e.Seq] = true
	}
	if len(from) == 0 {
		return c
	}
	for changed := true; changed; {
		changed = false
		for _, e := range live {
			again, goes := c.takes(live, parent, e)
			if !goes || c.in[e.Seq] && (again || !c.again[e.Seq]) {
				continue
			}
			changed = true
			c.in[e.Seq] = true
			if again {
				c.again[e.Seq] = true
			} else {
				delete(c.again, e.Seq) // it goes for good
			}
		}
	}
	for _, e := range live {
		if c.in[e.Seq] {
			c.entries = append(c.entries, e)
		}
	}
	return c
}

// goesForGood reports whether a record goes, and not only to be made again.
func (c *closure) goesForGood(e *ledger.Entry) bool { return c.in[e.Seq] && !c.again[e.Seq] }

// takes reports whether a record stands on one that goes, and whether it is a
// landing that need only be made again.
func (c *closure) takes(live []*ledger.Entry, parent map[string]string, e *ledger.Entry) (again, goes bool) {
	for _, other := range live {
		if !c.in[other.Seq] || other == e {
			continue
		}
		switch {
		case other.Kind == ports.KindOpened && other.Namespace == e.Namespace:
			return false, true
		case e.Kind == ports.KindOpened:
			moved, _, _ := other.Moves()
			if moved == e.Parent && other.Seq < e.Seq || other.Kind == ports.KindOpened && other.Namespace == e.Parent {
				return false, true
			}
		case c.goesForGood(other) && other.Namespace == e.Namespace && other.Place() < e.Place():
			return false, true
		case c.goesForGood(other) && isAncestor(parent, e.Namespace, other.Namespace) && e.Called >= other.Seq:
			return false, true
		}
	}
	if e.Kind != ports.KindLanding || !e.Landing.Moved() {
		return false, false
	}
	for _, other := range live {
		if c.in[other.Seq] && other.Seq < e.Seq {
			if moved, _, _ := other.Moves(); moved == e.Landing.Into {
				return true, true
			}
		}
	}
	return false, false
}

// isAncestor reports whether a is an ancestor of namespace b.
func isAncestor(parent map[string]string, a, b string) bool {
	for b != ports.Base {
		next, ok := parent[b]
		if !ok {
			return false
		}
		if b = next; b == a {
			return true
		}
	}
	return false
}

// headOf returns where a namespace's branch is when the records are gone.
func (c *closure) headOf(b *ledger.Book, namespace string) string {
	head := b.Run.Base
	for _, e := range b.LiveEntries() {
		if e.Kind == ports.KindOpened && e.Namespace == namespace {
			head = e.Head // of a worktree that goes as well: its branch is moved when it is opened again
		}
		if moved, _, to := e.Moves(); moved == namespace && !c.in[e.Seq] {
			head = to
		}
	}
	return head
}
