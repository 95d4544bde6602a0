package porttest

import (
	"strings"

	"example.com/agl/ports"
)

var resolveRules = []rule[*landsite]{{
	"a resolution is what is in the checkout",
	"Resolve takes what is in the checkout as its resolution: the paths that were in conflict, every tracked path, and every file that was added.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		message := l.merge(c).Message
		m := l.answer(c)
		l.holds(c, l.ws, resolvedFiles)
		same(c, m.Message, message, "the message")
		l.held(c, ports.HoldEdited, "resolved")
		l.branch(c, l.spec.Into, l.spec.Head)
		made := l.land(c, m)
		l.holds(c, s.open(c, "third", made), resolvedFiles)
	},
}, {
	"a file in conflict may be removed",
	"A conflict is resolved by removing its file.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		l.remove(c, l.ws, "a.txt", "new.txt", "dir/b.txt")
		m := l.resolve(c, clashes)
		same(c, kinds(m.Conflicts), nil, "the conflicts")
		l.holds(c, s.open(c, "third", l.land(c, m)),
			without(with(firstFiles, "ours.txt", "of ours\n", "theirs.txt", "of theirs\n"), "a.txt", "dir/b.txt"))
	},
}, {
	"what nobody has touched is a conflict still",
	"The result has Conflicts again where a path is as Merge left it, also where that has no markers: nobody has decided about it.",
	func(c *check, s *landsite) {
		l := s.diverge(c, []string{"dir/sub/c.bin", "\x00ours", "dir/b.txt", gone}, []string{"dir/sub/c.bin", "\x00theirs", "dir/b.txt", "theirs\n"})
		were := l.merge(c).Conflicts
		same(c, kinds(l.resolve(c, were).Conflicts), kinds(were), "the conflicts of an untouched merge")
		l.held(c, ports.HoldPristine, "taken untouched")
		l.write(c, l.ws, "dir/sub/c.bin", "\x00both")
		same(c, paths(l.resolve(c, were).Conflicts), []string{"dir/b.txt"}, "the conflicts when one was decided about")
		l.write(c, l.ws, "dir/b.txt", "both\n")
		m := l.resolve(c, were)
		same(c, kinds(m.Conflicts), nil, "the conflicts when both were")
		l.holds(c, s.open(c, "third", l.land(c, m)), with(firstFiles, "dir/sub/c.bin", "\x00both", "dir/b.txt", "both\n"))
	},
}, {
	"markers that are left are conflicts",
	"The result has Conflicts again where markers are left in paths that were in conflict, noting where; the files are not changed, and the resolution may be taken again.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		text := "first\n" + readAll(c, l.ws.Tree())["a.txt"]
		l.write(c, l.ws, "a.txt", text, "new.txt", "resolved\n", "dir/b.txt", "resolved\n", "added by hand", "x")
		for _, left := range []string{text, text[:strings.Index(text, "=======")], text[strings.Index(text, "=======\n"):]} {
			l.write(c, l.ws, "a.txt", left)
			files := readAll(c, l.ws.Tree())
			m := l.resolve(c, clashes)
			same(c, kinds(m.Conflicts), []ports.ConflictPath{{Path: "a.txt", Kind: ports.ConflictMarkers}}, "the conflicts")
			if m.Tree != "" {
				c.Errorf("it has tree %s and conflicts", m.Tree)
			}
			if len(m.Conflicts) == 1 && !strings.ContainsAny(m.Conflicts[0].Note, "0123456789") {
				c.Errorf("it does not note the line: %q", m.Conflicts[0].Note)
			}
			l.holds(c, l.ws, files)
			l.held(c, ports.HoldEdited, "with markers left")
		}
		l.write(c, l.ws, "a.txt", "at last\n")
		m := l.resolve(c, clashes)
		same(c, kinds(m.Conflicts), nil, "the conflicts")
		l.holds(c, s.open(c, "third", l.land(c, m)),
			with(firstFiles, "a.txt", "at last\n", "new.txt", "resolved\n", "added by hand", "x", "dir/b.txt", "resolved\n", "ours.txt", "of ours\n", "theirs.txt", "of theirs\n"))
	},
}, {
	"what only looks like a marker is none",
	"No markers are quoted ones, lines like markers that one of the sides has, and markers in a path that was not in conflict.",
	func(c *check, s *landsite) {
		const example = "Title\n=======\n<<<<<<< example\n"
		l := s.diverge(c, []string{"a.txt", "ours\n", "new.txt", example + "ours\n"}, []string{"a.txt", "theirs\n", "new.txt", "theirs\n", "theirs.txt", "x\n"})
		l.merge(c)
		l.write(c, l.ws, "a.txt", "> <<<<<<< HEAD\n <<<<<<< ours\n<<<<<<\n", "new.txt", example+"both\n", "theirs.txt", "<<<<<<< HEAD\n=======\n>>>>>>> x\n")
		m := l.resolve(c, clashes)
		same(c, kinds(m.Conflicts), nil, "the conflicts")
	},
}, {
	"a conflict that nobody was told of stays",
	"Paths that are unmerged and not among those told of are Conflicts again, and stay as they are.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		l.write(c, l.ws, "a.txt", "resolved\n", "new.txt", "resolved\n", "dir/b.txt", "resolved\n")
		m := l.resolve(c, clashes[:1])
		same(c, paths(m.Conflicts), paths(clashes[1:]), "the conflicts")
		same(c, m.Tree, "", "the tree")
		m = l.resolve(c, clashes[1:])
		same(c, kinds(m.Conflicts), nil, "the conflicts when the rest is told of")
	},
}, {
	"what is resolved may be taken again",
	"Resolve may be repeated: of an untouched merge it gives what Merge gave, of a resolution the same, of a changed one the change.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		same(c, l.resolve(c, nil), m, "the resolution of an untouched merge")
		l.held(c, ports.HoldPristine, "taken as it was")
		l = s.again(c)
		l.merge(c)
		m = l.answer(c)
		same(c, l.resolve(c, clashes), m, "the resolution taken again")
		same(c, l.resolve(c, nil), m, "the resolution taken again without conflicts")
		l.write(c, l.ws, "a.txt", "changed\n")
		next := l.resolve(c, clashes)
		if next.Tree == m.Tree || next.Tree == "" {
			c.Errorf("the tree is %q, before the change it was %q", next.Tree, m.Tree)
		}
	},
}, {
	"only its own merge is resolved",
	"A checkout that does not hold spec's merge is Conflicted, and nothing is changed.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		refused := func(spec ports.MergeSpec, doing string) {
			l.write(c, l.ws, "a.txt", "edited\n")
			unchanged := l.unchanged(c)
			_, err := s.Integrator.Resolve(c.Context(), l.ws, spec, clashes)
			c.kind(err, ports.Conflicted, "resolving "+doing)
			unchanged("resolving " + doing)
		}
		refused(l.spec, "where no merge is held")
		l.putBack(c, l.ws, l.spec.Head)
		l.merged(c)
		other := l.spec
		other.Theirs = s.base
		refused(other, "another merge")
		other = l.spec
		other.Head = s.base
		refused(other, "a merge into another commit")
	},
}}
