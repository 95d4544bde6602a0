package porttest

import "example.com/agl/ports"

var mergeCommitRules = []rule[*landsite]{{
	"a merge commit has exactly its tree",
	"Commit makes the merge commit of exactly tree: nothing that is in the checkout by then gets in.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		l.write(c, l.ws, "a.txt", "of the gate\n", "built/out", "x")
		l.remove(c, l.ws, "ours.txt")
		made := l.commit(c, m)
		same(c, made.Tree, m.Tree, "its tree")
		same(c, made.Empty, false, "that it is empty")
		tree, err := s.History.Tree(c.Context(), made.ID)
		c.must(err, "reading its tree")
		same(c, tree, m.Tree, "its tree in the history")
		s.holds(c, s.open(c, "third", made.ID), mergedFiles)
	},
}, {
	"a commit moves nothing",
	"No branch is moved by Commit, and the checkout is as it was; the commit stays reachable until the branch is moved there.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		l.write(c, l.ws, "a.txt", "edited\n", "added", "x")
		unchanged := l.unchanged(c)
		made := l.commit(c, m)
		unchanged("committing")
		c.needs(s.Reachable != nil, "Repository.Reachable")
		if !s.Reachable(made.ID) {
			c.Errorf("no ref leads to it")
		}
	},
}, {
	"a merge commit has both parents",
	"The parents of a merge commit are spec.Head and spec.Theirs, in this order.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		made := l.commit(c, l.merged(c))
		for _, parent := range []string{l.spec.Head, l.spec.Theirs} {
			under, err := s.History.Contains(c.Context(), parent, made.ID)
			c.must(err, "looking for a parent")
			if !under {
				c.Errorf("it does not stand on %s", parent)
			}
		}
		c.needs(s.Parents != nil, "Repository.Parents")
		parents, err := s.Parents(made.ID)
		c.must(err, "reading its parents")
		same(c, parents, []string{l.spec.Head, l.spec.Theirs}, "its parents")
	},
}, {
	"an empty merge commit is made",
	"Commit makes one also where tree is that of spec.Head, and says that it is Empty.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		l.merged(c)
		tree, err := s.History.Tree(c.Context(), l.spec.Head)
		c.must(err, "reading a tree")
		made := l.commit(c, ports.Merge{Tree: tree, Message: "nothing of it"})
		if made.ID == l.spec.Head || made.ID == "" || !made.Empty || made.Tree != tree {
			c.Errorf("it is %+v", made)
		}
		l.move(c, made.ID)
		l.conclude(c, made.ID)
		s.clean(c, l.ws, made.ID)
	},
}, {
	"a message is used as it is written",
	"The message, the identity and the date of a merge commit are those of its CommitSpec.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		for _, message := range []string{"subject\n\n# no comment\n  body", "", "Merge branch 'x'\n\nConflicts: none"} {
			made, err := s.Integrator.Commit(c.Context(), l.spec, m.Tree, spec(l.spec.Head, message))
			c.must(err, "committing")
			got, err := s.History.Message(c.Context(), made.ID)
			c.must(err, "reading its message")
			same(c, got, message, "the message")
		}
		one, two := l.commit(c, m), l.commit(c, m)
		same(c, two.ID, one.ID, "the commit, made again")
		other := spec(l.spec.Head, m.Message)
		other.Identity = "Some Body <else@example.com>"
		made, err := s.Integrator.Commit(c.Context(), l.spec, m.Tree, other)
		c.must(err, "committing")
		if made.ID == one.ID {
			c.Errorf("the identity is not in it")
		}
	},
}, {
	"what is not there is not committed",
	"Commit of an unknown tree or commit is NotFound, of what is no id, or of a malformed identity, Invalid.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		unchanged := l.unchanged(c)
		for _, tc := range []struct {
			doing              string
			head, theirs, tree string
			identity           string
			want               ports.Kind
		}{
			{"an unknown tree", l.spec.Head, l.spec.Theirs, unknown, "", ports.NotFound},
			{"an unknown head", unknown, l.spec.Theirs, m.Tree, "", ports.NotFound},
			{"unknown commits to land", l.spec.Head, unknown, m.Tree, "", ports.NotFound},
			{"no tree", l.spec.Head, l.spec.Theirs, "", "", ports.Invalid},
			{"a revision", l.spec.Head, l.spec.Theirs, "HEAD", "", ports.Invalid},
			{"the name of a head", "HEAD", l.spec.Theirs, m.Tree, "", ports.Invalid},
			{"no identity", l.spec.Head, l.spec.Theirs, m.Tree, "nobody", ports.Invalid},
		} {
			made := spec(tc.head, "refused")
			if tc.identity != "" {
				made.Identity = tc.identity
			}
			landed := l.spec
			landed.Head, landed.Theirs = tc.head, tc.theirs
			_, err := s.Integrator.Commit(c.Context(), landed, tc.tree, made)
			c.kind(err, tc.want, "committing with "+tc.doing)
		}
		unchanged("a refused commit")
	},
}}

var concludeRules = []rule[*landsite]{{
	"a concluded merge is over",
	"Conclude ends the merge that a checkout holds after its branch was moved to the merge's commit, and makes the checkout stand there.",
	func(c *check, s *landsite) {
		for _, l := range []*landing{s.apart(c), s.again(c)} {
			var made ports.Commit
			want := mergedFiles
			if m := l.merge(c); m.Tree != "" {
				made = l.commit(c, m)
			} else {
				made = l.commit(c, l.answer(c))
				want = resolvedFiles
			}
			l.move(c, made.ID)
			done := l.conclude(c, made.ID)
			if done.Salvage != nil {
				c.Errorf("there was nothing else in it, and %+v was salvaged", *done.Salvage)
			}
			l.held(c, ports.HoldNone, "concluded")
			l.clean(c, l.ws, made.ID)
			l.holds(c, l.ws, want)
			l.branch(c, l.spec.Into, made.ID)
			next := s.change(c, l.into, l.ws, made.ID, "next.txt", "a step after it\n")
			l.holds(c, s.open(c, "after-"+l.into[1:], next), with(want, "next.txt", "a step after it\n"))
		}
	},
}, {
	"concluding may be repeated",
	"Conclude may be repeated: it finds nothing left to do.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		made := l.land(c, l.merged(c))
		for range 2 {
			done := l.conclude(c, made)
			if done.Salvage != nil {
				c.Errorf("there was nothing else in it, and %+v was salvaged", *done.Salvage)
			}
			l.clean(c, l.ws, made)
			l.holds(c, l.ws, mergedFiles)
		}
	},
}, {
	"what else is there is salvaged",
	"What else is in a checkout that is concluded is salvaged, byte for byte, and is not in it any more.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		made := l.commit(c, l.merged(c))
		left := []string{"dir/new.txt", "formatted\r\n", "built/out.bin", "\x00\xff"}
		l.write(c, l.ws, left...)
		l.remove(c, l.ws, "ours.txt")
		l.move(c, made.ID)
		done := l.conclude(c, made.ID)
		l.clean(c, l.ws, made.ID)
		l.holds(c, l.ws, mergedFiles)
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged")
		}
		s.holdsSalvage(c, done.Salvage.N, without(with(mergedFiles, left...), "ours.txt"))
		same(c, done.Salvage.Reason, "concluded", "its reason")
	},
}, {
	"a branch that was not moved is not concluded",
	"A branch that is not at commit is Conflicted, and nothing is changed; an unknown commit is NotFound.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		made := l.commit(c, l.merged(c))
		l.write(c, l.ws, "a.txt", "edited\n")
		unchanged := l.unchanged(c)
		_, err := s.Integrator.Conclude(c.Context(), l.ws, made.ID, "concluded")
		c.kind(err, ports.Conflicted, "concluding before the branch was moved")
		_, err = s.Integrator.Conclude(c.Context(), l.ws, l.spec.Theirs, "concluded")
		c.kind(err, ports.Conflicted, "concluding at another commit")
		_, err = s.Integrator.Conclude(c.Context(), l.ws, unknown, "concluded")
		c.kind(err, ports.NotFound, "concluding at an unknown commit")
		_, err = s.Integrator.Conclude(c.Context(), l.ws, "HEAD", "concluded")
		c.kind(err, ports.Invalid, "concluding at what is no id")
		unchanged("a refused call")
	},
}}
