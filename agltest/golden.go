package agltest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/agl"
	"example.com/agl/ports"
)

// updating reports whether golden files are to be written: by the flag -update,
// whoever defines it, or by AGLTEST_UPDATE=1.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true" || os.Getenv("AGLTEST_UPDATE") == "1"
}

// defineUpdate defines the flag -update, unless the test's package has one.
func defineUpdate() {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "rewrite the golden files of agltest")
	}
}

// A lateFlag is a flag of package testing that defines -update when it is set.
// The go command sets it before the flags of the user. An earlier definition
// would clash with that of a test's package, which is made after this one's.
type lateFlag struct{ flag.Value }

func (f lateFlag) Set(value string) error {
	defineUpdate()
	return f.Value.Set(value)
}

// String is also called on a zero one, by the usage message.
func (f lateFlag) String() string {
	if f.Value == nil {
		return ""
	}
	return f.Value.String()
}

func (lateFlag) IsBoolFlag() bool { return true }

var _ = func() bool {
	if !testing.Testing() {
		return false
	}
	testing.Init()
	first := flag.Lookup("test.paniconexit0")
	if first != nil {
		first.Value = lateFlag{first.Value}
	}
	return first != nil
}()

// written holds what this process has written into golden files, by path.
var written sync.Map

// Golden compares the shape of the run's journal with a golden file: its
// records' kinds, names and endings, in the order of each namespace, from which
// worktree a nested one was opened, and no values, digests or times. A workflow whose shape has changed cannot resume
// the runs that are under way, and needs a new Spec.Version. Run the test with
// -update, or with AGLTEST_UPDATE=1 in the environment, to write the file.
func (h *Harness) Golden(path string) {
	h.t.Helper()
	if child() != nil {
		return
	}
	got := shape(h.journal(), h.status())
	file, err := os.ReadFile(path)
	want := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(file), "\r\n", "\n"), "\n"), "\n")
	diff := cmp.Diff(want, got)
	kept := err == nil && want[0] == got[0] && diff != ""
	switch {
	case updating():
		if kept {
			h.t.Logf("agltest: %s has another shape now, under the same version. If the workflow changed, and not only what this test plays, raise Spec.Version", path)
		}
		if err := rewrite(path, strings.Join(got, "\n")+"\n"); err != nil {
			h.t.Errorf("agltest: %v", err)
		}
	case err != nil:
		h.t.Errorf("agltest: the golden file cannot be read (%v); write it: go test -run '%s' -update", err, exactly(h.t.Name()))
	case kept:
		h.t.Errorf("agltest: the journal has another shape than %s, under the same version. If the workflow changed, runs that are under way cannot be resumed: "+
			"raise Spec.Version. If only what this test plays changed, that is all. Then: go test -run '%s' -update (-want +got):\n%s", path, exactly(h.t.Name()), diff)
	case diff != "":
		h.t.Errorf("agltest: %s is of %q, this is %q: go test -run '%s' -update (-want +got):\n%s", path, want[0], got[0], exactly(h.t.Name()), diff)
	}
}

// rewrite writes a golden file. Two tests that write one differently are told.
func rewrite(path, text string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if was, loaded := written.LoadOrStore(abs, text); loaded && was != text {
		return fmt.Errorf("two tests have the golden file %s, and not the same shape; give each its own", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// shape is a journal without what differs from run to run: a line a nested
// worktree, a line a record.
func shape(j agl.Journal, status agl.Status) []string {
	type part struct{ namespace, line string }
	var parts []part
	for _, ns := range status.Namespaces {
		if ns.Parent != "" && ns.Parent != ports.Base {
			parts = append(parts, part{ns.Namespace, fmt.Sprintf("%s opened from %s", ns.Namespace, ns.Parent)})
		}
	}
	for _, r := range j.Records {
		words := []string{r.Namespace, string(r.Kind), r.Name}
		if r.Ending != "" {
			words = append(words, r.Ending)
		}
		if r.Failure != nil {
			words = append(words, "failed")
			if r.Failure.Kind != "" {
				words = append(words, string(r.Failure.Kind))
			}
		}
		parts = append(parts, part{r.Namespace, strings.Join(words, " ")})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return strings.Compare(a.namespace, b.namespace) })
	lines := []string{fmt.Sprintf("workflow %s version %d", j.Run.Workflow, j.Run.Version)}
	for _, p := range parts {
		lines = append(lines, p.line)
	}
	return append(lines, "ends "+string(j.Run.State))
}
