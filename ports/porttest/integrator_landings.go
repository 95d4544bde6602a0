package porttest

import (
	"fmt"

	"example.com/agl/ports"
)

var landingRules = []rule[*landsite]{{
	"one child lands several times",
	"Commits that were landed are not landed again: a child's next landing is of what it did since.",
	func(c *check, s *landsite) {
		ws, kid := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base)
		head, theirs := s.base, s.base
		want := firstFiles
		for i := range 4 {
			ours, their := fmt.Sprintf("ours %d\n", i), fmt.Sprintf("theirs %d\n", i)
			head = s.change(c, ports.Base, ws, head, "a.txt", ours)
			theirs = s.change(c, "kid", kid, theirs, "dir/b.txt", their)
			l := s.landing(ws, ports.Base, head, "kid", theirs)
			head = l.land(c, l.merged(c))
			want = with(want, "a.txt", ours, "dir/b.txt", their)
			l.holds(c, ws, want)
			l.branch(c, l.spec.Branch, theirs)
			s.clean(c, kid, theirs)
		}
	},
}, {
	"a child's child lands through it",
	"Landings nest: what landed in a child lands with it.",
	func(c *check, s *landsite) {
		ws, kid, grand := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base), s.open(c, "grandkid", s.base)
		head := s.change(c, ports.Base, ws, s.base, "a.txt", "ours\n")
		kids := s.change(c, "kid", kid, s.base, "dir/b.txt", "the kid's\n")
		grands := s.change(c, "grandkid", grand, s.base, "dir/sub/c.bin", "the grandkid's\n")
		l := s.landing(kid, "kid", kids, "grandkid", grands)
		kids = l.land(c, l.merged(c))
		l = s.landing(ws, ports.Base, head, "kid", kids)
		head = l.land(c, l.merged(c))
		l.holds(c, ws, with(firstFiles, "a.txt", "ours\n", "dir/b.txt", "the kid's\n", "dir/sub/c.bin", "the grandkid's\n"))
		in, err := s.History.Contains(c.Context(), grands, head)
		c.must(err, "looking for the grandkid's commit")
		if !in {
			c.Errorf("the grandkid's commit is not in the run's own branch")
		}
	},
}, {
	"siblings land one after the other",
	"Landings into one checkout follow each other; a conflict is with what landed before.",
	func(c *check, s *landsite) {
		ws := s.open(c, ports.Base, s.base)
		head, want := s.base, firstFiles
		for i := range 5 {
			kid := fmt.Sprintf("kid-%d", i)
			path, text := kid+".txt", "of "+kid+"\n"
			theirs := s.change(c, kid, s.open(c, kid, s.base), s.base, path, text, "a.txt", text)
			l := s.landing(ws, ports.Base, head, kid, theirs)
			m := l.merge(c)
			if i > 0 {
				same(c, kinds(m.Conflicts), []ports.ConflictPath{{Path: "a.txt", Kind: ports.ConflictContent}}, "the conflicts")
				l.write(c, ws, "a.txt", text)
				m = l.resolve(c, m.Conflicts)
			}
			head = l.land(c, m)
			want = with(want, path, text, "a.txt", text)
			l.holds(c, ws, want)
		}
	},
}, {
	"different checkouts are landed in at once",
	"Different checkouts may be landed in at once: each gets what is its own.",
	func(c *check, s *landsite) {
		const n = 6
		landings := make([]*landing, n)
		for i := range n {
			parent, kid := fmt.Sprintf("parent-%d", i), fmt.Sprintf("kid-%d", i)
			ws := s.open(c, parent, s.base)
			head := s.change(c, parent, ws, s.base, "a.txt", parent)
			landings[i] = s.landing(ws, parent, head, kid, s.change(c, kid, s.open(c, kid, s.base), s.base, "a.txt", kid, kid, "x"))
		}
		c.together(n, func(i int) {
			l, in := landings[i], s.Integrator
			m, err := in.Merge(c.Context(), l.ws, l.spec)
			if err != nil {
				c.Errorf("merging: %v", err)
				return
			}
			same(c, paths(m.Conflicts), []string{"a.txt"}, "the conflicts")
			if err := l.ws.WriteFile(c.Context(), "a.txt", []byte(l.spec.Into)); err != nil {
				c.Errorf("writing: %v", err)
			}
			m, err = in.Resolve(c.Context(), l.ws, l.spec, m.Conflicts)
			if err != nil || m.Tree == "" {
				c.Errorf("resolving: %+v, %v", m, err)
				return
			}
			made, err := in.Commit(c.Context(), l.spec, m.Tree, spec(l.spec.Head, m.Message))
			if err != nil {
				c.Errorf("committing: %v", err)
				return
			}
			if err := s.run.Move(c.Context(), l.spec.Into, l.spec.Head, made.ID); err != nil {
				c.Errorf("moving: %v", err)
				return
			}
			if _, err := in.Conclude(c.Context(), l.ws, made.ID, "concluded"); err != nil {
				c.Errorf("concluding: %v", err)
			}
		})
		for i, l := range landings {
			l.held(c, ports.HoldNone, "landed")
			l.holds(c, l.ws, with(firstFiles, "a.txt", l.spec.Into, fmt.Sprintf("kid-%d", i), "x"))
		}
	},
}}
