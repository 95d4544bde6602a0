package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkedOut is a repository's own working tree, with files in many folders.
func checkedOut(t *testing.T, format string) *checkout {
	t.Helper()
	c := newCommitting(t, format)
	at := filepath.Dir(c.repo.common)
	for i := range 12 {
		for _, name := range []string{"a", "b/c", "b/d/e", "b.f", "b0"} {
			writeIn(t, at, fmt.Sprintf("d%d/%s", i, name), fmt.Sprintf("%s, %d\n", name, i))
		}
	}
	gitIn(t, at, "add", "-A")
	gitIn(t, at, "commit", "-q", "-m", "files")
	return &checkout{repo: c.repo, dir: at, gitDir: c.repo.common}
}

func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (c *checkout) headIn(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(string(gitIn(t, c.dir, "rev-parse", "HEAD")))
}

// What is written out of a merge is all that it has brought, or a power cut
// could take some of it.
func TestAnIndexTellsWhatItsTreeHasBesideAnother(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "4"} {
			t.Run(format+" version "+version, func(t *testing.T) {
				t.Parallel()
				c := checkedOut(t, format)
				gitIn(t, c.dir, "update-index", "--index-version="+version)
				was, err := c.entries()
				if err != nil {
					t.Fatal(err)
				}
				head := c.headIn(t)
				writeIn(t, c.dir, "d0/b/d/e", "changed\n")
				writeIn(t, c.dir, "d1/b-new/x", "new\n")
				writeIn(t, c.dir, "top", "new, too\n")
				if err := os.RemoveAll(filepath.Join(c.dir, "d2", "b")); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(c.dir, "d3"), filepath.Join(c.dir, "moved")); err != nil {
					t.Fatal(err)
				}
				gitIn(t, c.dir, "add", "-A")
				gitIn(t, c.dir, "update-index", "--add", "--cacheinfo", "160000,"+head+",d4/sub")
				gitIn(t, c.dir, "update-index", "--chmod=+x", "d5/a")
				entries, err := c.entries()
				if err != nil {
					t.Fatal(err)
				}
				ids, tree := c.repo.objectsBeside(was, entries)
				if want := strings.TrimSpace(string(gitIn(t, c.dir, "write-tree"))); tree != want {
					t.Fatalf("the tree is %s, git writes %s", tree, want)
				}
				changes, err := c.compare(t.Context(), head, tree)
				if err != nil {
					t.Fatal(err)
				}
				before := string(gitIn(t, c.dir, "ls-tree", "-r", "-t", "--full-tree", head))
				want := []string{tree}
				for _, ch := range changes {
					if ch.newMode != "000000" && !strings.Contains(before, ch.id) && !slices.Contains(want, ch.id) {
						want = append(want, ch.id)
					}
				}
				slices.Sort(want)
				slices.Sort(ids)
				if !slices.Equal(want, ids) {
					t.Errorf("objects\n%q, git says\n%q", ids, want)
				}
				if ids, same := c.repo.objectsBeside(entries, entries); len(ids) > 0 || same != tree {
					t.Errorf("beside itself it has %q", ids)
				}
			})
		}
	}
}
