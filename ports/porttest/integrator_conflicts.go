package porttest

import (
	"errors"
	"fmt"
	"strings"

	"example.com/agl/ports"
)

var conflictRules = []rule[*landsite]{{
	"conflicts are told by path and kind",
	"A Merge has its conflicts, sorted by path, and no tree; the rest is merged, and the checkout holds it.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		m := l.merge(c)
		same(c, kinds(m.Conflicts), clashes, "the conflicts")
		files := readAll(c, l.ws.Tree())
		same(c, files["theirs.txt"], "of theirs\n", "a file that was added beside them")
		same(c, files["ours.txt"], "of ours\n", "a file of ours")
		same(c, files["dir/b.txt"], "two\nfour\n", "the file that one side removed and the other changed")
		l.held(c, ports.HoldPristine, "after a merge in conflict")
		l.branch(c, l.spec.Into, l.spec.Head)
	},
}, {
	"a file in conflict has both sides",
	"A held merge is git's own: a text in conflict has both sides, between conflict markers.",
	func(c *check, s *landsite) {
		l := s.clash(c)
		l.merge(c)
		files := readAll(c, l.ws.Tree())
		for path, sides := range map[string][2]string{"a.txt": {"ours\n", "theirs\n"}, "new.txt": {"new of ours\n", "new of theirs\n"}} {
			text := files[path]
			first, ours, middle := strings.Index(text, "<<<<<<< "), strings.Index(text, "\n"+sides[0]), strings.Index(text, "\n=======\n")
			theirs, last := strings.Index(text, "\n"+sides[1]), strings.Index(text, "\n>>>>>>> ")
			if first != 0 || ours < first || middle < ours || theirs < middle || last < theirs {
				c.Errorf("%s has not both sides between markers:\n%s", path, text)
			}
		}
	},
}, {
	"who removed and who changed makes no difference",
	"A file that one side removed and the other changed is a delete/modify conflict, whichever is which; the file is in the checkout.",
	func(c *check, s *landsite) {
		l := s.diverge(c, []string{"a.txt", gone, "dir/b.txt", "ours\n"}, []string{"a.txt", "theirs\n", "dir/b.txt", gone})
		m := l.merge(c)
		same(c, kinds(m.Conflicts), []ports.ConflictPath{
			{Path: "a.txt", Kind: ports.ConflictDeleteModify}, {Path: "dir/b.txt", Kind: ports.ConflictDeleteModify},
		}, "the conflicts")
		l.holds(c, l.ws, with(firstFiles, "a.txt", "theirs\n", "dir/b.txt", "ours\n"))
	},
}, {
	"what is no text is in conflict whole",
	"What is no text and both sides changed is a content conflict; ours is in the checkout.",
	func(c *check, s *landsite) {
		l := s.diverge(c, []string{"dir/sub/c.bin", "\x00ours"}, []string{"dir/sub/c.bin", "\x00theirs"})
		m := l.merge(c)
		same(c, kinds(m.Conflicts), []ports.ConflictPath{{Path: "dir/sub/c.bin", Kind: ports.ConflictContent}}, "the conflicts")
		l.holds(c, l.ws, with(firstFiles, "dir/sub/c.bin", "\x00ours"))
	},
}, {
	"many conflicts are all told",
	"A Merge has every conflict, sorted by path, whatever the paths are called.",
	func(c *check, s *landsite) {
		var ours, theirs, want []string
		for i := range 150 {
			path := fmt.Sprintf("many/%03d \"ü\".txt", i)
			ours, theirs, want = append(ours, path, "ours\n"), append(theirs, path, "theirs\n"), append(want, path)
		}
		for _, path := range []string{"many/tab\there", "many/two\nlines", "z -> y"} {
			ours, theirs, want = append(ours, path, "ours\n"), append(theirs, path, "theirs\n"), append(want, path)
		}
		l := s.diverge(c, ours, theirs)
		m := l.merge(c)
		same(c, paths(m.Conflicts), want, "the conflicts")
		for _, p := range m.Conflicts {
			if p.Kind != ports.ConflictAddAdd {
				c.Errorf("the kind of %q is %q", p.Path, p.Kind)
			}
		}
	},
}, {
	"a checkout that holds a merge cannot be committed",
	"Workspace.Commit rejects a checkout that holds a merge, in conflict or not.",
	func(c *check, s *landsite) {
		rejected := func(l *landing) {
			unchanged := l.unchanged(c)
			_, err := l.ws.Commit(c.Context(), spec(l.spec.Head, "a step's"))
			var reject *ports.RejectedError
			if !errors.As(err, &reject) {
				c.Errorf("want a *RejectedError, got %v", err)
			}
			unchanged("committing")
		}
		l := s.apart(c)
		l.merged(c)
		rejected(l)
		l.putBack(c, l.ws, l.spec.Head)
		head := s.change(c, ports.Base, l.ws, l.spec.Head, "dir/sub/c.bin", "\x00ours")
		l = s.landing(l.ws, ports.Base, head, "kid", l.spec.Theirs)
		l.merge(c)
		rejected(l)
	},
}, {
	"a criss-cross is merged",
	"Commits with several merge bases are merged as git does.",
	func(c *check, s *landsite) {
		c.needs(s.opts.CrissCross, "IntegratorOptions.CrissCross")
		l := s.diverge(c, []string{"ours.txt", "1\n"}, []string{"theirs.txt", "1\n"})
		back := s.landing(s.open(c, "kid", l.spec.Theirs), "kid", l.spec.Theirs, ports.Base, l.spec.Head)
		ours, theirs := l.land(c, l.merged(c)), back.land(c, back.merged(c))
		ours = s.change(c, ports.Base, l.ws, ours, "ours.txt", "2\n")
		theirs = s.change(c, "kid", back.ws, theirs, "theirs.txt", "2\n")
		l = s.landing(l.ws, ports.Base, ours, "kid", theirs)
		l.land(c, l.merged(c))
		l.holds(c, l.ws, with(firstFiles, "ours.txt", "2\n", "theirs.txt", "2\n"))
	},
}}
