package engine

import (
	"context"
	"slices"
	"sync"

	"example.com/agl/ports"
)

// A lease is held by whoever works in a namespace's checkout, or moves its
// branch. It is granted in the order in which it was asked for.
type lease struct {
	slot chan struct{} // whose queue of senders is first in, first out

	mu      sync.Mutex
	holder  string   // the namespace whose verb holds it, or held it last
	waiting []string // the namespaces whose verbs wait for it
}

func newLease() *lease { return &lease{slot: make(chan struct{}, 1)} }

// leased is what a verb's context says of the leases that it runs under.
type leased struct {
	walk  *walk
	names []string
}

type leasedKey struct{}

// lease takes the leases of namespaces on behalf of a verb of the first, in
// this order: a namespace's own before its parent's, so that no two verbs wait
// for each other. The context that is returned runs under them: a verb that
// needs one of them again would wait for itself, and is Invalid.
func (w *walk) lease(ctx context.Context, v *verb, spaces ...*namespace) (context.Context, func(), error) {
	under, _ := ctx.Value(leasedKey{}).(leased)
	if under.walk != w {
		under = leased{walk: w}
	}
	for _, s := range spaces {
		if slices.Contains(under.names, s.name) {
			return nil, nil, ports.Invalid.Errorf(v.op(),
				"it needs the checkout of %s, in which the verb that calls it works; in a resolver, use Conflict.Step and Conflict.Ask", s.name)
		}
	}
	names := slices.Clone(under.names)
	var held []*lease
	release := func() {
		for _, l := range slices.Backward(held) {
			<-l.slot
		}
	}
	for _, s := range spaces {
		if err := s.lease.take(ctx, w, spaces[0].name); err != nil {
			release()
			return nil, nil, err
		}
		held = append(held, s.lease)
		names = append(names, s.name)
	}
	return context.WithValue(ctx, leasedKey{}, leased{w, names}), release, nil
}

// take waits for the lease on behalf of a verb of namespace who.
func (l *lease) take(ctx context.Context, w *walk, who string) error {
	select {
	case l.slot <- struct{}{}:
		l.granted(w, who)
	default:
		l.waits(w, who)
		w.still.Add(1)
		defer w.still.Add(-1)
		select {
		case l.slot <- struct{}{}:
			l.granted(w, who)
		case <-ctx.Done():
			l.left(w, who)
			return ctx.Err()
		case <-w.halting:
			l.left(w, who)
			return w.halted()
		}
	}
	if err := w.halted(); err != nil {
		<-l.slot
		return err
	}
	return nil
}

// What is told of a lease is told under its lock: in order.

// waits tells that a namespace waits.
func (l *lease) waits(w *walk, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, who)
	if l.holder != "" { // else the holder tells, at once
		w.x.publish(who, ports.Waits{For: l.holder})
	}
}

// granted tells that a namespace holds the lease, and that the others wait for
// it from here on.
func (l *lease) granted(w *walk, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder = who
	l.leave(w, who)
	for _, other := range l.waiting {
		w.x.publish(other, ports.Waits{For: who})
	}
}

// left tells that a namespace does not wait any more.
func (l *lease) left(w *walk, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(w, who)
}

func (l *lease) leave(w *walk, who string) {
	if i := slices.Index(l.waiting, who); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		w.x.publish(who, ports.Waits{})
	}
}
