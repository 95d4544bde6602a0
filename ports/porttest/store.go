package porttest

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"example.com/agl/ports"
)

// StoreOptions say how to get at the stores to be graded. New is required; a
// rule that needs a lever which is not given is skipped, saying so.
type StoreOptions struct {
	// New returns an empty store that shares nothing with any other.
	New func(t testing.TB) ports.Store

	// Reopen returns a second store over the state of s. Nil: a store is alone.
	Reopen func(t testing.TB, s ports.Store) ports.Store

	// Process returns a command that has not been started. It calls ServeStore
	// with a store over the state of s and its own standard input and output.
	// The suite kills it. Nil: no other process can see the state.
	Process func(t testing.TB, s ports.Store) *exec.Cmd

	// PowerCut does to the state of s what a power cut does, and returns a
	// store over what is left of it. Nil: it cannot be tried.
	PowerCut func(t testing.TB, s ports.Store) ports.Store

	// WriteWithoutRoom writes to s, or to its state, where there is room for a
	// few KiB only. Nil: it cannot be tried.
	WriteWithoutRoom func(t testing.TB, s ports.Store, label, name string, doc []byte, durability ports.Durability) error

	// Forbid calls do where there is no right to change the documents of a
	// run, and waits for it. Nil: everybody has every right.
	Forbid func(t testing.TB, s ports.Store, label string, do func())
}

// Store grades an implementation of ports.Store. Each rule of its contract is
// a parallel subtest.
func Store(t *testing.T, opts StoreOptions) {
	t.Helper()
	grade(t, storeRules(), opts.subject)
}

// store is what the rules are checked against.
type store struct {
	ports.Store
	opts StoreOptions
}

func (o StoreOptions) subject(t testing.TB) *store { return &store{o.New(t), o} }

func storeRules() []rule[*store] {
	return slices.Concat(documentRules, listRules, removalRules, contextRules, lockRules, faultRules)
}

// write writes a durable document, or ends the rule.
func (s *store) write(c *check, label, name, doc string) {
	c.must(s.Write(c.Context(), label, name, []byte(doc), ports.Durable), "writing "+label+"/"+name)
}

// holds fails the rule unless a document is there as it is wanted.
func (s *store) holds(c *check, label, name, want string) {
	got, err := s.Read(c.Context(), label, name)
	if err != nil {
		c.Errorf("reading %s/%s: got error %v; want %s", label, name, err, excerpt(want))
	} else if string(got) != want {
		c.Errorf("%s/%s is %s, want %s", label, name, excerpt(string(got)), excerpt(want))
	}
}

// lacks fails the rule unless there is no such document.
func (s *store) lacks(c *check, label, name string) {
	_, err := s.Read(c.Context(), label, name)
	c.kind(err, ports.NotFound, "reading "+label+"/"+name+", which is not there")
}

// lists fails the rule unless a folder has these names.
func (s *store) lists(c *check, label, folder string, want ...string) {
	got, err := s.Names(c.Context(), label, folder)
	c.must(err, "listing "+label+"/"+folder)
	same(c, got, want, "the names in folder \""+folder+"\" of "+label)
}

// has fails the rule unless these are all runs.
func (s *store) has(c *check, want ...string) {
	got, err := s.Runs(c.Context())
	c.must(err, "listing the runs")
	same(c, got, want, "the runs")
}

// locked takes a lock, or ends the rule.
func (s *store) locked(c *check, label string) (lock ports.Lock) {
	c.soon("locking "+label, func() {
		var err error
		lock, err = s.Lock(c.Context(), label)
		c.must(err, "locking "+label)
	})
	if lock == nil {
		c.FailNow()
	}
	c.Cleanup(func() { _ = lock.Release() })
	return lock
}

// inUse fails the rule unless a lock is refused, at once and naming who has it.
func (s *store) inUse(c *check, label string) {
	var lock ports.Lock
	var err error
	c.soon("locking "+label+", which is held", func() { lock, err = s.Lock(c.Context(), label) })
	if err == nil {
		_ = lock.Release()
		c.Fatalf("the lock of %s was given twice; want an *InUseError", label)
	}
	inUse, ok := findInUse(err)
	switch {
	case !ok:
		c.Errorf("locking %s, which is held: want an *InUseError, got %v", label, err)
	case inUse.Label != label || inUse.Holder == "":
		c.Errorf("locking %s, which is held: the error does not say which run or who has it: %+v; want its Label %q and a Holder", label, *inUse, label)
	}
	c.kind(err, ports.Conflicted, "locking "+label+", which is held")
}

// cancelled returns a context that is.
func cancelled(c *check) context.Context {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	return ctx
}
