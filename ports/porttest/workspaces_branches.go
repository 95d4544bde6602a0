package porttest

import (
	"fmt"
	"slices"

	"example.com/agl/ports"
)

var branchRules = []rule[*worksite]{{
	"a branch moves by compare and swap",
	"Move moves a branch from commit old to commit new, or makes it if old is \"\".",
	func(c *check, s *worksite) {
		next := s.step(c, ports.Base, s.open(c, ports.Base, s.base), s.base, "a.txt", "next\n")
		branch := place("kid").Branch
		for _, m := range [][2]string{{"", s.base}, {s.base, next}, {next, s.base}} {
			c.must(s.run.Move(c.Context(), branch, m[0], m[1]), "moving a branch")
			s.branch(c, branch, m[1])
		}
	},
}, {
	"a branch elsewhere is not moved",
	"A branch that is not at old is Conflicted, naming both; it stays.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n")
		last := s.step(c, ports.Base, ws, next, "a.txt", "last\n")
		err := s.run.Move(c.Context(), mainBranch, s.base, next)
		c.names(err, ports.Conflicted, "moving a branch from where it is not", last, s.base)
		c.names(s.run.Move(c.Context(), mainBranch, "", next), ports.Conflicted, "making a branch that is there", last)
		c.names(s.run.Move(c.Context(), place("kid").Branch, s.base, next), ports.Conflicted, "moving a branch that is not there", s.base)
		s.branch(c, mainBranch, last)
		s.branch(c, place("kid").Branch, "")
	},
}, {
	"a branch that is there already is moved",
	"Moving a branch to where it is already is no error: the call may be repeated after a crash.",
	func(c *check, s *worksite) {
		next := s.step(c, ports.Base, s.open(c, ports.Base, s.base), s.base, "a.txt", "next\n")
		c.must(s.run.Move(c.Context(), mainBranch, s.base, next), "moving it again")
		c.must(s.run.Move(c.Context(), mainBranch, "", next), "making it again")
		s.branch(c, mainBranch, next)
	},
}, {
	"a branch moves to commits only",
	"A commit that is not in the repository is refused, and the branch stays.",
	func(c *check, s *worksite) {
		s.open(c, ports.Base, s.base)
		c.kind(s.run.Move(c.Context(), mainBranch, s.base, unknown), ports.NotFound, "moving a branch to a commit that is not there")
		if err := s.run.Move(c.Context(), mainBranch, s.base, "HEAD"); err == nil {
			c.Errorf("moving a branch to what is no id: it was done; want an error")
		}
		if err := s.run.Move(c.Context(), place("kid").Branch, "", unknown); err == nil {
			c.Errorf("making a branch at a commit that is not there: it was done; want an error")
		}
		s.branch(c, mainBranch, s.base)
		s.branch(c, place("kid").Branch, "")
	},
}, {
	"one of many moves wins",
	"Of several that move one branch from one commit at once, one does, and the others are refused.",
	func(c *check, s *worksite) {
		ws := s.open(c, "kid", s.base)
		var tips []string
		for i := range 4 {
			s.write(c, ws, "a.txt", fmt.Sprint(i))
			tips = append(tips, s.commit(c, ws, s.base, "a tip").ID)
		}
		errs := make([]error, len(tips))
		c.together(len(tips), func(i int) { errs[i] = s.run.Move(c.Context(), mainBranch, "", tips[i]) })
		at, err := s.Workspaces.Branch(c.Context(), mainBranch)
		c.must(err, "reading the branch")
		for i, err := range errs {
			if (err == nil) != (tips[i] == at) {
				c.Errorf("the branch is at %s; moving it to %s: got error %v; want none for the one that won alone", at, tips[i], err)
			}
		}
		if !slices.Contains(tips, at) {
			c.Errorf("the branch is at %q, which nobody moved it to; want one of the commits", at)
		}
	},
}, {
	"a kept commit stays",
	"Keep holds a commit under a name, so that it stays reachable until Clear. Again is no error; another commit is not held in its place.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "one\n!")
		one := s.commit(c, ws, s.base, "one").ID
		c.must(s.run.Keep(c.Context(), "A.b_c-1", one), "keeping a commit")
		c.must(s.run.Keep(c.Context(), "A.b_c-1", one), "keeping it again")
		c.must(s.run.Keep(c.Context(), "two", one), "keeping it under another name")
		s.write(c, ws, "a.txt", "two\n!")
		two := s.commit(c, ws, s.base, "two").ID
		c.kind(s.run.Keep(c.Context(), "A.b_c-1", two), ports.Conflicted, "keeping another commit under the name")
		c.kind(s.run.Keep(c.Context(), "unknown", unknown), ports.NotFound, "keeping a commit that is not there")
		for _, name := range []string{"", "a/b", "../x", "a b", "a..b", ".a"} {
			c.kind(s.run.Keep(c.Context(), name, one), ports.Invalid, "keeping a commit as "+name)
		}
		if s.Reachable == nil {
			return
		}
		s.write(c, ws, "a.txt", "three\n!")
		s.commit(c, ws, s.base, "three")
		if !s.Reachable(one) {
			c.Errorf("no ref leads to the kept commit; want one")
		}
	},
}}
