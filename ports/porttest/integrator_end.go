package porttest

import (
	"fmt"

	"example.com/agl/ports"
)

var endRules = []rule[*landsite]{{
	"a merge that is given up is over",
	"Workspace.PutBack ends a held merge: the checkout stands clean at head, and the merge may be made again.",
	func(c *check, s *landsite) {
		for _, l := range []*landing{s.apart(c), s.again(c)} {
			before := readAll(c, l.ws.Tree())
			m := l.merge(c)
			merged := readAll(c, l.ws.Tree())
			l.write(c, l.ws, "a.txt", "typed\n")
			l.putBack(c, l.ws, l.spec.Head)
			l.held(c, ports.HoldNone, "put back")
			l.clean(c, l.ws, l.spec.Head)
			l.holds(c, l.ws, before)
			again := l.merge(c)
			same(c, again, m, "the merge, made again")
			l.holds(c, l.ws, merged)
			l.putBack(c, l.ws, s.base)
			l.held(c, ports.HoldNone, "put back to an older commit")
			l.clean(c, l.ws, s.base)
		}
	},
}, {
	"an untouched merge leaves no salvage",
	"A merge that is as Merge left it can be made again, and leaves no salvage when it is put back.",
	func(c *check, s *landsite) {
		for _, l := range []*landing{s.apart(c), s.again(c)} {
			l.merge(c)
			if done := l.putBack(c, l.ws, l.spec.Head); done.Salvage != nil {
				c.Errorf("there is %+v", *done.Salvage)
			}
			l.clean(c, l.ws, l.spec.Head)
		}
		same(c, numbers(s.salvaged(c)), nil, "the salvage")
	},
}, {
	"what a person typed is never lost",
	"PutBack salvages what was done in a merge, byte for byte: taken as the resolution, or not, or in part.",
	func(c *check, s *landsite) {
		for i, take := range []func(l *landing){
			func(*landing) {},
			func(l *landing) { l.resolve(c, clashes) },
			func(l *landing) { l.resolve(c, clashes[:2]) },
			func(l *landing) { l.settle(c, l.resolve(c, clashes).Tree) },
		} {
			l := s.again(c)
			l.merge(c)
			typed := with(resolvedFiles, "a.txt", fmt.Sprintf("typed %d\r\n\x00", i))
			l.typed(c)
			l.write(c, l.ws, "a.txt", typed["a.txt"])
			take(l)
			done := l.putBack(c, l.ws, l.spec.Head)
			if done.Salvage == nil {
				c.Fatalf("nothing was salvaged (%d)", i)
			}
			s.holdsSalvage(c, done.Salvage.N, typed)
			l.clean(c, l.ws, l.spec.Head)
		}
	},
}, {
	"what was staged is not lost either",
	"What was taken as the resolution and then changed is kept, with the salvage of the files.",
	func(c *check, s *landsite) {
		c.needs(s.Reachable != nil, "Repository.Reachable")
		l := s.clash(c)
		l.merge(c)
		m := l.answer(c)
		l.write(c, l.ws, "a.txt", "typed over it\n")
		done := l.putBack(c, l.ws, l.spec.Head)
		if done.Salvage == nil || done.Salvage.Index == "" {
			c.Fatalf("what was staged was not salvaged: %+v", done.Salvage)
		}
		if !s.Reachable(done.Salvage.Index) {
			c.Errorf("no ref leads to it")
		}
		tree, err := s.History.Tree(c.Context(), done.Salvage.Index)
		c.must(err, "reading its tree")
		same(c, tree, m.Tree, "the tree that was staged")
	},
}, {
	"clearing loses no merge",
	"Clear removes a checkout that holds a merge, and salvages what was done in it.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		l.answer(c)
		cleared, err := s.run.Clear(c.Context(), map[string]string{l.spec.Into: l.spec.Head, l.spec.Branch: l.spec.Theirs})
		c.must(err, "clearing")
		s.exists(c, ports.Base, false)
		if len(cleared.Salvage) != 1 {
			c.Fatalf("the salvage is %+v", cleared.Salvage)
		}
		s.holdsSalvage(c, cleared.Salvage[0].N, resolvedFiles)
	},
}, {
	"a cancelled landing changes nothing",
	"A call under a cancelled context returns context.Canceled, which has no Kind, and changes nothing.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		in, ctx := s.Integrator, over(c)
		refused := func(doing string, call func() error) {
			unchanged := l.unchanged(c)
			c.isCancelled(call(), doing)
			unchanged(doing)
		}
		refused("Merge", func() error { _, err := in.Merge(ctx, l.ws, l.spec); return err })
		m := l.merged(c)
		kept := l.snapshot(c)
		l.write(c, l.ws, "a.txt", "edited\n")
		refused("Rehold", func() error { _, err := in.Rehold(ctx, l.ws, l.spec); return err })
		refused("Resolve", func() error { _, err := in.Resolve(ctx, l.ws, l.spec, nil); return err })
		refused("Settle", func() error { _, err := in.Settle(ctx, l.ws, m.Tree, "settled"); return err })
		refused("Snapshot", func() error { _, err := in.Snapshot(ctx, l.ws, spec(l.spec.Head, "kept")); return err })
		refused("Restore", func() error { _, err := in.Restore(ctx, l.ws, kept, "restored"); return err })
		refused("Commit", func() error { _, err := in.Commit(ctx, l.spec, m.Tree, spec(l.spec.Head, "made")); return err })
		if _, err := in.Held(ctx, l.ws, l.spec); err != nil {
			c.isCancelled(err, "Held")
		}
		made := l.commit(c, m)
		l.move(c, made.ID)
		files := readAll(c, l.ws.Tree())
		_, err := in.Conclude(ctx, l.ws, made.ID, "concluded")
		c.isCancelled(err, "Conclude")
		l.holds(c, l.ws, files)
		l.held(c, ports.HoldOther, "not concluded")
		l.conclude(c, made.ID)
		l.clean(c, l.ws, made.ID)
	},
}}
