package porttest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/agl/ports"
)

var commitRules = []rule[*worksite]{{
	"a commit has everything in the checkout",
	"Commit records everything in the checkout: what was added, changed and removed.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n", "new/b.bin", "\x00\xff\r\n", "with space", "x", "ümläut", "y", "-dash", "z")
		s.remove(c, ws, "empty", "dir/b.txt")
		files := readAll(c, ws.Tree())
		made := s.commit(c, ws, s.base, "all of it")
		if made.Empty || made.ID == s.base {
			c.Fatalf("it is called empty: %+v; want a commit of its own", made)
		}
		s.holds(c, ws, files)
		s.holds(c, s.open(c, "kid", made.ID), files)
	},
}, {
	"a commit stands on spec.Head",
	"The commit is made on top of spec.Head.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		first := s.step(c, ports.Base, ws, s.base, "a.txt", "first\n")
		second := s.step(c, ports.Base, ws, first, "a.txt", "second\n")
		for _, below := range []string{s.base, first} {
			ok, err := s.History.Contains(c.Context(), below, second)
			c.must(err, "looking for the parent")
			if !ok {
				c.Errorf("%s is not below the commit %s; want it there", below, second)
			}
		}
	},
}, {
	"committing moves no ref",
	"No ref is moved by Commit: the branch stands at the new commit after Move, and the checkout is clean there.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n", "new.txt", "new\n")
		made := s.commit(c, ws, s.base, "not there yet")
		s.branch(c, mainBranch, s.base)
		if at := s.inspect(c, ws, s.base); at.Head != s.base || at.Detached || at.Clean(s.base) {
			c.Errorf("before the move the checkout is %+v, want its changes on top of %s", at, s.base)
		}
		c.must(s.run.Move(c.Context(), mainBranch, s.base, made.ID), "moving the branch")
		s.branch(c, mainBranch, made.ID)
		s.clean(c, ws, made.ID)
	},
}, {
	"nothing to commit is no commit",
	"ID is spec.Head if there was nothing to commit, and Empty says that its tree is that of spec.Head.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		tree, err := s.History.Tree(c.Context(), s.base)
		c.must(err, "reading the tree of the head")
		want := ports.Commit{ID: s.base, Tree: tree, Empty: true}
		same(c, s.commit(c, ws, s.base, "nothing"), want, "a commit of nothing")
		s.write(c, ws, "a.txt", "changed\n")
		s.write(c, ws, "a.txt", firstFiles["a.txt"])
		same(c, s.commit(c, ws, s.base, "nothing again"), want, "a commit of what was changed back")
		s.clean(c, ws, s.base)
	},
}, {
	"a tree's id is its files'",
	"Tree is the id of the commit's tree: equal files have an equal one, in every checkout.",
	func(c *check, s *worksite) {
		one, two := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base)
		s.write(c, one, "a.txt", "same\n")
		s.write(c, two, "a.txt", "same\n")
		first, second := s.commit(c, one, s.base, "one"), s.commit(c, two, s.base, "two")
		if first.Tree != second.Tree || first.ID == second.ID {
			c.Errorf("two commits of the same files with different messages: got %+v and %+v; want one tree and two ids", first, second)
		}
		tree, err := s.History.Tree(c.Context(), first.ID)
		c.must(err, "reading its tree")
		same(c, first.Tree, tree, "the tree the commit was said to have")
	},
}, {
	"the message is used exactly",
	"Message is used exactly as written: leading, trailing and doubled white space, and what looks like a comment.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n")
		ids := map[string]string{}
		for _, message := range []string{
			"subject", "subject\n", "subject\n\n", "subject ", " subject", "\n\nsubject", "# subject", "subject\n# body\n", "subject\n\n\n\nbody",
			"subject\n\nSigned-off-by: X <x@example.com>\n", "ünïcode — 日本\n", "", strings.Repeat("long ", 2000),
		} {
			made := s.commit(c, ws, s.base, message)
			if twin, ok := ids[made.ID]; ok {
				c.Errorf("messages %q and %q made the same commit; want another for each", twin, message)
			}
			ids[made.ID] = message
			got, err := s.History.Message(c.Context(), made.ID)
			c.must(err, "reading a message")
			same(c, got, strings.TrimRight(message, " \t\r\n"), "a commit's message")
		}
	},
}, {
	"who and when are part of a commit",
	"Identity and Date are the author's and committer's: another makes another commit, and the same makes the same one again.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n")
		make := func(edit func(*ports.CommitSpec)) string {
			sp := spec(s.base, "who and when")
			edit(&sp)
			made, err := ws.Commit(c.Context(), sp)
			c.must(err, "committing")
			return made.ID
		}
		first := make(func(*ports.CommitSpec) {})
		same(c, make(func(*ports.CommitSpec) {}), first, "the same commit made again")
		for what, edit := range map[string]func(*ports.CommitSpec){
			"identity":  func(sp *ports.CommitSpec) { sp.Identity = "Eve Other <eve@example.com>" },
			"date":      func(sp *ports.CommitSpec) { sp.Date = when.Add(time.Second) },
			"time zone": func(sp *ports.CommitSpec) { sp.Date = when.UTC() },
		} {
			if make(edit) == first {
				c.Errorf("another %s made the same commit; want another commit", what)
			}
		}
	},
}, {
	"a malformed commit is refused",
	"What cannot be a commit is Invalid, a head that is not there NotFound, and nothing is changed.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n")
		refused := func(kind ports.Kind, what string, edit func(*ports.CommitSpec)) {
			sp := spec(s.base, "refused")
			edit(&sp)
			_, err := ws.Commit(c.Context(), sp)
			c.kind(err, kind, "committing with "+what)
		}
		for _, who := range []string{"", "Rob", "Rob <rob@example.com", "<rob@example.com>", "Rob\nRobot <rob@example.com>"} {
			refused(ports.Invalid, "identity "+who, func(sp *ports.CommitSpec) { sp.Identity = who })
		}
		refused(ports.Invalid, "a NUL in the message", func(sp *ports.CommitSpec) { sp.Message = "a\x00b" })
		refused(ports.Invalid, "a head that is no id", func(sp *ports.CommitSpec) { sp.Head = "HEAD" })
		refused(ports.NotFound, "an unknown head", func(sp *ports.CommitSpec) { sp.Head = unknown })
		s.branch(c, mainBranch, s.base)
		s.holds(c, ws, with(firstFiles, "a.txt", "changed\n"))
	},
}, {
	"a made commit stays",
	"A commit that was made stays reachable until it is recorded and the branch moved, though no branch has it yet.",
	func(c *check, s *worksite) {
		c.needs(s.Reachable != nil, "Repository.Reachable")
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n")
		if made := s.commit(c, ws, s.base, "held"); !s.Reachable(made.ID) {
			c.Errorf("no ref leads to the commit %s; want one", made.ID)
		}
	},
}, {
	"an agent's own commits are below",
	"The commit is on top of the agent's own commits, where they descend from spec.Head; the branch is back at spec.Head.",
	func(c *check, s *worksite) {
		c.needs(s.Commit != nil, "Repository.Commit")
		for i, detached := range []bool{false, true} {
			name := []string{ports.Base, "kid"}[i]
			ws := s.open(c, name, s.base)
			s.write(c, ws, "a.txt", "by the agent\n")
			own, err := s.Commit(ws, "the agent's", detached)
			c.must(err, "committing as an agent")
			s.write(c, ws, "new.txt", "left over\n")
			made := s.commit(c, ws, s.base, "all of it")
			ok, err := s.History.Contains(c.Context(), own, made.ID)
			c.must(err, "looking for the agent's commit")
			if !ok {
				c.Errorf("the agent's commit is not below (HEAD detached: %v); want it there", detached)
			}
			s.branch(c, place(name).Branch, s.base)
			if at := s.inspect(c, ws, s.base); at.Detached || at.Head != s.base {
				c.Errorf("the checkout is %+v; want HEAD on the branch at %s", at, s.base)
			}
			c.must(s.run.Move(c.Context(), place(name).Branch, s.base, made.ID), "moving the branch")
			s.clean(c, ws, made.ID)
		}
	},
}, {
	"modes are committed",
	"An executable file is one in every checkout of the commit.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Modes, "WorkspacesOptions.Modes")
		ws := s.open(c, ports.Base, s.base)
		c.must(os.Chmod(filepath.Join(ws.Dir(), "a.txt"), 0o755), "making a file executable")
		same(c, s.inspect(c, ws, s.base).Tracked, []string{"a.txt"}, "the tracked changes")
		kid := s.open(c, "kid", s.commit(c, ws, s.base, "mode").ID)
		info, err := os.Stat(filepath.Join(kid.Dir(), "a.txt"))
		c.must(err, "looking at the file")
		if info.Mode()&0o100 == 0 {
			c.Errorf("its mode is %v; want it executable", info.Mode())
		}
	},
}, {
	"a nested repository is rejected",
	"What the step left that cannot be committed is a *RejectedError: a repository in the checkout.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Nested, "WorkspacesOptions.Nested")
		ws := s.open(c, ports.Base, s.base)
		nest(c, s, ws)
		_, err := ws.Commit(c.Context(), spec(s.base, "rejected"))
		var rejected *ports.RejectedError
		if !errors.As(err, &rejected) || !strings.Contains(err.Error(), "nest") {
			c.Errorf("want a *RejectedError naming nest, got %v", err)
		}
		c.kind(err, ports.Unexpected, "committing a repository")
	},
}}

// nest makes a repository without a commit in the checkout, with a file.
func nest(c *check, s *worksite, ws ports.Workspace) {
	s.write(c, ws, "nest/.git/HEAD", "ref: refs/heads/main\n", "nest/file.txt", "nested\n",
		"nest/.git/objects/info/keep", "", "nest/.git/refs/keep", "")
}
