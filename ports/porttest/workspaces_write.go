package porttest

import (
	"os"
	"path/filepath"
	"strings"

	"example.com/agl/ports"
)

var writeRules = []rule[*worksite]{{
	"files are written and removed",
	"WriteFile writes a file and makes its folders; Remove removes one, or a folder with all that is in it, and is no error if there is none.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		for _, f := range [][2]string{{"a.txt", "changed\n"}, {"new/deep/x", "\x00\xff\r\n"}, {"new/deeper/y", ""}, {"empty", "no more"}} {
			c.must(ws.WriteFile(c.Context(), f[0], []byte(f[1])), "writing "+f[0])
		}
		want := with(firstFiles, "a.txt", "changed\n", "new/deep/x", "\x00\xff\r\n", "new/deeper/y", "", "empty", "no more")
		s.holds(c, ws, want)
		for range 2 {
			for _, name := range []string{"dir", "empty", "new/deep/x", "none", "none/at/all"} {
				c.must(ws.Remove(c.Context(), name), "removing "+name)
			}
		}
		want = without(want, "dir/b.txt", "dir/sub/c.bin", "empty", "new/deep/x")
		s.holds(c, ws, want)
		c.must(ws.WriteFile(c.Context(), "new/deep", []byte("a file")), "writing where a folder was left empty")
		c.must(ws.WriteFile(c.Context(), "dir", []byte("a file")), "writing where a folder was removed")
		want = with(want, "new/deep", "a file", "dir", "a file")
		s.holds(c, ws, want)
		made := s.commit(c, ws, s.base, "written")
		c.must(s.run.Move(c.Context(), mainBranch, s.base, made.ID), "moving the branch")
		s.clean(c, ws, made.ID)
		s.holds(c, s.open(c, "kid", made.ID), want)
	},
}, {
	"only files of the checkout are written",
	"What is no name in the checkout, a folder, what is below a file and what is git's own are neither written nor removed: Invalid.",
	func(c *check, s *worksite) {
		ws := s.open(c, ports.Base, s.base)
		none := []string{
			"", ".", "..", "../x", "../../x", "/x", "a/", "a//b", "./x", "a/../x", "x/..", "nul\x00", strings.Repeat("x", 300),
			".git", ".git/config", "dir/.git/config", "dir/.GIT", "a.txt/x", "dir/b.txt/x/y",
		}
		for _, name := range none {
			c.kind(ws.WriteFile(c.Context(), name, []byte("x")), ports.Invalid, "writing "+excerpt(name))
		}
		for _, name := range []string{"dir", "dir/sub"} {
			c.kind(ws.WriteFile(c.Context(), name, []byte("x")), ports.Invalid, "writing the folder "+name)
		}
		for _, name := range none {
			c.kind(ws.Remove(c.Context(), name), ports.Invalid, "removing "+excerpt(name))
		}
		s.holds(c, ws, firstFiles)
		s.clean(c, ws, s.base)
	},
}, {
	"links are not followed",
	"What leads through a symbolic link, out of the checkout or not, is neither written nor removed: Invalid. A link itself can be removed.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Symlinks, "WorkspacesOptions.Symlinks")
		ws := s.open(c, ports.Base, s.base)
		outside := c.TempDir()
		secret := filepath.Join(outside, "secret")
		c.must(os.WriteFile(secret, []byte("kept"), 0o600), "writing a file outside")
		for link, to := range map[string]string{"out": outside, "file": secret, "in": "dir", "git": ".git", "new": filepath.Join(outside, "new")} {
			c.must(os.Symlink(to, filepath.Join(ws.Dir(), link)), "making a link")
		}
		for _, name := range []string{"out/secret", "out/new", "file", "in/b.txt", "git", "new"} {
			c.kind(ws.WriteFile(c.Context(), name, []byte("x")), ports.Invalid, "writing "+name)
		}
		for _, name := range []string{"out/secret", "in/b.txt"} {
			c.kind(ws.Remove(c.Context(), name), ports.Invalid, "removing "+name)
		}
		for _, link := range []string{"out", "file", "in", "git", "new"} {
			c.must(ws.Remove(c.Context(), link), "removing the link "+link)
		}
		s.holds(c, ws, firstFiles)
		s.clean(c, ws, s.base)
		same(c, readAll(c, os.DirFS(outside)), map[string]string{"secret": "kept"}, "the files outside")
	},
}, {
	"a repository is not removed",
	"A folder with a repository in it is not removed: Invalid.",
	func(c *check, s *worksite) {
		c.needs(s.opts.Nested, "WorkspacesOptions.Nested")
		ws := s.open(c, ports.Base, s.base)
		s.write(c, ws, "sub/inner/.git/HEAD", "ref: refs/heads/main\n", "sub/x", "x")
		c.kind(ws.Remove(c.Context(), "sub"), ports.Invalid, "removing a folder with a repository in it")
		s.holds(c, ws, with(firstFiles, "sub/inner/.git/HEAD", "ref: refs/heads/main\n", "sub/x", "x"))
	},
}}
