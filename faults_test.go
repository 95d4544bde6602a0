package agl_test

import (
	"context"
	"fmt"
	"sync"

	"example.com/agl/internal/intercept"
	"example.com/agl/ports"
)

// faults counts the calls of every port that has effects, and makes one of
// them fail, or "crash": from then on every call fails and changes nothing, as
// if the process were dead.
type faults struct {
	mu     sync.Mutex
	names  []string // of all calls, in order
	at     int      // the call that fails, from 1; 0: none
	after  bool     // its effect is made before it fails
	crash  bool     // it is the last call that has an effect
	failed bool
	dead   bool
}

var errFault = ports.Unavailable.Errorf("", "injected fault")

// do makes a call: before is whether it is to fail without its effect.
func (f *faults) do(name string, effect func() error) error {
	f.mu.Lock()
	f.names = append(f.names, name)
	hit := len(f.names) == f.at
	dead := f.dead
	if hit {
		f.failed = true
		f.dead = f.crash
	}
	f.mu.Unlock()
	if dead || hit && !f.after {
		return fmt.Errorf("%s: %w", name, errFault)
	}
	err := effect()
	if hit && err == nil {
		return fmt.Errorf("%s, done: %w", name, errFault)
	}
	return err
}

// die makes every further call fail, as the fault of a crash does.
func (f *faults) die() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead, f.failed = true, true
}

// wrap puts the faults between an engine and a set.
func (f *faults) wrap(set ports.Set) ports.Set {
	return intercept.Wrap(set, func(_ context.Context, call intercept.Call, do func() error) error {
		return f.do(call.Op, do)
	})
}
