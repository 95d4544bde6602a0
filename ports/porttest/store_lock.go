package porttest

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"

	"example.com/agl/ports"
)

var lockRules = []rule[*store]{
	{
		"a lock has one holder",
		"Lock refuses what another holder that lives has: an *InUseError, at once, with the label and who has it. Other labels are free.",
		func(c *check, s *store) {
			s.locked(c, "run")
			s.inUse(c, "run")
			s.locked(c, "run-2")
			s.inUse(c, "run-2")
		},
	},
	{
		"a lock has one holder of several that try",
		"Of several goroutines that lock a run at once, one has it at a time.",
		func(c *check, s *store) {
			var inside, taken atomic.Int32
			c.together(8, func(int) {
				for range 50 {
					lock, err := s.Lock(c.Context(), "run")
					if err != nil {
						if _, ok := findInUse(err); !ok {
							c.Errorf("locking: got error %v; want the lock or an *InUseError", err)
							return
						}
						continue
					}
					if inside.Add(1) != 1 {
						c.Errorf("two have the lock; want one at a time")
					}
					taken.Add(1)
					for range 50 { // give the others time to get in too
						runtime.Gosched()
					}
					inside.Add(-1)
					if err := lock.Release(); err != nil {
						c.Errorf("releasing: got error %v; want none", err)
					}
				}
			})
			if taken.Load() == 0 {
				c.Errorf("nobody had it; want each that released it to leave it to the next")
			}
			s.locked(c, "run")
		},
	},
	{
		"a released lock is free",
		"Release lets go of the lock. Further calls do nothing, and do not take it from the next holder.",
		func(c *check, s *store) {
			first := s.locked(c, "run")
			for range 2 {
				c.must(first.Release(), "releasing")
			}
			second := s.locked(c, "run")
			c.must(first.Release(), "releasing again, when another has it")
			s.inUse(c, "run")
			c.must(second.Release(), "releasing")
			s.locked(c, "run")
		},
	},
	{
		"a lock is apart from documents",
		"A lock is held until it is released, with documents or without: it makes no document, and Remove does not let go of it.",
		func(c *check, s *store) {
			lock := s.locked(c, "run")
			s.has(c)
			s.lists(c, "run", "")
			s.write(c, "run", "x", "x")
			c.must(s.Remove(c.Context(), "run", "x"), "removing the run")
			s.has(c)
			s.inUse(c, "run")
			s.write(c, "run", "x", "x")
			c.must(lock.Release(), "releasing")
			s.holds(c, "run", "x", "x")
			s.locked(c, "run")
		},
	},
	{
		"a holder is named",
		"Holder says, in a few words, who holds the lock, or nothing if nobody does; asking takes nothing and keeps nobody out.",
		func(c *check, s *store) {
			holder := func(label string, want bool) {
				who, err := s.Holder(c.Context(), label)
				c.must(err, "asking who holds the lock")
				if (who != "") != want {
					c.Errorf("the holder of %s is %q; want one: %v", label, who, want)
				}
				if ports.Printable(who) != who || len(who) > 200 {
					c.Errorf("the holder is %s; want a few words on one line", excerpt(who))
				}
			}
			holder("run", false)
			lock := s.locked(c, "run")
			holder("run", true)
			holder("run-2", false)
			s.inUse(c, "run")
			c.must(lock.Release(), "releasing")
			holder("run", false)
			s.locked(c, "run")
		},
	},
	{
		"a lock can be handed to children",
		"Files are open while the lock is held.",
		func(c *check, s *store) {
			for _, f := range s.locked(c, "run").Files() {
				if f == nil {
					c.Errorf("one of them is nil; want open files")
				} else if _, err := f.Stat(); errors.Is(err, os.ErrClosed) {
					c.Errorf("%s is closed; want it open", f.Name())
				}
			}
		},
	},
	{
		"stores share their locks",
		"A lock that one store gave is held for every other over the same state, and can be taken there when it was released.",
		func(c *check, s *store) {
			c.needs(s.opts.Reopen != nil, "StoreOptions.Reopen")
			second := &store{s.opts.Reopen(c, s.Store), s.opts}
			lock := s.locked(c, "run")
			second.inUse(c, "run")
			who, err := second.Holder(c.Context(), "run")
			if err != nil || who == "" {
				c.Errorf("the holder is %q (error: %v); want a few words", who, err)
			}
			c.must(lock.Release(), "releasing")
			second.locked(c, "run")
			s.inUse(c, "run")
		},
	},
}

func findInUse(err error) (*ports.InUseError, bool) {
	var inUse *ports.InUseError
	return inUse, errors.As(err, &inUse)
}
