package porttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/agl/ports"
)

var mergeRules = []rule[*landsite]{{
	"a merge is in the checkout and on no branch",
	"Merge merges spec.Theirs into a checkout that stands clean at spec.Head; it moves no branch.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		m := l.merged(c)
		l.holds(c, l.ws, mergedFiles)
		l.branch(c, l.spec.Into, l.spec.Head)
		l.branch(c, l.spec.Branch, l.spec.Theirs)
		trunk, err := s.History.Resolve(c.Context(), s.Trunk)
		c.must(err, "resolving the trunk")
		same(c, trunk, s.base, "where the trunk is")
		if at := l.inspect(c, l.ws, l.spec.Head); at.Head != l.spec.Head || at.Detached {
			c.Errorf("HEAD is not on the branch, at the commit it was at: %+v", at)
		}
		l.held(c, ports.HoldPristine, "after a merge")
		tree, err := s.History.Tree(c.Context(), l.commit(c, m).ID)
		c.must(err, "reading a tree")
		same(c, m.Tree, tree, "the tree of the merge")
	},
}, {
	"a merged tree is that of its files",
	"Merge.Tree is the id of the merged tree: that of a commit of the same files.",
	func(c *check, s *landsite) {
		m := s.apart(c).merged(c)
		twin := s.open(c, "twin", s.base)
		s.remove(c, twin, "empty")
		s.write(c, twin, "a.txt", "ours\n", "ours.txt", "of ours\n", "dir/sub/c.bin", "\x00theirs", "dir/new.txt", "of theirs")
		same(c, m.Tree, s.commit(c, twin, s.base, "the same").Tree, "the tree of the merge")
	},
}, {
	"the message names both branches",
	"Merge.Message is git's own for this merge, without comment lines, with conflicts or not.",
	func(c *check, s *landsite) {
		for _, l := range []*landing{s.apart(c), s.again(c)} {
			message := l.merge(c).Message
			want := fmt.Sprintf("Merge branch '%s' into %s", l.spec.Branch, l.spec.Into)
			same(c, strings.TrimSpace(message), want, "the message")
			if commented(message) {
				c.Errorf("it has comments: %q", message)
			}
		}
	},
}, {
	"a branch that is behind is merged too",
	"The branch may be behind Theirs, and is not fast-forwarded.",
	func(c *check, s *landsite) {
		l := s.diverge(c, nil, []string{"a.txt", "theirs\n"})
		m := l.merged(c)
		l.held(c, ports.HoldPristine, "after a merge of what is ahead")
		l.branch(c, l.spec.Into, s.base)
		made := l.commit(c, m)
		if made.ID == l.spec.Theirs || made.Tree != m.Tree {
			c.Errorf("the commit is %+v, of a merge of %+v", made, l.spec)
		}
		tree, err := s.History.Tree(c.Context(), l.spec.Theirs)
		c.must(err, "reading a tree")
		same(c, m.Tree, tree, "the tree of the merge")
	},
}, {
	"what changes no file is merged too",
	"Merge merges what both sides have done alike, and holds it though no file differs.",
	func(c *check, s *landsite) {
		l := s.diverge(c, []string{"a.txt", "alike\n", "dir/b.txt", "mine\n"}, []string{"a.txt", "alike\n"})
		m := l.merged(c)
		l.held(c, ports.HoldPristine, "after a merge that changes no file")
		made := l.commit(c, m)
		if !made.Empty || made.ID == l.spec.Head {
			c.Errorf("the commit is one of its own, and empty: %+v", made)
		}
		l.putBack(c, l.ws, l.spec.Head)
		l.held(c, ports.HoldNone, "put back")
	},
}, {
	"a checkout that is not clean is not merged into",
	"A checkout that does not stand clean at spec.Head is Conflicted, and nothing is changed.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		refused := func(doing string) {
			unchanged := l.unchanged(c)
			_, err := l.Integrator.Merge(c.Context(), l.ws, l.spec)
			c.kind(err, ports.Conflicted, "merging into "+doing)
			unchanged("merging into " + doing)
		}
		l.write(c, l.ws, "a.txt", "dirty\n")
		refused("a checkout with a changed file")
		l.putBack(c, l.ws, l.spec.Head)
		l.write(c, l.ws, "untracked.txt", "x")
		refused("a checkout with an untracked file")
		l.putBack(c, l.ws, l.spec.Head)
		l.remove(c, l.ws, "dir/b.txt")
		refused("a checkout without a file")
		l.putBack(c, l.ws, l.spec.Head)
		head := l.spec.Head
		l.spec.Head = s.base
		refused("a checkout that is ahead")
		l.spec.Head = head
		l.putBack(c, l.ws, s.base)
		refused("a checkout that is behind")
		l.held(c, ports.HoldNone, "refused")
	},
}, {
	"one merge at a time is held",
	"A checkout that holds a merge is Conflicted for another, and for the same again.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		other := s.change(c, "other", s.open(c, "other", s.base), s.base, "other.txt", "x")
		l.merged(c)
		unchanged := l.unchanged(c)
		for _, theirs := range []string{l.spec.Theirs, other} {
			again := l.spec
			again.Theirs = theirs
			_, err := s.Integrator.Merge(c.Context(), l.ws, again)
			c.kind(err, ports.Conflicted, "merging into a checkout that holds a merge")
			unchanged("merging again")
		}
	},
}, {
	"what is in already is not merged",
	"Theirs that Head contains already is Invalid, and there is no hold.",
	func(c *check, s *landsite) {
		l := s.diverge(c, []string{"a.txt", "ours\n"}, nil)
		for _, theirs := range []string{s.base, l.spec.Head} {
			l.spec.Theirs = theirs
			_, err := s.Integrator.Merge(c.Context(), l.ws, l.spec)
			c.kind(err, ports.Invalid, "merging what is in already")
			l.held(c, ports.HoldNone, "after merging what is in already")
			l.clean(c, l.ws, l.spec.Head)
		}
	},
}, {
	"unknown commits are not merged",
	"An unknown commit is NotFound, and what is no full id Invalid; nothing is changed.",
	func(c *check, s *landsite) {
		l := s.apart(c)
		unchanged := l.unchanged(c)
		for theirs, want := range map[string]ports.Kind{
			unknown: ports.NotFound, "": ports.Invalid, "HEAD": ports.Invalid, l.spec.Theirs[:12]: ports.Invalid, l.spec.Branch: ports.Invalid, "--abort": ports.Invalid,
		} {
			bad := l.spec
			bad.Theirs = theirs
			_, err := s.Integrator.Merge(c.Context(), l.ws, bad)
			c.kind(err, want, fmt.Sprintf("merging %q", theirs))
		}
		bad := l.spec
		bad.Head = unknown
		if _, err := s.Integrator.Merge(c.Context(), l.ws, bad); err == nil {
			c.Errorf("merging into an unknown commit: it was done")
		}
		unchanged("merging what is not there")
	},
}, {
	"a file that is in the way blocks the merge",
	"Blocked tells that the conflicts are paths in the checkout, ignored or untracked, that would be overwritten: nothing was merged and there is no hold.",
	func(c *check, s *landsite) {
		c.needs(s.opts.Ignored, "IntegratorOptions.Ignored")
		l := s.diverge(c, []string{".gitignore", "local.env\ncache\nbuilt\n"},
			[]string{"local.env", "theirs\n", "deep/local.env", "theirs\n", "cache", "a file\n", "built/out", "theirs\n", "other.txt", "x\n"})
		files := readAll(c, l.ws.Tree())
		block := func(path string, want ...string) {
			l.write(c, l.ws, path, "secret\n")
			m, err := s.Integrator.Merge(c.Context(), l.ws, l.spec)
			c.must(err, "merging over "+path)
			if !m.Blocked || m.Tree != "" {
				c.Fatalf("merging over %s: it is not blocked: %+v", path, m)
			}
			for _, p := range m.Conflicts {
				same(c, p.Kind, ports.ConflictOverwrite, "the kind of "+p.Path)
			}
			same(c, paths(m.Conflicts), want, "what is in the way")
			l.held(c, ports.HoldNone, "blocked")
			l.clean(c, l.ws, l.spec.Head)
			l.holds(c, l.ws, with(files, path, "secret\n"))
			l.remove(c, l.ws, path)
		}
		block("local.env", "local.env")
		block("deep/local.env", "deep/local.env")
		block("cache/deep/x", "cache/deep/x")
		block("built", "built")
		l.write(c, l.ws, "deep/elsewhere/cache", "mine\n")
		l.merged(c)
		l.holds(c, l.ws, with(files, "local.env", "theirs\n", "deep/local.env", "theirs\n", "cache", "a file\n", "built/out", "theirs\n", "other.txt", "x\n", "deep/elsewhere/cache", "mine\n"))
	},
}, {
	"modes are merged",
	"An executable file is one in the merge.",
	func(c *check, s *landsite) {
		c.needs(s.opts.Modes, "IntegratorOptions.Modes")
		kid := s.open(c, "kid", s.base)
		c.must(os.Chmod(filepath.Join(kid.Dir(), "a.txt"), 0o755), "making a file executable")
		l := s.diverge(c, []string{"a.txt", "ours\n"}, []string{"new.txt", "x"})
		made := l.commit(c, l.merged(c))
		for _, ws := range []ports.Workspace{l.ws, s.open(c, "third", made.ID)} {
			info, err := os.Stat(filepath.Join(ws.Dir(), "a.txt"))
			c.must(err, "looking at the file")
			if info.Mode()&0o100 == 0 {
				c.Errorf("its mode is %v", info.Mode())
			}
		}
	},
}, {
	"a renamed file takes the other's changes",
	"Merge knows a file that was renamed.",
	func(c *check, s *landsite) {
		c.needs(s.opts.Renames, "IntegratorOptions.Renames")
		text := strings.Repeat("a line\n", 20)
		first := s.change(c, ports.Base, s.open(c, ports.Base, s.base), s.base, "dir/long.txt", text)
		kid := s.change(c, "kid", s.open(c, "kid", first), first, "dir/long.txt", text+"theirs\n")
		ws := s.open(c, ports.Base, first)
		head := s.change(c, ports.Base, ws, first, "dir/long.txt", gone, "moved.txt", text)
		l := s.landing(ws, ports.Base, head, "kid", kid)
		l.merged(c)
		l.holds(c, ws, with(firstFiles, "moved.txt", text+"theirs\n"))
	},
}}
