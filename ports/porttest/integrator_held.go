package porttest

import "example.com/agl/ports"

var heldRules = []rule[*landsite]{{
	"no merge is held before and after",
	"HoldNone: a checkout holds no merge, be it clean or not.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		l.held(c, ports.HoldNone, "a clean checkout")
		l.write(c, l.ws, "a.txt", "dirty\n")
		l.held(c, ports.HoldNone, "a checkout with a changed file")
		l.putBack(c, l.ws, l.spec.Head)
		l.land(c, l.merged(c))
		l.held(c, ports.HoldNone, "landed")
	},
}, {
	"a merge is pristine by its content",
	"HoldPristine: the merge that was asked about, as Merge left it: what was done and undone is as it was.",
	func(c *check, s *landsite) {
		for _, l := range []*landing{s.apart(c), s.again(c)} {
			l.merge(c)
			l.held(c, ports.HoldPristine, "merged")
			text := readAll(c, l.ws.Tree())["a.txt"]
			l.write(c, l.ws, "a.txt", "edited\n", "scratch.txt", "x")
			l.held(c, ports.HoldEdited, "edited")
			l.write(c, l.ws, "a.txt", text)
			l.remove(c, l.ws, "scratch.txt")
			l.held(c, ports.HoldPristine, "edited back")
		}
	},
}, {
	"whatever was done in a merge is an edit",
	"HoldEdited: that merge, and something was done in it since: a file changed, added, removed, a conflict resolved or staged.",
	func(c *check, s *landsite) {
		for doing, edit := range map[string]func(l *landing){
			"a merged file was changed":       func(l *landing) { l.write(c, l.ws, "theirs.txt", "edited\n") },
			"a file of ours was changed":      func(l *landing) { l.write(c, l.ws, "ours.txt", "edited\n") },
			"a file was added":                func(l *landing) { l.write(c, l.ws, "added.txt", "x") },
			"a merged file was removed":       func(l *landing) { l.remove(c, l.ws, "theirs.txt") },
			"a file in conflict was changed":  func(l *landing) { l.write(c, l.ws, "a.txt", "edited\n") },
			"a file in conflict was removed":  func(l *landing) { l.remove(c, l.ws, "dir/b.txt") },
			"the resolution was taken":        func(l *landing) { l.answer(c) },
			"what is there was taken as such": func(l *landing) { l.write(c, l.ws, "a.txt", "edited\n"); l.resolve(c, clashes) },
		} {
			l := s.again(c)
			l.merge(c)
			edit(l)
			l.held(c, ports.HoldEdited, doing)
			l.putBack(c, l.ws, l.spec.Head)
		}
	},
}, {
	"another merge is another",
	"HoldOther: another merge than spec's, or a checkout that is not at spec.Head.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		for doing, change := range map[string]func(*ports.MergeSpec){
			"other commits to land": func(sp *ports.MergeSpec) { sp.Theirs = s.base },
			"another head":          func(sp *ports.MergeSpec) { sp.Head = s.base },
		} {
			other := *l
			change(&other.spec)
			other.held(c, ports.HoldOther, "asked about "+doing)
		}
		made := l.commit(c, m)
		l.move(c, made.ID)
		l.held(c, ports.HoldOther, "the branch was moved")
	},
}, {
	"asking changes nothing",
	"Held changes nothing.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		l.write(c, l.ws, "a.txt", "edited\n", "added.txt", "x")
		unchanged := l.unchanged(c)
		for range 3 {
			l.held(c, ports.HoldEdited, "edited")
		}
		unchanged("asking")
		same(c, paths(l.resolve(c, nil).Conflicts), paths(clashes), "the conflicts that are unmerged")
	},
}, {
	"a merge is held until it is ended",
	"Rehold reports whether a checkout holds spec's merge; any other is left as it is.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		asked := func(want bool, when string) {
			c.Helper()
			unchanged := l.unchanged(c)
			got, err := l.Integrator.Rehold(c.Context(), l.ws, l.spec)
			c.must(err, "holding it again")
			if got != want {
				c.Errorf("%s: Rehold says %v, want %v", when, got, want)
			}
			unchanged("holding it again")
		}
		asked(false, "before the merge")
		l.merge(c)
		asked(true, "merged")
		l.write(c, l.ws, "a.txt", "edited\n", "added.txt", "x")
		asked(true, "edited")
		other := *l
		other.spec.Theirs = s.base
		if held, err := l.Integrator.Rehold(c.Context(), l.ws, other.spec); err != nil || held {
			c.Errorf("asked about another merge: Rehold says %v, %v; want false", held, err)
		}
		l.putBack(c, l.ws, l.spec.Head)
		asked(false, "put back")
	},
}, {
	"a merge that was committed is held again",
	"Rehold: the commit is salvaged, the branch is at spec.Head, and the files are those that are merged.",
	func(c *check, s *landsite) {
		c.needs(s.Commit != nil, "Repository.Commit")
		l := s.clash(c)
		l.merge(c)
		l.typed(c)
		made, err := s.Commit(l.ws, "by hand", false)
		c.must(err, "committing")
		held, err := l.Integrator.Rehold(c.Context(), l.ws, l.spec)
		c.must(err, "holding it again")
		if !held {
			c.Fatalf("the checkout does not hold the merge that was committed there")
		}
		l.held(c, ports.HoldEdited, "held again")
		at, err := l.Workspaces.Branch(c.Context(), l.spec.Into)
		c.must(err, "reading the branch")
		same(c, at, l.spec.Head, "the branch")
		l.holds(c, l.ws, resolvedFiles)
		if s.Reachable != nil && !s.Reachable(made) {
			c.Errorf("no ref leads to commit %s; want its salvage", made)
		}
		l.land(c, l.taken(c))
		l.holds(c, l.ws, resolvedFiles)
	},
}, {
	"a commit instead of the merge is none",
	"Rehold: a commit that is not of spec's merge is left as it is.",
	func(c *check, s *landsite) {
		c.needs(s.Commit != nil, "Repository.Commit")
		l := s.clash(c)
		l.merge(c)
		l.putBack(c, l.ws, l.spec.Head)
		l.write(c, l.ws, "a.txt", "mine\n")
		_, err := s.Commit(l.ws, "by hand", false)
		c.must(err, "committing")
		unchanged := l.unchanged(c)
		held, err := l.Integrator.Rehold(c.Context(), l.ws, l.spec)
		if err != nil || held {
			c.Errorf("Rehold says %v, %v; want false", held, err)
		}
		unchanged("asking")
	},
}}

// again returns the landing of clash, once more where it was given up.
func (s *landsite) again(c *check) *landing {
	c.Helper()
	const ours, theirs = "ours-again", "theirs-again"
	if there, err := s.run.Exists(c.Context(), ours); err == nil && there {
		head, err := s.Workspaces.Branch(c.Context(), place(ours).Branch)
		c.must(err, "reading a branch")
		kid, err := s.Workspaces.Branch(c.Context(), place(theirs).Branch)
		c.must(err, "reading a branch")
		return s.landing(s.open(c, ours, head), ours, head, theirs, kid)
	}
	ws := s.open(c, ours, s.base)
	head := s.change(c, ours, ws, s.base, clashOfOurs...)
	return s.landing(ws, ours, head, theirs, s.change(c, theirs, s.open(c, theirs, s.base), s.base, clashOfTheirs...))
}
