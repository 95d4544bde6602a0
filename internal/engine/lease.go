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

	mu     sync.Mutex
	holder string // the namespace whose verb holds it
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
	default:
		l.mu.Lock()
		holder := l.holder
		l.mu.Unlock()
		w.x.publish(who, ports.Waits{For: holder})
		defer w.x.publish(who, ports.Waits{})
		select {
		case l.slot <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-w.halting:
			return w.halted()
		}
	}
	l.mu.Lock()
	l.holder = who
	l.mu.Unlock()
	if err := w.halted(); err != nil {
		<-l.slot
		return err
	}
	return nil
}
