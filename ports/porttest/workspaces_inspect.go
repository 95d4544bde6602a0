package porttest

import (
	"fmt"

	"example.com/agl/ports"
)

var inspectRules = []rule[*worksite]{{
	"changes are told apart",
	"Inspect says how the checkout differs: paths that are tracked and changed, and paths that are neither tracked nor ignored, each sorted.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "z.txt", "new\n", "new/b.txt", "new\n", "new/a.txt", "", "dir/b.txt", "changed\n", "a.txt", "changed\n")
		s.remove(c, ws, "empty")
		same(c, s.inspect(c, ws, s.base), ports.Changes{
			Head: s.base, Tracked: []string{"a.txt", "dir/b.txt", "empty"}, Untracked: []string{"new/a.txt", "new/b.txt", "z.txt"},
		}, "the changes")
	},
}, {
	"what is as it was is no change",
	"A file that was changed and changed back, or written again as it was, is not different.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "changed\n", "new.txt", "", "dir/b.txt", firstFiles["dir/b.txt"])
		s.write(c, ws, "a.txt", firstFiles["a.txt"])
		s.remove(c, ws, "new.txt", "empty")
		s.write(c, ws, "empty", "")
		s.clean(c, ws, s.base)
	},
}, {
	"a folder in a file's place",
	"A folder where a file was, or a file where a folder was, is a change of the one and a new path.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.remove(c, ws, "a.txt", "dir/b.txt", "dir/sub/c.bin")
		s.write(c, ws, "a.txt/in", "x\n", "dir", "y\n")
		same(c, s.inspect(c, ws, s.base), ports.Changes{
			Head: s.base, Tracked: []string{"a.txt", "dir/b.txt", "dir/sub/c.bin"}, Untracked: []string{"a.txt/in", "dir"},
		}, "the changes")
	},
}, {
	"at most a hundred paths",
	"Tracked and Untracked are at most 100 paths each.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		var many []string
		for i := range 120 {
			many = append(many, fmt.Sprintf("many/%03d", i), "one\n")
		}
		next := s.step(c, ports.Base, ws, s.base, many...)
		for i := range 120 {
			s.write(c, ws, many[2*i], "two\n", fmt.Sprintf("more/%03d", i), "new\n")
		}
		changes := s.inspect(c, ws, next)
		if len(changes.Tracked) != 100 || len(changes.Untracked) != 100 {
			c.Fatalf("of 120 paths each %d are tracked and changed, %d untracked; want 100", len(changes.Tracked), len(changes.Untracked))
		}
		same(c, changes.Tracked[99], "many/099", "the last path told")
		same(c, changes.Untracked[99], "more/099", "the last path told")
	},
}, {
	"the head is where the branch is",
	"Head is the commit HEAD is at: that of the branch, wherever it was moved.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, "a.txt", "next\n")
		s.clean(c, ws, next)
		c.must(s.run.Move(c.Context(), mainBranch, next, s.base), "moving the branch back")
		same(c, s.inspect(c, ws, s.base), ports.Changes{Head: s.base, Tracked: []string{"a.txt"}}, "the changes after the branch was moved")
	},
}, {
	"a detached HEAD is told",
	"Detached says that HEAD is not the namespace's branch, and Head is where it is.",
	func(c *check, s *worksite) {
		c.needs(s.Commit != nil, "Repository.Commit")
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "a.txt", "astray\n")
		id, err := s.Commit(ws, "astray", true)
		c.must(err, "committing as an agent")
		same(c, s.inspect(c, ws, s.base), ports.Changes{Head: id, Detached: true}, "the changes")
	},
}, {
	"ignored files are not told",
	"A path that is ignored is not among the untracked ones, and no commit has it.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Ignored, "WorkspacesOptions.Ignored")
		ws := s.open(c, ports.Base, s.base)
		next := s.step(c, ports.Base, ws, s.base, ".gitignore", "*.log\n")
		s.write(c, ws, "x.log", "noise\n")
		s.clean(c, ws, next)
		if made := s.commit(c, ws, next, "nothing"); !made.Empty {
			c.Errorf("an ignored file was committed; want no commit")
		}
	},
}}
