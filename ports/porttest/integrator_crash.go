package porttest

import "example.com/agl/ports"

var crashRules = []rule[*landsite]{{
	"a hold outlives its process",
	"A held merge outlives the process: another finds what was held, none, pristine, edited or other, and the files as they were.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l = l.reopen(c)
		l.held(c, ports.HoldNone, "before a merge")
		l.merge(c)
		files := readAll(c, l.ws.Tree())
		l = l.reopen(c)
		l.held(c, ports.HoldPristine, "in conflict")
		l.holds(c, l.ws, files)
		other := *l
		other.spec.Theirs = s.base
		other.held(c, ports.HoldOther, "asked about another")
		l.write(c, l.ws, "a.txt", "typed\n")
		l = l.reopen(c)
		l.held(c, ports.HoldEdited, "edited")
		same(c, paths(l.resolve(c, nil).Conflicts), paths(clashes), "what is unmerged")
		l.putBack(c, l.ws, l.spec.Head)
		l = l.reopen(c)
		l.held(c, ports.HoldNone, "put back")
		l.clean(c, l.ws, l.spec.Head)
	},
}, {
	"a merge is gone on with",
	"Another process goes on with a pristine merge: it takes it as it is, commits, moves, concludes.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		l = l.reopen(c)
		l.held(c, ports.HoldPristine, "merged")
		same(c, l.resolve(c, nil), m, "the merge, taken by another process")
		made := l.land(c, m)
		l = l.reopen(c)
		l.held(c, ports.HoldNone, "landed")
		l.clean(c, l.ws, made)
		l.holds(c, l.ws, mergedFiles)
	},
}, {
	"what a person typed is gone on with",
	"Another process takes as a resolution what a person typed before the first died.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		l.typed(c)
		l = l.reopen(c)
		m := l.taken(c)
		l = l.reopen(c)
		l.held(c, ports.HoldEdited, "resolved")
		made := l.land(c, m)
		l.clean(c, l.ws, made)
		l.holds(c, l.ws, resolvedFiles)
	},
}, {
	"a recorded landing is finished",
	"Another process finishes a landing whose commit was made: it moves the branch, if the first did not, and concludes; what else is there is salvaged.",
	func(c *check, s *landsite) {
		for i, meet := range []func(*landsite, *check) *landing{(*landsite).apart, (*landsite).again} {
			l := meet(s, c)
			m := l.merge(c)
			want := mergedFiles
			if m.Tree == "" {
				m, want = l.answer(c), resolvedFiles
			}
			made := l.commit(c, m)
			l.write(c, l.ws, "built/out", "of the gate\n")
			if i > 0 {
				l.move(c, made.ID)
			}
			l = l.reopen(c)
			l.move(c, made.ID)
			done := l.conclude(c, made.ID)
			l = l.reopen(c)
			l.held(c, ports.HoldNone, "concluded")
			l.clean(c, l.ws, made.ID)
			l.holds(c, l.ws, want)
			if done.Salvage == nil {
				c.Fatalf("what the gate left was not salvaged")
			}
			l.holdsSalvage(c, done.Salvage.N, with(want, "built/out", "of the gate\n"))
			l.conclude(c, made.ID)
			s = l.landsite
		}
	},
}, {
	"a merge that nobody asks for is made again",
	"Another process gives up a merge of other commits, with what is in it in the salvage, and merges what it is asked for.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		m := l.answer(c)
		theirs := s.change(c, "other", s.open(c, "other", s.base), s.base, "other.txt", "x\n")
		l = l.reopen(c)
		other := l.landing(l.ws, ports.Base, l.spec.Head, "other", theirs)
		other.held(c, ports.HoldOther, "asked about another")
		done := other.putBack(c, l.ws, l.spec.Head)
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged")
		}
		l.holdsSalvage(c, done.Salvage.N, resolvedFiles)
		tree, err := l.History.Tree(c.Context(), done.Salvage.Commit)
		c.must(err, "reading a tree")
		same(c, tree, m.Tree, "the tree of the salvage")
		other.land(c, other.merged(c))
		l.holds(c, l.ws, with(without(firstFiles, "dir/b.txt"), "a.txt", "ours\n", "new.txt", "new of ours\n", "ours.txt", "of ours\n", "other.txt", "x\n"))
	},
}}
