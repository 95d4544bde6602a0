package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.com/agl/ports"
)

var listRules = []rule[*store]{
	{
		"a folder lists what is in it",
		"Names returns base names, sorted by bytes, of the documents right in a folder: not deeper, not of a folder whose name begins alike.",
		func(c *check, s *store) {
			for _, name := range []string{
				"run.json", "b", "B", "records/10", "records/2", "records/1", "records/Z", "records/a", "records/deep/x",
				"records2/x", "record/x", "rec", "x/records/y",
			} {
				s.write(c, "run", name, name)
			}
			s.write(c, "run-2", "records/other", "other")
			s.lists(c, "run", "", "B", "b", "rec", "run.json")
			s.lists(c, "run", "records", "1", "10", "2", "Z", "a")
			s.lists(c, "run", "records/deep", "x")
			s.lists(c, "run", "x")
			s.lists(c, "run", "x/records", "y")
			s.lists(c, "run", "none")
			s.lists(c, "none", "")
			s.lists(c, "none", "records")
		},
	},
	{
		"a folder lists all that is in it",
		"Names returns every name, however many there are.",
		func(c *check, s *store) {
			var want []string
			for n := range 1200 {
				name := fmt.Sprintf("%04d", n)
				want = append(want, name)
				c.must(s.Write(c.Context(), "run", "notes/"+name, []byte(name), ports.Volatile), "writing a volatile document")
			}
			got, err := s.Names(c.Context(), "run", "notes")
			c.must(err, "listing")
			if !slices.Equal(got, want) {
				c.Errorf("%d names are listed of %d, the last of them %q; want all, in order", len(got), len(want), got[max(0, len(got)-1):])
			}
		},
	},
	{
		"runs are those with a document",
		"Runs returns, sorted, the labels that have a document, however deep it is: not those that are only locked, or whose documents are gone.",
		func(c *check, s *store) {
			for _, p := range [][2]string{{"b", "run.json"}, {"a", "very/deep/x"}, {"B", "x"}, {"b-1", "x"}, {"gone", "x"}, {"gone", "a/x"}, {"removed", "x"}} {
				s.write(c, p[0], p[1], "")
			}
			s.locked(c, "locked")
			c.must(s.Delete(c.Context(), "gone", "x"), "deleting")
			c.must(s.Delete(c.Context(), "gone", "a/x"), "deleting")
			c.must(s.Remove(c.Context(), "removed", "x"), "removing")
			s.has(c, "B", "a", "b", "b-1")
		},
	},
}

var removalRules = []rule[*store]{
	{
		"a deleted document is gone",
		"Delete removes that document and no other; it is no error if there is none.",
		func(c *check, s *store) {
			for _, name := range []string{"x", "x.json", "a/x", "b/x"} {
				s.write(c, "run", name, name)
			}
			s.write(c, "run-2", "x", "x")
			c.must(s.Write(c.Context(), "run", "note", nil, ports.Volatile), "writing")
			for range 2 {
				c.must(s.Delete(c.Context(), "run", "x"), "deleting x")
				c.must(s.Delete(c.Context(), "run", "note"), "deleting note")
				c.must(s.Delete(c.Context(), "run", "a/x"), "deleting a/x")
				c.must(s.Delete(c.Context(), "run", "none/at/all"), "deleting what never was")
				c.must(s.Delete(c.Context(), "none", "x"), "deleting of a run that never was")
			}
			s.lacks(c, "run", "x")
			s.lacks(c, "run", "note")
			s.lists(c, "run", "", "x.json")
			s.lists(c, "run", "a")
			s.holds(c, "run", "b/x", "b/x")
			s.holds(c, "run-2", "x", "x")
			s.write(c, "run", "a/x", "again")
			s.holds(c, "run", "a/x", "again")
		},
	},
	{
		"a removed run is gone",
		"Remove removes all documents of a run, in every folder, and none of another; it is no error if there are none. A new run may have its label.",
		func(c *check, s *store) {
			for _, last := range []string{"run.json", "meta/run.json", "absent", "absent/too"} {
				s.write(c, "run-2", "run.json", "kept")
				s.write(c, "ru", "run.json", "kept")
				for _, name := range []string{"run.json", "meta/run.json", "meta/x", "records/1", "a/b/c", "zz"} {
					s.write(c, "run", name, name)
				}
				for range 2 {
					c.must(s.Remove(c.Context(), "run", last), "removing the run, last "+last)
				}
				s.lacks(c, "run", "run.json")
				s.lacks(c, "run", "meta/run.json")
				s.lists(c, "run", "records")
				s.has(c, "ru", "run-2")
				s.holds(c, "run-2", "run.json", "kept")
			}
			s.write(c, "run", "records/1", "new")
			s.lists(c, "run", "records", "1")
			s.lists(c, "run", "meta")
		},
	},
	{
		"the last document goes last",
		"Remove removes the one called last after all others, so that a removal which was cut short is seen, and can be repeated.",
		func(c *check, s *store) {
			others := []string{"a", "records/1", "records/2", "zz/z"}
			for looks, done := 0, false; !done && looks < 200; looks++ {
				for _, name := range append(others, "run.json") {
					c.must(s.Write(c.Context(), "run", name, nil, ports.Durable), "writing")
				}
				err := s.Remove(newExpiring(c.Context(), looks), "run", "run.json")
				if done = err == nil; done {
					break
				}
				if !errors.Is(err, context.Canceled) {
					c.Fatalf("a removal that was cut short: got error %v; want context.Canceled", err)
				}
				left := 0
				for _, name := range others {
					if _, err := s.Read(c.Context(), "run", name); err == nil {
						left++
					}
				}
				if _, err := s.Read(c.Context(), "run", "run.json"); err != nil && left > 0 {
					c.Errorf("a removal that was cut short left %d documents, and not the last; want the last as long as there are others: %v", left, err)
				}
				c.must(s.Remove(c.Context(), "run", "run.json"), "repeating it")
				s.has(c)
			}
			s.watchRemoval(c, others)
		},
	},
}

// watchRemoval fails the rule if, while a run is removed, another document is
// there when the last is not.
func (s *store) watchRemoval(c *check, others []string) {
	for n := range 20 {
		label := fmt.Sprintf("watched-%d", n)
		for _, name := range append(others, "run.json") {
			c.must(s.Write(c.Context(), label, name, nil, ports.Volatile), "writing")
		}
		c.together(2, func(i int) {
			if i == 0 {
				if err := s.Remove(c.Context(), label, "run.json"); err != nil {
					c.Errorf("removing: got error %v; want none", err)
				}
				return
			}
			for c.Context().Err() == nil {
				if _, err := s.Read(c.Context(), label, "run.json"); err == nil {
					continue
				}
				for _, name := range others {
					if _, err := s.Read(c.Context(), label, name); err == nil {
						c.Errorf("the last document is gone and %s is still there; want it to go last", name)
					}
				}
				return
			}
		})
	}
}

// expiring is a context that is cancelled when it has been looked at some
// times.
type expiring struct {
	context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	looks int
}

func newExpiring(ctx context.Context, looks int) *expiring {
	ctx, cancel := context.WithCancel(ctx)
	return &expiring{Context: ctx, cancel: cancel, looks: looks}
}

func (e *expiring) look() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.looks--; e.looks < 0 {
		e.cancel()
	}
}

func (e *expiring) Err() error            { e.look(); return e.Context.Err() }
func (e *expiring) Done() <-chan struct{} { e.look(); return e.Context.Done() }

var contextRules = []rule[*store]{
	{
		"a cancelled call changes nothing",
		"A call whose context is cancelled does nothing, and its error wraps that of the context and has no kind.",
		func(c *check, s *store) {
			s.write(c, "run", "x", "kept")
			ctx := cancelled(c)
			_, readErr := s.Read(ctx, "run", "x")
			_, namesErr := s.Names(ctx, "run", "")
			_, runsErr := s.Runs(ctx)
			_, holderErr := s.Holder(ctx, "run")
			lock, lockErr := s.Lock(ctx, "run")
			if lockErr == nil {
				_ = lock.Release()
			}
			for call, err := range map[string]error{
				"Read": readErr, "Names": namesErr, "Runs": runsErr, "Holder": holderErr, "Lock": lockErr,
				"Write":  s.Write(ctx, "run", "x", []byte("changed"), ports.Durable),
				"Delete": s.Delete(ctx, "run", "x"),
				"Remove": s.Remove(ctx, "run", "x"),
			} {
				if !errors.Is(err, context.Canceled) || ports.KindOf(err) != "" {
					c.Errorf("%s: want an error that wraps context.Canceled and has no kind, got %q: %v", call, ports.KindOf(err), err)
				}
			}
			s.holds(c, "run", "x", "kept")
			c.must(s.locked(c, "run").Release(), "releasing")
		},
	},
}
