package git

import (
	"fmt"
	"os"
	"path/filepath"
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
