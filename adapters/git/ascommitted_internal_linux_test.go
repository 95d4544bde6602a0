package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestACheckoutIsAsCommittedOnlyIfAllOfItIs(t *testing.T) {
	t.Parallel()
	c := checkedOut(t, "sha1")
	head := c.headIn(t)
	if _, ok := c.asCommitted(head); ok {
		t.Error("the commit's tree is not known")
	}
	c.learnTree(head)
	later := time.Now().Add(time.Hour) // than all files
	if err := os.Chtimes(c.indexFile(), later, later); err != nil {
		t.Fatal(err)
	}
	is := func(want bool, what string) {
		t.Helper()
		if entries, ok := c.asCommitted(head); ok != want || ok && len(entries) != 60 {
			t.Errorf("%s: as committed is %v, of %d files", what, ok, len(entries))
		}
	}
	is(true, "clean")
	for i := range 12 {
		more := filepath.Join(c.dir, fmt.Sprintf("d%d", i), "b", "d", "more")
		for what, add := range map[string]func() error{
			"a file more":          func() error { return os.WriteFile(more, nil, 0o644) },
			"an empty folder more": func() error { return os.Mkdir(more, 0o755) },
		} {
			if err := add(); err != nil {
				t.Fatal(err)
			}
			is(false, what)
			if err := os.Remove(more); err != nil {
				t.Fatal(err)
			}
			is(true, what+", and removed")
		}
	}
	if err := os.Remove(filepath.Join(c.dir, "d11", "b", "d", "e")); err != nil {
		t.Fatal(err)
	}
	is(false, "a file less")
	writeIn(t, c.dir, "d11/b/d/e", "b/d/e, 11\n")
	is(false, "a file that git has not seen yet")
}

// An index of which this package cannot read all, or that has git not look at
// something, is left to git, whatever the files are. Any other is read as git
// reads it.
func TestAnIndexThatSaysNotAllIsLeftToGit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write  map[string]string
		git    [][]string
		commit bool // what is in the index then
		read   bool
	}{
		"version 4":                {git: [][]string{{"update-index", "--index-version=4"}}, read: true},
		"a cache of what is there": {git: [][]string{{"update-index", "--force-untracked-cache"}, {"status"}}, read: true},
		"names that are no text": {
			write: map[string]string{"d1/\xff\xfe\x80": "x", "é/ü": "x", "z\x7f\x80/q": "x", "-x/ \t\n": "x"},
			git:   [][]string{{"add", "-A"}}, commit: true, read: true,
		},
		"nothing at all":           {git: [][]string{{"rm", "-rq", "."}}, commit: true, read: true},
		"split":                    {git: [][]string{{"update-index", "--split-index"}}},
		"sparse":                   {git: [][]string{{"sparse-checkout", "set", "--cone", "--sparse-index", "d1"}}},
		"a part is checked out":    {git: [][]string{{"sparse-checkout", "set", "--cone", "--no-sparse-index", "d1"}}},
		"skip-worktree":            {git: [][]string{{"update-index", "--skip-worktree", "d1/a"}}},
		"assume-unchanged":         {git: [][]string{{"update-index", "--assume-unchanged", "d1/a"}}},
		"intent to add":            {write: map[string]string{"new": "x"}, git: [][]string{{"add", "-N", "new"}}},
		"a submodule":              {git: [][]string{{"update-index", "--add", "--cacheinfo", "160000,HEAD,d4/sub"}}, commit: true},
		"a repository in a folder": {git: [][]string{{"init", "-q", "d1/b"}}},
	} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(name+", "+format, func(t *testing.T) {
				t.Parallel()
				at := checkedOut(t, format)
				for path, text := range c.write {
					writeIn(t, at.dir, path, text)
				}
				for _, args := range c.git {
					last := len(args) - 1
					gitIn(t, at.dir, append(args[:last:last], strings.Replace(args[last], "HEAD", at.headIn(t), 1))...)
				}
				if c.commit {
					gitIn(t, at.dir, "commit", "-q", "-m", "more")
				}
				tree := strings.TrimSpace(string(gitIn(t, at.dir, "rev-parse", "HEAD^{tree}")))
				at.repo.found.commit(at.headIn(t), tree)
				later := time.Now().Add(time.Hour) // than all files
				if err := os.Chtimes(at.indexFile(), later, later); err != nil {
					t.Fatal(err)
				}
				if _, read := at.asCommitted(at.headIn(t)); read != c.read {
					t.Errorf("as committed is %v", read)
				}
			})
		}
	}
}
