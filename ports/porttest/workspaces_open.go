package porttest

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing/fstest"

	"example.com/agl/ports"
)

const unknown = "0123456789012345678901234567890123456789" // no commit has this id

var openRules = []rule[*worksite]{{
	"opening makes what is missing",
	"Open returns the checkout of place, its branch at head. It makes what is missing, the branch included.",
	func(c *check, s *worksite) {
		s.exists(c, ports.Base, false)
		s.branch(c, mainBranch, "")
		ws := s.open(c, ports.Base, s.base)
		s.exists(c, ports.Base, true)
		s.branch(c, mainBranch, s.base)
		s.holds(c, ws, firstFiles)
		s.clean(c, ws, s.base)
		if dir := ws.Dir(); dir != "" && !filepath.IsAbs(dir) {
			c.Errorf("Dir is %q; want it empty or absolute", dir)
		}
	},
}, {
	"opening again returns the same place",
	"A checkout that exists is returned as it is: with what an agent left in it.",
	func(c *check, s *worksite) {
		first := s.open(c, ports.Base, s.base)
		s.write(c, first, "a.txt", "changed\n", "new.txt", "new\n")
		s.remove(c, first, "empty")
		again := s.open(c, ports.Base, s.base)
		want := without(with(firstFiles, "a.txt", "changed\n", "new.txt", "new\n"), "empty")
		s.holds(c, again, want)
		if again.Dir() != first.Dir() {
			c.Errorf("it is at %q now; want %q, as before", again.Dir(), first.Dir())
		}
		other, err := s.Workspaces.Attach(c.Context(), run, s.Lock)
		c.must(err, "attaching again")
		later, err := other.Open(c.Context(), place(ports.Base), s.base)
		c.must(err, "opening it after attaching again")
		s.holds(c, later, want)
	},
}, {
	"a branch elsewhere is refused",
	"A branch that is not at head is Conflicted, naming both commits; nothing is made.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n")
		_, err := s.run.Open(c.Context(), place(ports.Base), s.base)
		c.names(err, ports.Conflicted, "opening at a commit the branch has left", next, s.base)
		c.must(s.run.Move(c.Context(), place("kid").Branch, "", next), "making a branch")
		_, err = s.run.Open(c.Context(), place("kid"), s.base)
		c.names(err, ports.Conflicted, "opening where the branch is elsewhere", next, s.base)
		s.exists(c, "kid", false)
		s.branch(c, place("kid").Branch, next)
	},
}, {
	"an unknown head is refused",
	"A head that is no commit of the repository is NotFound; there is no checkout then, and it can be opened at another.",
	func(c *check, s *worksite) {
		_, err := s.run.Open(c.Context(), place(ports.Base), unknown)
		c.kind(err, ports.NotFound, "opening at a commit that is not there")
		s.exists(c, ports.Base, false)
		s.branch(c, mainBranch, "")
		s.holds(c, s.open(c, ports.Base, s.base), firstFiles)
	},
}, {
	"places are separate",
	"Each namespace of each run has a checkout and a branch of its own.",
	func(c *check, s *worksite) {
		base, kid := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base)
		trees, err := s.Workspaces.Attach(c.Context(), "run-2", s.Lock)
		c.must(err, "attaching to another run")
		other, err := trees.Open(c.Context(), ports.Place{Namespace: ports.Base, Branch: "agl/run-2"}, s.base)
		c.must(err, "opening the checkout of another run")
		next := s.step(c, "kid", kid, s.base, "a.txt", "kid\n")
		s.write(c, other, "other.txt", "other\n")
		s.holds(c, base, firstFiles)
		s.holds(c, kid, with(firstFiles, "a.txt", "kid\n"))
		s.holds(c, other, with(firstFiles, "other.txt", "other\n"))
		s.branch(c, mainBranch, s.base)
		s.branch(c, place("kid").Branch, next)
		s.clean(c, base, s.base)
	},
}, {
	"the operator's checkout is not touched",
	"They touch no ref outside refs/heads/agl/ and refs/agl/: the operator's branch cannot be moved, opened or cleared.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n")
		refused := func(err error, doing string) {
			if err == nil {
				c.Errorf("%s %s: it was done; want an error", doing, s.Trunk)
			}
		}
		refused(s.run.Move(c.Context(), s.Trunk, s.base, next), "moving")
		_, err := s.run.Open(c.Context(), ports.Place{Namespace: "thief", Branch: s.Trunk}, s.base)
		refused(err, "opening")
		_, err = s.run.Clear(c.Context(), map[string]string{s.Trunk: s.base})
		refused(err, "clearing")
		at, err := s.History.Resolve(c.Context(), s.Trunk)
		c.must(err, "resolving the operator's branch")
		same(c, at, s.base, "the commit of the operator's branch")
	},
}, {
	"the tree is live",
	"Tree is the checkout's files, as they are when they are read.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		tree := ws.Tree()
		s.write(c, ws, "a.txt", "later\n", "new/er.txt", "new\n")
		s.remove(c, ws, "empty")
		want := without(with(firstFiles, "a.txt", "later\n", "new/er.txt", "new\n"), "empty")
		same(c, readAll(c, tree), want, "the files of a tree taken before they were written")
		if err := fstest.TestFS(tree, "a.txt", "dir/sub/c.bin", "new/er.txt"); err != nil {
			c.Errorf("it is no file system as fstest.TestFS wants it: %v", err)
		}
		s.putBack(c, ws, s.base)
		same(c, readAll(c, tree), firstFiles, "the files of a tree taken before they were put back")
	},
}, {
	"the tree is to read",
	"Tree is to read: what a reader does to the bytes it was given changes no file, and git's own files are not in it.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		data, err := fs.ReadFile(ws.Tree(), "a.txt")
		c.must(err, "reading a file")
		for i := range data {
			data[i] = 'x'
		}
		s.holds(c, ws, firstFiles)
		s.clean(c, ws, s.base)
		if _, err := fs.Stat(ws.Tree(), ".git"); err == nil {
			c.Errorf("there is a .git in the tree; want none")
		}
	},
}, {
	"what is written is copied",
	"A checkout's files are its own: whoever wrote one may go on using the bytes.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		data := []byte("written\n")
		c.must(s.writeFile(c, ws, "a.txt", data), "writing a file")
		copy(data, "changed")
		s.holds(c, ws, with(firstFiles, "a.txt", "written\n"))
	},
}, {
	"many places work at once",
	"Several goroutines may each work in a place of their own at once.",
	func(c *check, s *worksite) {
		names := []string{ports.Base, "k1", "k2", "k3", "k4"}
		c.together(len(names), func(i int) {
			ws := s.open(c, names[i], s.base)
			mine := []string{"a.txt", names[i] + "\n", names[i] + ".txt", "mine\n"}
			next := s.step(c, names[i], ws, s.base, mine...)
			s.salvage(c, ws, next, "lost.txt", names[i]+"\n")
			s.holds(c, ws, with(firstFiles, mine...))
			s.clean(c, ws, next)
		})
		if c.Failed() {
			return
		}
		for i, kept := range s.salvaged(c) {
			same(c, kept.N, i+1, "the number of a salvage")
			s.holdsSalvage(c, kept.N, with(firstFiles, "a.txt", kept.Namespace+"\n", kept.Namespace+".txt", "mine\n", "lost.txt", kept.Namespace+"\n"))
		}
	},
}, {
	"the committer is a name and an address",
	"Identity returns the committer of the commits to be made, as \"Name <email>\"; Check finds nothing wrong with a good repository.",
	func(c *check, s *worksite) {
		c.must(s.Workspaces.Check(c.Context()), "checking a good repository")
		who, err := s.run.Identity(c.Context())
		c.must(err, "asking who commits")
		if !regexp.MustCompile(`^[^<>\n]+ <[^<>\n]*>$`).MatchString(who) {
			c.Errorf("the committer is %q; want the form Name <email>", who)
		}
		sp := spec(s.base, "by the committer")
		sp.Identity = who
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n")
		_, err = ws.Commit(c.Context(), sp)
		c.must(err, "committing as the committer")
	},
}}

// names fails the rule unless err is of a kind and its text names things.
func (c *check) names(err error, kind ports.Kind, doing string, things ...string) {
	c.kind(err, kind, doing)
	for _, thing := range things {
		if err != nil && !strings.Contains(err.Error(), thing) {
			c.Errorf("%s: the error does not name %s, want it to: %v", doing, thing, err)
		}
	}
}
