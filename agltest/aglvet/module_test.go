package aglvet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/agltest/aglvet"
)

func TestTheExamplesGiveNoDiagnostic(t *testing.T) {
	t.Parallel()
	aglvet.Test(t, "../../examples/...")
}

// A recorder is a test that fails without failing this one.
type recorder struct {
	testing.TB
	errors []string
	fatal  string
}

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	panic(r)
}

// failures are what aglvet.Test says of packages as seen from dir.
func failures(dir string, patterns ...string) (r *recorder) {
	r = new(recorder)
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
	}()
	aglvet.InDir(r, dir, patterns...)
	return r
}

func TestEachPlantedBugFailsTheTestOfAnAuthor(t *testing.T) {
	t.Parallel()
	r := failures("testdata", "./planted")
	var got []string
	for _, e := range r.errors {
		file, rest, _ := strings.Cut(e, ":")
		got = append(got, filepath.ToSlash(file)+": "+rest[strings.Index(rest, ": ")+2:][:20])
	}
	want := []string{
		"planted/clock.go: time.Now reads the c",
		"planted/clock.go: time.Now reads the c",
		"planted/forgotten.go: nothing reads the er",
		"planted/global.go: package variable len",
		"planted/global.go: package variable len",
		"planted/goroutines.go: this goroutine steps",
		"planted/maporder.go: run is stepped in th",
	}
	if diff := cmp.Diff(want, got); diff != "" || r.fatal != "" {
		t.Errorf("errors (-want +got):\n%s\nfatal: %q", diff, r.fatal)
	}
}

// What is called in other packages is known though the pattern leaves them out,
// and nothing is said about those packages themselves.
func TestOnlyTheNamedPackagesAreReported(t *testing.T) {
	t.Parallel()
	r := failures("testdata", "./purity")
	all := strings.Join(r.errors, "\n")
	if !strings.Contains(all, "(purity.flow.run → stamps.Today → stamps.now)") || strings.Contains(all, "os.Hostname") || r.fatal != "" {
		t.Errorf("errors:\n%s\nfatal: %q", all, r.fatal)
	}
}

// Generic methods, embedded Runs, pointers through pointers, variables that refer
// to each other: whatever compiles is read to its end.
func TestOddCodeIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	r := failures("testdata/odd")
	all := strings.Join(r.errors, "\n")
	if !strings.Contains(all, "variable byInt") || !strings.Contains(all, "goroutine steps e.Run") || r.fatal != "" {
		t.Errorf("errors:\n%s\nfatal: %q", all, r.fatal)
	}
}

func TestAPackageThatCannotBeLoadedEndsTheTest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/broken\n\ngo 1.26\n")
	write(t, dir, "broken.go", "package broken\n\nvar x int = \"no\"\n")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"./...":       "aglvet: package example.com/broken: ",
		"./nowhere":   "aglvet: package ",
		"./empty/...": "aglvet: no package matches ./empty/...",
	} {
		if r := failures(dir, pattern); !strings.HasPrefix(r.fatal, want) || len(r.errors) > 0 {
			t.Errorf("%s: fatal %q, want %q…; errors %q", pattern, r.fatal, want, r.errors)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
