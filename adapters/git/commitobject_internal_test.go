package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// committing is a repository with one commit, and what is needed to commit there.
type committing struct {
	repo         *Repo
	tree, parent string
}

func newCommitting(t testing.TB, format string) committing {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q", "--object-format="+format, "repo")
	at := filepath.Join(dir, "repo")
	gitIn(t, at, "commit", "-q", "--allow-empty", "-m", "first")
	r, err := Open(context.Background(), Options{
		Repo: at, Trees: filepath.Join(dir, "trees"), SalvageDir: filepath.Join(dir, "salvage"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"},
	})
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Fields(string(gitIn(t, at, "rev-parse", "HEAD", "HEAD^{tree}")))
	return committing{r, named[1], named[0]}
}

// compare makes a commit with git and without it, and requires the same.
func (c committing) compare(t *testing.T, who signature, message string, parents ...string) {
	t.Helper()
	started := 0
	counted := func(ctx context.Context, cl call) ([]byte, error) {
		started++
		return c.repo.run(ctx, cl)
	}
	ours, err := c.repo.commitTree(t.Context(), counted, who, message, c.tree, parents...)
	if err != nil || started != 0 {
		t.Fatalf("%q, %q: %v; git was started %d times", who.name, message, err, started)
	}
	args := []string{"commit-tree", c.tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := c.repo.run(t.Context(), call{env: who.env(), stdin: strings.NewReader(message), args: append(args, "-F", "-")})
	if err != nil || strings.TrimSpace(string(out)) != ours {
		t.Fatalf("%+v, %q: without git it is %s, with it %s, %v", who, message, ours, out, err)
	}
}

func TestACommitIsTheOneThatGitWouldMake(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 1, 2, 3, 4, time.FixedZone("", -3*3600-1800))
	who := signature{"Tess Ter", "tess@example.com", at}
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			c := newCommitting(t, format)
			for _, message := range []string{"", "one", "one\n", "one\n\ntwo\r\n", "#x\n\n\n", "é\n", "\ufffd\ufffc\U0010fffd", strings.Repeat("long ", 1<<16)} {
				c.compare(t, who, message, c.parent)
				c.compare(t, who, message)
			}
			second := strings.TrimSpace(string(gitIn(t, c.repo.common, "commit-tree", c.tree, "-m", "second")))
			c.compare(t, who, "a merge\n", c.parent, second)
			c.compare(t, signature{"É B.C", "é@x", time.Unix(0, 0).UTC()}, "m", c.parent)
			c.compare(t, signature{"a", "a", time.Unix(1<<33, 0).In(time.FixedZone("", 14*3600))}, "m", c.parent)
			gitIn(t, c.repo.common, "fsck", "--strict")
		})
	}
}

// What git does with such names and times, and says of such ids, is its own.
func TestGitMakesTheCommitWhereItIsNotPlain(t *testing.T) {
	t.Parallel()
	c := newCommitting(t, "sha1")
	who := signature{"Tess Ter", "tess@example.com", time.Unix(1, 0)}
	gone := strings.Repeat("1", 40)
	for name, tried := range map[string]struct {
		who     signature
		tree    string
		parent  string
		message string
	}{
		"a name with a dot at its end": {signature{"Tess T.", who.email, who.at}, c.tree, c.parent, "m"},
		"a name between blanks":        {signature{" Tess ", who.email, who.at}, c.tree, c.parent, "m"},
		"a quoted address":             {signature{"Tess", "<tess@example.com>", who.at}, c.tree, c.parent, "m"},
		"no address":                   {signature{"Tess", "", who.at}, c.tree, c.parent, "m"},
		"a time before 1970":           {signature{"Tess", "t@x", time.Unix(-1, 0)}, c.tree, c.parent, "m"},
		"a tree that is not there":     {who, gone, c.parent, "m"},
		"a parent that is not there":   {who, c.tree, gone, "m"},
		"a message in Latin-1":         {who, c.tree, c.parent, "\xe9"},
		"a message with no character":  {who, c.tree, c.parent, "\ufffe"},
	} {
		started := false
		_, _ = c.repo.commitTree(t.Context(), func(_ context.Context, cl call) ([]byte, error) {
			started = slices.Contains(cl.args, "commit-tree")
			return nil, fmt.Errorf("not run")
		}, tried.who, tried.message, tried.tree, tried.parent)
		if !started {
			t.Errorf("%s: git was not asked", name)
		}
	}
}

// What a group shares stays writable for it.
func TestAFolderOfObjectsIsAsOpenAsTheOthers(t *testing.T) {
	t.Parallel()
	c := newCommitting(t, "sha1")
	objects := filepath.Join(c.repo.common, "objects")
	if err := os.Chmod(objects, 0o775|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	made := 0
	for i := range 64 { // the folder follows from the hash
		before, err := os.ReadDir(objects)
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.repo.writeObject("blob", fmt.Appendf(nil, "%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(before, func(e os.DirEntry) bool { return e.Name() == id[:2] }) {
			continue
		}
		made++
		info, err := os.Stat(filepath.Join(objects, id[:2]))
		if err != nil || info.Mode() != os.ModeDir|0o775|os.ModeSetgid {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
	}
	if made == 0 {
		t.Fatal("no folder was made")
	}
}
