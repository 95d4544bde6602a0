package porttest

import (
	"bytes"

	"example.com/agl/ports"
)

var faultRules = []rule[*store]{
	{
		"a lock ends with its process",
		"A lock is held for the life of a process: others are refused while it lives, and have the lock when it has died without letting go.",
		func(c *check, s *store) {
			p := s.process(c)
			p.order(c, order{Label: "run", Lock: true}, 1)
			s.inUse(c, "run")
			who, err := s.Holder(c.Context(), "run")
			if err != nil || who == "" {
				c.Errorf("another process holds the lock, the holder is %q (error: %v); want a few words", who, err)
			}
			p.kill()
			who, err = s.Holder(c.Context(), "run")
			if err != nil || who != "" {
				c.Errorf("the process that held the lock has died, the holder is %q (error: %v); want none", who, err)
			}
			s.locked(c, "run")
		},
	},
	{
		"a killed writer leaves a whole document",
		"Whoever reads a durable document after its writer was killed sees one that was written, whole, and nothing beside it.",
		func(c *check, s *store) {
			for kill := range 5 {
				p := s.process(c)
				p.order(c, order{Label: "run", Name: "records/x", Docs: []byte("abc"), Repeat: 30_000, Forever: true}, 1+7*kill)
				p.kill()
				doc, err := s.Read(c.Context(), "run", "records/x")
				c.must(err, "reading what a killed process wrote")
				if len(doc) == 0 || !bytes.Equal(doc, document(doc[0], 30_000)) {
					c.Errorf("there are %d bytes that nobody wrote, %s; want a whole document", len(doc), excerpt(string(doc)))
				}
				s.lists(c, "run", "records", "x")
			}
		},
	},
	{
		"written documents survive their writer",
		"When Write returns, the document survives the death of its process, durable or volatile.",
		func(c *check, s *store) {
			p := s.process(c)
			p.order(c, order{Label: "run", Name: "durable", Docs: []byte("a"), Repeat: 10}, 1)
			p.order(c, order{Label: "run", Name: "volatile", Docs: []byte("a"), Repeat: 10, Volatile: true}, 1)
			p.kill()
			s.holds(c, "run", "durable", "aaaaaaaaaa")
			s.holds(c, "run", "volatile", "aaaaaaaaaa")
		},
	},
	{
		"durable documents survive a power cut",
		"When Write returns, a durable document survives a power cut, whole; the others may be lost, and the epoch is another if it can be told.",
		func(c *check, s *store) {
			c.needs(s.opts.PowerCut != nil, "StoreOptions.PowerCut")
			s.write(c, "run", "x", "old")
			s.write(c, "run", "x", "durable")
			s.write(c, "run", "records/1", "durable")
			c.must(s.Write(c.Context(), "run", "notes/x", []byte("volatile"), ports.Volatile), "writing")
			c.must(s.Write(c.Context(), "run-2", "notes/x", []byte("volatile"), ports.Volatile), "writing")
			s.locked(c, "run")
			epoch := s.Epoch()
			after := &store{s.opts.PowerCut(c, s.Store), s.opts}
			after.holds(c, "run", "x", "durable")
			after.holds(c, "run", "records/1", "durable")
			after.lists(c, "run", "records", "1")
			if e := after.Epoch(); epoch != "" && e == epoch {
				c.Errorf("the epoch is still %q; want another", e)
			}
			if _, err := after.Read(c.Context(), "run-2", "notes/x"); err != nil {
				after.has(c, "run")
			}
			after.locked(c, "run")
			after.write(c, "run", "x", "written again")
			after.holds(c, "run", "x", "written again")
		},
	},
	{
		"a write without room leaves the old document",
		"A write for which there is no room is Unavailable, and a durable one leaves the old document, whole, and nothing beside it.",
		func(c *check, s *store) {
			c.needs(s.opts.WriteWithoutRoom != nil, "StoreOptions.WriteWithoutRoom")
			s.write(c, "run", "records/x", "old")
			for _, w := range []struct {
				name       string
				durability ports.Durability
			}{{"records/x", ports.Durable}, {"records/new", ports.Durable}, {"notes/x", ports.Volatile}} {
				err := s.opts.WriteWithoutRoom(c, s.Store, "run", w.name, make([]byte, 1<<20), w.durability)
				c.kind(err, ports.Unavailable, "writing "+w.name+" where there is no room")
			}
			s.holds(c, "run", "records/x", "old")
			s.lacks(c, "run", "records/new")
			s.lists(c, "run", "records", "x")
			s.write(c, "run", "records/x", "new")
			s.holds(c, "run", "records/x", "new")
		},
	},
	{
		"a write without the right is Denied",
		"A write for which there is no right is Denied, and leaves the old document.",
		func(c *check, s *store) {
			c.needs(s.opts.Forbid != nil, "StoreOptions.Forbid")
			s.write(c, "run", "records/x", "old")
			s.opts.Forbid(c, s.Store, "run", func() {
				c.kind(s.Write(c.Context(), "run", "records/x", []byte("new"), ports.Durable), ports.Denied, "writing without the right to")
				c.kind(s.Write(c.Context(), "run", "new/x", nil, ports.Durable), ports.Denied, "writing into a new folder without the right to")
				c.kind(s.Delete(c.Context(), "run", "records/x"), ports.Denied, "deleting without the right to")
			})
			s.holds(c, "run", "records/x", "old")
			s.lists(c, "run", "new")
		},
	},
}
