package porttest

import (
	"os"
	"path/filepath"
	"slices"

	"example.com/agl/ports"
)

var putBackRules = []rule[*worksite]{{
	"a checkout that is put back stands at head",
	"PutBack makes files, index, HEAD and branch stand at commit head, be it older, newer or where it is.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n", "new/file.txt", "new\n")
		nextFiles := readAll(c, ws.Tree())
		for _, head := range []string{next, s.base, next, s.base} {
			s.write(c, ws, "dir/b.txt", "lost\n", "dir/new.txt", "lost\n")
			s.remove(c, ws, "dir/sub/c.bin")
			s.putBack(c, ws, head)
			s.branch(c, mainBranch, head)
			s.clean(c, ws, head)
			if head == next {
				s.holds(c, ws, nextFiles)
			} else {
				s.holds(c, ws, firstFiles)
			}
		}
	},
}, {
	"a folder in a file's place is put back",
	"PutBack makes files stand at commit head, also where a folder took a file's place or a file a folder's; both are salvaged.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.remove(c, ws, "a.txt", "dir/b.txt", "dir/sub/c.bin")
		kept := s.salvage(c, ws, s.base, "a.txt/in", "x\n", "dir", "y\n")
		s.holds(c, ws, firstFiles)
		s.clean(c, ws, s.base)
		s.holdsSalvage(c, kept.N, map[string]string{"a.txt/in": "x\n", "dir": "y\n", "empty": ""})
	},
}, {
	"what would be lost is salvaged",
	"What is there and would be lost is salvaged first, byte for byte.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		changes := []string{
			"a.txt", "changed\r\n", "dir/b.txt", "", "new/\tö\n.bin", "\x00\xff\xfe\r\n\r", "no-newline", "x", "-dash", "--\n", "two  words", " \n",
		}
		s.remove(c, ws, "empty")
		kept := s.salvage(c, ws, s.base, changes...)
		s.holds(c, ws, firstFiles)
		s.holdsSalvage(c, kept.N, without(with(firstFiles, changes...), "empty"))
		same(c, kept.Paths, 7, "how many paths differ")
	},
}, {
	"a salvage says what it is",
	"A salvage has its number, its namespace, the reason as given, when it was made, and a ref that leads to its commit.",
	func(c *check, s *worksite) {
		ws := s.open(c, "kid", s.base)
		s.write(c, ws, "a.txt", "changed\n")
		reason := "what it was: \"quoted\",\nlined — and 日本"
		done, err := ws.PutBack(c.Context(), s.base, reason)
		c.must(err, "putting back")
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged; want a salvage")
		}
		got := *done.Salvage
		if got.N != 1 || got.Namespace != "kid" || got.Reason != reason || got.Paths != 1 || got.Made.IsZero() {
			c.Errorf("it says %+v; want number 1 of namespace kid with the reason %q, 1 path and the time", got, reason)
		}
		at, err := s.History.Resolve(c.Context(), got.Ref)
		c.must(err, "resolving its ref")
		same(c, got.Commit, at, "the commit its ref leads to")
		if s.Reachable != nil && !s.Reachable(got.Commit) {
			c.Errorf("no ref leads to its commit; want one")
		}
		list := s.salvaged(c)
		if len(list) != 1 || !list[0].Made.Equal(got.Made) {
			c.Fatalf("the list is %+v, want %+v", list, got)
		}
		list[0].Made, got.Made = got.Made, list[0].Made
		same(c, list[0], *done.Salvage, "the salvage as it is listed")
	},
}, {
	"nothing to keep makes no salvage",
	"Salvage is nil if there was nothing: a clean checkout, files that are removed and written again, files that are those of a commit.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		nothing := func(head, doing string) {
			if done := s.putBack(c, ws, head); done.Salvage != nil {
				c.Errorf("%s: %+v was salvaged; want nothing", doing, *done.Salvage)
			}
		}
		nothing(s.base, "a clean checkout")
		s.remove(c, ws, "a.txt")
		s.write(c, ws, "a.txt", firstFiles["a.txt"])
		nothing(s.base, "a file as it was")
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n", "new.txt", "new\n")
		c.must(s.run.Keep(c.Context(), "next", next), "keeping the commit")
		nothing(s.base, "the files of a commit that is kept")
		s.holds(c, ws, firstFiles)
		nothing(next, "the files of the commit below")
		same(c, numbers(s.salvaged(c)), []int(nil), "the salvage")
	},
}, {
	"an equal salvage makes no new one",
	"A salvage equal to the namespace's last one makes no new one; another does.",
	func(c *check, s *worksite) {
		ws, kid := s.open(c, ports.Base, s.base), s.open(c, "kid", s.base)
		first := s.salvage(c, ws, s.base, "a.txt", "lost\n", "new.txt", "lost\n")
		other := s.salvage(c, kid, s.base, "a.txt", "lost\n", "new.txt", "lost\n")
		again := s.salvage(c, ws, s.base, "a.txt", "lost\n", "new.txt", "lost\n")
		same(c, []int{first.N, other.N, again.N}, []int{1, 2, 1}, "the numbers of a salvage, one of another namespace, and the first again")
		same(c, s.salvage(c, ws, s.base, "a.txt", "lost again\n", "new.txt", "lost\n").N, 3, "the number of a salvage with another file")
		same(c, numbers(s.salvaged(c)), []int{1, 2, 3}, "the salvage")
	},
}, {
	"a removed file is work too",
	"What differs by a file that is gone is salvaged, and the salvage does not have it.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.remove(c, ws, "dir/b.txt")
		done := s.putBack(c, ws, s.base)
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged; want a salvage")
		}
		s.holdsSalvage(c, done.Salvage.N, without(firstFiles, "dir/b.txt"))
		s.holds(c, ws, firstFiles)
	},
}, {
	"an unknown head puts nothing back",
	"A head that is not in the repository is NotFound, and nothing is put back or salvaged.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n")
		_, err := ws.PutBack(c.Context(), unknown, "because")
		c.kind(err, ports.NotFound, "putting back to a commit that is not there")
		_, err = ws.PutBack(c.Context(), "HEAD", "because")
		c.kind(err, ports.Invalid, "putting back to what is no id")
		s.holds(c, ws, with(firstFiles, "a.txt", "changed\n"))
		s.branch(c, mainBranch, s.base)
		same(c, numbers(s.salvaged(c)), []int(nil), "the salvage")
	},
}, {
	"stray commits are salvaged",
	"Commits that no branch or tag reached are in the salvage, and its ref reaches them; HEAD is on the branch again.",
	func(c *check, s *worksite) {
		c.needs(s.Commit != nil && s.Reachable != nil, "Repository.Commit and Reachable")
		for i, detached := range []bool{false, true} {
			name := []string{ports.Base, "kid"}[i]
			ws := s.open(c, name, s.base)
			s.write(c, ws, "a.txt", name)
			stray, err := s.Commit(ws, "astray", detached)
			c.must(err, "committing as an agent")
			done := s.putBack(c, ws, s.base)
			if done.Salvage == nil {
				c.Fatalf("nothing was salvaged (HEAD detached: %v); want a salvage", detached)
			}
			if !slices.Contains(done.Salvage.Commits, stray) || !s.Reachable(stray) {
				c.Errorf("the agent's commit %s is lost, want it among Commits and reachable: %+v", stray, *done.Salvage)
			}
			s.clean(c, ws, s.base)
			s.branch(c, place(name).Branch, s.base)
		}
	},
}, {
	"what is only staged is salvaged",
	"Index is a commit of what was staged, where that was neither in head nor in the files.",
	func(c *check, s *worksite) {
		c.needs(s.Stage != nil && s.Reachable != nil, "Repository.Stage and Reachable")
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "staged\n")
		c.must(s.Stage(ws, "a.txt"), "staging")
		kept := s.salvage(c, ws, s.base, "a.txt", "in the file\n")
		if kept.Index == "" || !s.Reachable(kept.Index) {
			c.Fatalf("what was staged is lost, want an Index that is reachable: %+v", kept)
		}
		s.holds(c, s.open(c, "kid", kept.Index), with(firstFiles, "a.txt", "staged\n"))
		s.clean(c, ws, s.base)
	},
}, {
	"ignored files stay",
	"Ignored files stay where they are.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Ignored, "WorkspacesOptions.Ignored")
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, ".gitignore", "*.log\n")
		s.write(c, ws, "x.log", "noise\n", "dir/y.log", "noise\n", "a.txt", "changed\n")
		s.putBack(c, ws, next)
		s.holds(c, ws, with(firstFiles, ".gitignore", "*.log\n", "x.log", "noise\n", "dir/y.log", "noise\n"))
	},
}, {
	"modes and links are salvaged",
	"A salvage has executable bits and symbolic links.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Modes && s.opts.Symlinks, "WorkspacesOptions.Modes and Symlinks")
		ws := s.open(c, ports.Base, s.base)
		c.must(os.Symlink("../no/where", filepath.Join(ws.Dir(), "link")), "making a link")
		c.must(os.Chmod(filepath.Join(ws.Dir(), "a.txt"), 0o755), "making a file executable")
		done := s.putBack(c, ws, s.base)
		if done.Salvage == nil {
			c.Fatalf("nothing was salvaged; want a salvage")
		}
		dir := filepath.Join(c.TempDir(), "out")
		c.must(s.Workspaces.WriteSalvage(c.Context(), run, done.Salvage.N, dir), "writing the salvage out")
		if to, err := os.Readlink(filepath.Join(dir, "link")); err != nil || to != "../no/where" {
			c.Errorf("the link leads to %q, want ../no/where: %v", to, err)
		}
		if info, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil || info.Mode()&0o100 == 0 {
			c.Errorf("the file is not executable, want it so: %v %v", info, err)
		}
		s.clean(c, ws, s.base)
	},
}, {
	"nested repositories are moved",
	"A nested repository is moved to one of the salvage's Nested folders, whole.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Nested, "WorkspacesOptions.Nested")
		ws := s.open(c, ports.Base, s.base)
		nest(c, s, ws)
		done := s.putBack(c, ws, s.base)
		if done.Salvage == nil || len(done.Salvage.Nested) != 1 {
			c.Fatalf("the repository was not moved, want it among Nested: %+v", done)
		}
		data, err := os.ReadFile(filepath.Join(done.Salvage.Nested[0], "file.txt"))
		c.must(err, "reading a file of the moved repository")
		same(c, string(data), "nested\n", "the file in it")
		s.holds(c, ws, firstFiles)
		s.clean(c, ws, s.base)
	},
}}
