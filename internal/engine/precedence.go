package engine

import (
	"context"
	"sync"
	"time"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// A precedence is a landing in the middle of whose conflict an earlier process
// was interrupted. What was found out, paid for or typed there is about these
// very commits: if another landing into the same parent came first, it would be
// for nothing, and an agent would be paid again.
type precedence struct {
	namespace string
	once      sync.Once
	over      chan struct{} // closed when others need not wait any more
}

// courtesy is how long other landings wait at most for the one that goes first.
// All that comes before it in its namespace is recorded, so it is there at once,
// unless its namespace runs something else first, which ends it, or the workflow
// lands its children one after the other, in another order this time: then there
// is nothing to wait for.
const courtesy = 3 * time.Second

func (p *precedence) end() { p.once.Do(func() { close(p.over) }) }

// precedences finds, for each namespace into which a landing was interrupted in
// a conflict, which it was.
func (x *execution) precedences() map[string]*precedence {
	found := map[string]*precedence{}
	landed := map[string]int{} // a namespace's last landing that ended what supported it, by number
	var last []*ledger.Entry
	for _, e := range x.book.Entries() {
		switch e.Kind {
		case ports.KindLanding:
			if endsSupport(e) {
				landed[e.Namespace] = e.Seq
			}
		case ports.KindAttempt, ports.KindFix, ports.KindHold:
			last = append(last, e)
		}
	}
	for _, e := range last {
		l := e.Landing
		if e.Seq > landed[e.Namespace] && l.Before == x.book.Head(l.Into) && l.Child == x.book.Head(e.Namespace) {
			found[l.Into] = &precedence{namespace: e.Namespace, over: make(chan struct{})}
		}
	}
	return found
}

// overtakes ends the precedence of a namespace's landing if it runs something
// else before it: what was interrupted is about other commits then.
func (w *walk) overtakes(s *namespace, v *verb) {
	if v.kind == ports.KindLanding {
		return
	}
	for _, p := range w.first {
		if p.namespace == s.name {
			p.end()
		}
	}
}

// giveWay waits, for a moment, for the landing that is to go first into the
// parent of a namespace that is about to land. The function it returns is
// called when the namespace holds its parent's lease, or does not get it.
func (w *walk) giveWay(ctx context.Context, s *namespace) (entered func()) {
	p := w.first[s.parent.name]
	switch {
	case p == nil:
		return func() {}
	case p.namespace == s.name:
		return p.end
	}
	timer := time.NewTimer(courtesy)
	defer timer.Stop()
	select {
	case <-p.over:
	case <-timer.C:
		p.end()
	case <-ctx.Done():
	case <-w.halting:
	}
	return func() {}
}
