package porttest

import (
	"os"
	"path/filepath"

	"example.com/agl/ports"
)

var salvageRules = []rule[*worksite]{{
	"salvage is listed by number",
	"Salvaged lists what was salvaged in a run, in order of number, whatever the namespaces; a run without has none.",
	func(c *check, s *worksite) {
		ws, kid := s.open(c, "z", s.base), s.open(c, "b", s.base)
		var want []ports.Salvage
		for i := range 12 {
			from := []ports.Workspace{ws, kid}[i%2]
			want = append(want, s.salvage(c, from, s.base, "a.txt", string(rune('A'+i))))
		}
		list := s.salvaged(c)
		if len(list) != len(want) {
			c.Fatalf("%d are listed, want %d", len(list), len(want))
		}
		for i, kept := range list {
			same(c, kept.N, i+1, "the number of a salvage")
			same(c, kept.Commit, want[i].Commit, "its commit")
			same(c, kept.Namespace, want[i].Namespace, "its namespace")
		}
		none, err := s.Workspaces.Salvaged(c.Context(), "run-2")
		c.must(err, "listing a run without salvage")
		same(c, len(none), 0, "how many salvages another run has")
	},
}, {
	"a salvage is written into an empty folder",
	"WriteSalvage writes what salvage n holds into dir, which must be absent or empty; any other is Conflicted and stays as it is.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		kept := s.salvage(c, ws, s.base, "a.txt", "lost\n")
		want := with(firstFiles, "a.txt", "lost\n")
		top := c.TempDir()
		absent, empty, full := filepath.Join(top, "deep", "absent"), filepath.Join(top, "empty"), filepath.Join(top, "full")
		c.must(os.Mkdir(empty, 0o755), "making a folder")
		c.must(os.Mkdir(full, 0o755), "making a folder")
		c.must(os.WriteFile(filepath.Join(full, "a.txt"), []byte("mine\n"), 0o644), "writing a file")
		for _, dir := range []string{absent, empty} {
			c.must(s.Workspaces.WriteSalvage(c.Context(), run, kept.N, dir), "writing into "+dir)
			same(c, readAll(c, os.DirFS(dir)), want, "what was written")
		}
		err := s.Workspaces.WriteSalvage(c.Context(), run, kept.N, full)
		c.kind(err, ports.Conflicted, "writing into a folder with a file in it")
		same(c, readAll(c, os.DirFS(full)), map[string]string{"a.txt": "mine\n"}, "the folder that was not empty")
		err = s.Workspaces.WriteSalvage(c.Context(), run, kept.N, filepath.Join(full, "a.txt"))
		if err == nil {
			c.Errorf("writing where a file is: it was done; want an error")
		}
	},
}, {
	"a salvage that is not there is NotFound",
	"There is no salvage n: NotFound, of an unknown number as of an unknown run, and no folder is made.",
	func(c *check, s *worksite) {
		s.salvage(c, s.open(c, ports.Base, s.base), s.base, "a.txt", "lost\n")
		dir := filepath.Join(c.TempDir(), "out")
		c.kind(s.Workspaces.WriteSalvage(c.Context(), run, 2, dir), ports.NotFound, "writing salvage 2 of 1")
		c.kind(s.Workspaces.WriteSalvage(c.Context(), "run-2", 1, dir), ports.NotFound, "writing the salvage of another run")
		c.kind(s.Workspaces.DropSalvage(c.Context(), run, 2), ports.NotFound, "dropping salvage 2 of 1")
		c.kind(s.Workspaces.DropSalvage(c.Context(), "run-2", 1), ports.NotFound, "dropping the salvage of another run")
		if _, err := os.Lstat(dir); err == nil {
			c.Errorf("a folder was made; want none")
		}
		same(c, numbers(s.salvaged(c)), []int{1}, "the salvage")
	},
}, {
	"a dropped salvage is gone",
	"DropSalvage gives up salvage n for good, and no other.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		for _, text := range []string{"1", "2", "3"} {
			s.salvage(c, ws, s.base, "a.txt", text)
		}
		c.must(s.Workspaces.DropSalvage(c.Context(), run, 2), "dropping a salvage")
		same(c, numbers(s.salvaged(c)), []int{1, 3}, "the salvage")
		c.kind(s.Workspaces.DropSalvage(c.Context(), run, 2), ports.NotFound, "dropping it again")
		s.holdsSalvage(c, 1, with(firstFiles, "a.txt", "1"))
		s.holdsSalvage(c, 3, with(firstFiles, "a.txt", "3"))
	},
}, {
	"numbers are not given again",
	"A salvage's number is its own in the run: it is given to no other, though the last one was dropped or the run cleared.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		s.salvage(c, ws, s.base, "a.txt", "1")
		s.salvage(c, ws, s.base, "a.txt", "2")
		c.must(s.Workspaces.DropSalvage(c.Context(), run, 2), "dropping the last salvage")
		same(c, s.salvage(c, ws, s.base, "a.txt", "3").N, 3, "the number after the last was dropped")
		c.must(s.Workspaces.DropSalvage(c.Context(), run, 3), "dropping the last salvage")
		c.must(s.Workspaces.DropSalvage(c.Context(), run, 1), "dropping the first salvage")
		_, err := s.run.Clear(c.Context(), map[string]string{mainBranch: s.base})
		c.must(err, "clearing the run")
		same(c, s.salvage(c, s.open(c, ports.Base, s.base), s.base, "a.txt", "4").N, 4, "the number after the run was cleared")
	},
}}
