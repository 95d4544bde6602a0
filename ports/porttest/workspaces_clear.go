package porttest

import (
	"os"
	"slices"

	"example.com/agl/ports"
)

var clearRules = []rule[*worksite]{{
	"clearing removes the run",
	"Clear removes the run's checkouts, the branches given and the kept commits, and says which.",
	func(c *check, s *worksite) {
		ws, kid := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base)
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n")
		s.write(c, kid, "a.txt", "kept\n")
		kept := s.commit(c, kid, s.base, "kept")
		c.must(s.run.Keep(c.Context(), "kept", kept.ID), "keeping a commit")
		s.putBack(c, kid, s.base)
		cleared, err := s.run.Clear(c.Context(), map[string]string{mainBranch: next, place("kid").Branch: s.base})
		c.must(err, "clearing the run")
		same(c, cleared.Label, run, "the label")
		same(c, len(cleared.Worktrees), 2, "how many checkouts were removed")
		branches := slices.Clone(cleared.Branches)
		slices.Sort(branches)
		same(c, branches, []string{place("kid").Branch, mainBranch}, "the branches that were removed")
		tips := slices.Clone(cleared.Tips)
		slices.SortFunc(tips, func(a, b ports.Tip) int { return len(b.Branch) - len(a.Branch) })
		same(c, tips, []ports.Tip{{Branch: place("kid").Branch, Commit: s.base}, {Branch: mainBranch, Commit: next}}, "where they were")
		for _, name := range []string{ports.Base, "kid"} {
			s.exists(c, name, false)
			s.branch(c, place(name).Branch, "")
		}
		for _, dir := range []string{ws.Dir(), kid.Dir()} {
			if _, err := os.Lstat(dir); dir != "" && err == nil {
				c.Errorf("%s is still there; want it gone", dir)
			}
		}
		if s.Reachable != nil && (s.Reachable(kept.ID) || s.Reachable(next)) {
			c.Errorf("refs still lead to commits of the run; want none")
		}
	},
}, {
	"clearing keeps salvage",
	"Clear leaves salvage alone, and returns it.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.salvage(c, ws, s.base, "a.txt", "lost\n")
		cleared, err := s.run.Clear(c.Context(), map[string]string{mainBranch: s.base})
		c.must(err, "clearing the run")
		same(c, numbers(cleared.Salvage), []int{1}, "the salvage that was kept")
		same(c, numbers(s.salvaged(c)), []int{1}, "the salvage")
		s.holdsSalvage(c, 1, with(firstFiles, "a.txt", "lost\n"))
	},
}, {
	"clearing loses no work",
	"What is in a checkout and in no commit is salvaged before the checkout is removed.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n")
		s.write(c, ws, "new.txt", "work\n")
		cleared, err := s.run.Clear(c.Context(), map[string]string{mainBranch: next})
		c.must(err, "clearing the run")
		same(c, numbers(cleared.Salvage), []int{1}, "the salvage")
		s.holdsSalvage(c, 1, with(firstFiles, "a.txt", "next\n", "new.txt", "work\n"))
	},
}, {
	"a branch elsewhere keeps all from being cleared",
	"A branch that is elsewhere is Conflicted, naming it, before anything is removed.",
	func(c *check, s *worksite) {
		ws, kid := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base)
		next := s.step(c, "kid", kid, s.base, "a.txt", "next\n")
		s.write(c, ws, "new.txt", "work\n")
		_, err := s.run.Clear(c.Context(), map[string]string{mainBranch: s.base, place("kid").Branch: s.base})
		c.names(err, ports.Conflicted, "clearing", place("kid").Branch)
		s.exists(c, ports.Base, true)
		s.exists(c, "kid", true)
		s.branch(c, mainBranch, s.base)
		s.branch(c, place("kid").Branch, next)
		s.holds(c, ws, with(firstFiles, "new.txt", "work\n"))
		same(c, numbers(s.salvaged(c)), []int(nil), "the salvage")
	},
}, {
	"clearing may be repeated",
	"Clear may be called again: what is gone is no error, and what is there again is removed.",
	func(c *check, s *worksite) {
		branches := map[string]string{mainBranch: s.base, place("kid").Branch: s.base}
		for round := range 2 {
			s.salvage(c, s.open(c, ports.Base, s.base), s.base, "a.txt", string(rune('0'+round)))
			for again := range 2 {
				cleared, err := s.run.Clear(c.Context(), branches)
				c.must(err, "clearing the run")
				same(c, len(cleared.Tips), 1-again, "how many branches were removed")
				same(c, len(cleared.Worktrees), 1-again, "how many checkouts were removed")
				same(c, len(cleared.Salvage), round+1, "how many salvages were kept")
			}
			s.exists(c, ports.Base, false)
			s.branch(c, mainBranch, "")
		}
		ws := s.open(c, ports.Base, s.base)
		s.holds(c, ws, firstFiles)
		s.clean(c, ws, s.base)
	},
}, {
	"clearing leaves other runs alone",
	"Clear removes what is this run's.",
	func(c *check, s *worksite) {
		s.open(c, ports.Base, s.base)
		trees, err := s.Workspaces.Attach(c.Context(), run+"0", s.Lock)
		c.must(err, "attaching to another run")
		other, err := trees.Open(c.Context(), ports.Place{Namespace: ports.Base, Branch: mainBranch + "0"}, s.base)
		c.must(err, "opening the checkout of another run")
		c.must(trees.Keep(c.Context(), "base", s.base), "keeping a commit")
		s.write(c, other, "new.txt", "work\n")
		_, err = s.run.Clear(c.Context(), map[string]string{mainBranch: s.base})
		c.must(err, "clearing the run")
		s.branch(c, mainBranch+"0", s.base)
		s.holds(c, other, with(firstFiles, "new.txt", "work\n"))
		if there, err := trees.Exists(c.Context(), ports.Base); err != nil || !there {
			c.Errorf("the checkout of the other run exists: got %v, error %v; want true", there, err)
		}
	},
}}
