package porttest

import (
	"os"
	"path/filepath"

	"example.com/agl/ports"
)

var settleRules = []rule[*landsite]{{
	"what a gate left is put back",
	"Settle makes index and files those of tree; what would be lost is salvaged first, byte for byte; the merge is held as before.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		left := []string{"dir/new.txt", "formatted\r\n", "built/out.bin", "\x00\xff", "a.txt", "fixed\n"}
		l.write(c, l.ws, left...)
		l.remove(c, l.ws, "ours.txt")
		done := l.settle(c, m.Tree)
		l.holds(c, l.ws, mergedFiles)
		l.held(c, ports.HoldPristine, "settled")
		l.branch(c, l.spec.Into, l.spec.Head)
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged")
		}
		s.holdsSalvage(c, done.Salvage.N, without(with(mergedFiles, left...), "ours.txt"))
		same(c, done.Salvage.Reason, "settled", "its reason")
		same(c, done.Salvage.Namespace, ports.Base, "its namespace")
		same(c, l.resolve(c, nil), m, "the merge, taken again")
	},
}, {
	"a resolution is settled",
	"Settle goes on to hold a merge that was resolved: nothing is unmerged, and nothing of the tree is lost.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		m := l.answer(c)
		if done := l.settle(c, m.Tree); done.Salvage != nil {
			c.Errorf("nothing would have been lost, and there is %+v", *done.Salvage)
		}
		l.write(c, l.ws, "dir/sub/log", "of the gate\n")
		if done := l.settle(c, m.Tree); done.Salvage == nil {
			c.Errorf("what the gate left was not salvaged")
		}
		l.holds(c, l.ws, resolvedFiles)
		l.held(c, ports.HoldEdited, "settled")
		same(c, l.resolve(c, nil), m, "the resolution, taken again")
		l.land(c, m)
	},
}, {
	"a tree takes the place of conflicts",
	"Settle makes index and files those of tree, where paths were unmerged too; what was typed there is salvaged.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		m := l.answer(c)
		l.putBack(c, l.ws, l.spec.Head)
		l.merge(c)
		l.write(c, l.ws, "a.txt", "typed\n")
		done := l.settle(c, m.Tree)
		l.holds(c, l.ws, resolvedFiles)
		same(c, l.resolve(c, nil).Tree, m.Tree, "the tree of the resolution")
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged")
		}
		dir := filepath.Join(c.TempDir(), "out")
		c.must(s.Workspaces.WriteSalvage(c.Context(), run, done.Salvage.N, dir), "writing a salvage out")
		same(c, readAll(c, os.DirFS(dir))["a.txt"], "typed\n", "what was typed")
	},
}, {
	"a tree that is not there is not settled",
	"An unknown tree is NotFound, what is no id Invalid, and a checkout that holds no merge Conflicted; nothing is changed or salvaged.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		l.write(c, l.ws, "a.txt", "edited\n")
		refused := func(tree string, want ports.Kind, doing string) {
			unchanged := l.unchanged(c)
			_, err := s.Integrator.Settle(c.Context(), l.ws, tree, "settled")
			c.kind(err, want, "settling "+doing)
			unchanged("settling " + doing)
		}
		refused(unknown, ports.NotFound, "an unknown tree")
		refused("HEAD", ports.Invalid, "what is no id")
		refused("", ports.Invalid, "nothing")
		l.putBack(c, l.ws, l.spec.Head)
		l.write(c, l.ws, "a.txt", "edited\n")
		refused(m.Tree, ports.Conflicted, "where no merge is held")
	},
}}

// settle settles, or ends the rule.
func (l *landing) settle(c *check, tree string) ports.PutBack {
	c.Helper()
	done, err := l.Integrator.Settle(c.Context(), l.ws, tree, "settled")
	c.must(err, "settling")
	return done
}

var snapshotRules = []rule[*landsite]{{
	"a snapshot has the files as they are",
	"Snapshot returns a commit, on no ref, of the files in a checkout that holds a merge, unmerged ones as they are; the checkout is as it was.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		l.write(c, l.ws, "added by hand", "\x00\r\n", "theirs.txt", "edited\n")
		l.remove(c, l.ws, "dir/b.txt")
		files := readAll(c, l.ws.Tree())
		unchanged := l.unchanged(c)
		kept := l.snapshot(c)
		unchanged("taking a snapshot")
		same(c, paths(l.resolve(c, nil).Conflicts), paths(clashes), "what is unmerged after it")
		if s.Reachable != nil && s.Reachable(kept) {
			c.Errorf("a ref leads to it")
		}
		s.holds(c, s.open(c, "third", kept), files)
		under, err := s.History.Contains(c.Context(), l.spec.Head, kept)
		c.must(err, "looking for its parent")
		if !under {
			c.Errorf("it does not stand on spec.Head")
		}
		message, err := s.History.Message(c.Context(), kept)
		c.must(err, "reading its message")
		same(c, message, "kept", "its message")
	},
}, {
	"a snapshot is restored",
	"Restore makes the files of a checkout that holds a merge those of a snapshot; what is unmerged stays so.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		l.typed(c)
		kept := l.snapshot(c)
		c.must(s.run.Keep(c.Context(), "kept", kept), "keeping it")
		l.putBack(c, l.ws, l.spec.Head)
		l.merge(c)
		done := l.restore(c, kept)
		if done.Salvage != nil {
			c.Errorf("a merge that can be made again was salvaged: %+v", *done.Salvage)
		}
		l.holds(c, l.ws, resolvedFiles)
		l.held(c, ports.HoldEdited, "restored")
		l.branch(c, l.spec.Into, l.spec.Head)
		same(c, paths(l.resolve(c, nil).Conflicts), paths(clashes), "what is unmerged")
		m := l.resolve(c, clashes)
		same(c, kinds(m.Conflicts), nil, "the conflicts of the resolution")
		l.holds(c, s.open(c, "third", l.land(c, m)), resolvedFiles)
	},
}, {
	"restoring loses nothing",
	"What would be lost by Restore is salvaged first, byte for byte.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		l.merged(c)
		kept := l.snapshot(c)
		typed := []string{"a.txt", "typed\r\n", "added by hand", "\x00\xff"}
		l.write(c, l.ws, typed...)
		done := l.restore(c, kept)
		l.holds(c, l.ws, mergedFiles)
		l.held(c, ports.HoldPristine, "restored to what was merged")
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged")
		}
		s.holdsSalvage(c, done.Salvage.N, with(mergedFiles, typed...))
		same(c, done.Salvage.Reason, "restored", "its reason")
		if again := l.restore(c, kept); again.Salvage != nil {
			c.Errorf("restoring again salvaged %+v", *again.Salvage)
		}
	},
}, {
	"what is no merge has no snapshot",
	"A checkout that holds no merge is Conflicted for Snapshot and Restore, an unknown commit NotFound, and nothing is changed.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		l.write(c, l.ws, "a.txt", "edited\n")
		unchanged := l.unchanged(c)
		_, err := s.Integrator.Snapshot(c.Context(), l.ws, spec(l.spec.Head, "kept"))
		c.kind(err, ports.Conflicted, "a snapshot where no merge is held")
		_, err = s.Integrator.Restore(c.Context(), l.ws, s.base, "restored")
		c.kind(err, ports.Conflicted, "restoring where no merge is held")
		unchanged("a refused call")
		l.putBack(c, l.ws, l.spec.Head)
		l.merged(c)
		l.write(c, l.ws, "a.txt", "edited\n")
		unchanged = l.unchanged(c)
		_, err = s.Integrator.Restore(c.Context(), l.ws, unknown, "restored")
		c.kind(err, ports.NotFound, "restoring an unknown commit")
		_, err = s.Integrator.Restore(c.Context(), l.ws, "HEAD", "restored")
		c.kind(err, ports.Invalid, "restoring what is no id")
		_, err = s.Integrator.Snapshot(c.Context(), l.ws, spec(unknown, "kept"))
		c.kind(err, ports.NotFound, "a snapshot on an unknown commit")
		unchanged("a refused call")
	},
}}

// snapshot takes a snapshot, or ends the rule.
func (l *landing) snapshot(c *check) string {
	c.Helper()
	kept, err := l.Integrator.Snapshot(c.Context(), l.ws, spec(l.spec.Head, "kept"))
	c.must(err, "taking a snapshot")
	return kept
}

// restore restores a snapshot, or ends the rule.
func (l *landing) restore(c *check, kept string) ports.PutBack {
	c.Helper()
	done, err := l.Integrator.Restore(c.Context(), l.ws, kept, "restored")
	c.must(err, "restoring")
	return done
}
