package git

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/ports"
)

func TestAForecastIsReadWhole(t *testing.T) {
	t.Parallel()
	out := "1234\x00100644 aa 1\ta \xff\x00100644 bb 2\ta \xff\x00160000 cc 3\tsub\x00\x00" +
		"2\x00new\x00old\x00CONFLICT (rename/delete)\x00CONFLICT (rename/delete): old renamed\n\x001\x00sub\x00CONFLICT (submodule not initialized)\x00x\n\x00" +
		"Recursive merging with submodules currently only supports trivial cases.\n"
	got, err := parseForecast([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	want := forecast{
		tree:   "1234",
		stages: []stageEntry{{entry{"100644", "aa"}, 1, "a \xff"}, {entry{"100644", "bb"}, 2, "a \xff"}, {entry{"160000", "cc"}, 3, "sub"}},
		told: []told{
			{[]string{"new", "old"}, "CONFLICT (rename/delete)", "CONFLICT (rename/delete): old renamed"},
			{[]string{"sub"}, "CONFLICT (submodule not initialized)", "x"},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(forecast{}, stageEntry{}, entry{}, told{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if clean, err := parseForecast([]byte("1234\x00")); err != nil || clean.tree != "1234" || len(clean.stages)+len(clean.told) > 0 {
		t.Errorf("a clean one: %+v, %v", clean, err)
	}
	for _, bad := range []string{"", "1234", "1\x00x\x00", "1\x00100644 aa 4\ta\x00", "1\x00100644 aa 1\t\x00", "1\x00\x00-1\x00a\x00b\x00", "1\x00\x009\x00a\x00b\x00c\x00"} {
		if _, err := parseForecast([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// What git calls not clean is never taken for clean, whatever it says about it.
func TestAMergeThatIsNotCleanHasAConflict(t *testing.T) {
	t.Parallel()
	split := "CONFLICT (directory rename unclear split)"
	f := forecast{told: []told{{[]string{"dir"}, split, split + ": where to"}, {[]string{"a"}, "Auto-merging", "x"}}}
	if diff := cmp.Diff([]ports.ConflictPath{{Path: "dir", Kind: ports.ConflictRename}}, f.conflicts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.told = []told{{[]string{"a"}, "something new", "text"}}
	if got := f.conflicts(); len(got) != 1 || got[0].Path != "a" {
		t.Errorf("%+v", got)
	}
	f.told = nil
	if got := f.conflicts(); len(got) == 0 {
		t.Error("no conflict")
	}
}

func FuzzParseForecast(f *testing.F) {
	f.Add([]byte("1234\x00100644 aa 1\ta\x00\x002\x00a\x00b\x00CONFLICT (contents)\x00text\n\x00advice\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		got, err := parseForecast(out)
		if err != nil {
			return
		}
		conflicts := got.conflicts()
		if len(conflicts) == 0 {
			t.Errorf("%q has no conflict", out)
		}
		for _, s := range got.stages {
			if !slices.ContainsFunc(conflicts, func(c ports.ConflictPath) bool { return c.Path == s.path && c.Kind != "" }) {
				t.Errorf("%q is not told of", s.path)
			}
		}
	})
}

func FuzzMayMark(f *testing.F) {
	f.Add("<<<<<<< HEAD\na\n=======\r\nb\n>>>>>>> x\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := mayMark(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(text, "\n")
		for _, line := range lines {
			if !strings.HasPrefix(all[line.n-1], line.text) {
				t.Errorf("line %d of %q is not %q", line.n, text, line.text)
			}
		}
		if strings.HasPrefix(text, "<<<<<<< HEAD\n") && len(lines) == 0 {
			t.Errorf("%q has no marker", text)
		}
	})
}
