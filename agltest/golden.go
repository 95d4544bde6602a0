package agltest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"example.com/agl"
)

// update is the flag -update, unless an importing package has it already.
var update = func() *flag.Flag {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "rewrite golden files")
	}
	return flag.Lookup("update")
}()

// Golden compares the shape of the run's journal with a golden file: its
// records' kinds, names and endings, in the order of each namespace, and no
// values, digests or times. A workflow whose shape has changed cannot resume
// the runs that are under way, and needs a new Spec.Version. Run the test with
// -update to write the file.
func (h *Harness) Golden(path string) {
	h.t.Helper()
	if child() != nil {
		return
	}
	got := shape(h.journal())
	if update.Value.String() == "true" {
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o666)
		}
		if err != nil {
			h.t.Errorf("agltest: %v", err)
		}
		return
	}
	file, err := os.ReadFile(path)
	if err != nil {
		h.t.Errorf("agltest: the golden file cannot be read; run the test with -update to write it: %v", err)
		return
	}
	want := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(file), "\r\n", "\n"), "\n"), "\n")
	diff := cmp.Diff(want, got)
	switch {
	case diff == "":
	case want[0] == got[0]:
		h.t.Errorf("agltest: the journal has another shape than %s, and the workflow has the same version: runs that are under way could not be resumed. "+
			"Raise Spec.Version, then run the test with -update (-want +got):\n%s", path, diff)
	default:
		h.t.Errorf("agltest: %s is of %q, this is %q: run the test with -update (-want +got):\n%s", path, want[0], got[0], diff)
	}
}

// shape is a journal without what differs from run to run, a line a record.
func shape(j agl.Journal) []string {
	lines := []string{fmt.Sprintf("workflow %s version %d", j.Run.Workflow, j.Run.Version)}
	records := slices.Clone(j.Records)
	slices.SortStableFunc(records, func(a, b agl.Record) int { return strings.Compare(a.Namespace, b.Namespace) })
	for _, r := range records {
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
		lines = append(lines, strings.Join(words, " "))
	}
	return append(lines, "ends "+string(j.Run.State))
}
