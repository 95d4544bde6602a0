package examine

import (
	"strings"
	"testing"
)

func TestVersionsAreComparedByTheirNumbers(t *testing.T) {
	t.Parallel()
	r := Range{Oldest: "2.1.197", Newest: "2.1.332"}
	for version, want := range map[string]string{
		"2.1.196": "older", "2.1.197": "", "2.1.332": "", "2.1.333": "newer", "2.1.1000": "newer", "2.0.999": "older", "2.2.0": "newer",
		"10.0.0": "newer", "1.999.999": "older", "2.1.0200": "", "999999999999999999.0.0": "newer", "": "",
	} {
		got := ""
		switch {
		case r.Older(version):
			got = "older"
		case version != "" && r.Newer(version):
			got = "newer"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", version, got, want)
		}
	}
	if one := (Range{Newest: "0.171.0"}); one.String() != "0.171.0" || one.Older("0.1.0") {
		t.Errorf("a range without an oldest is %q, and has %v", one, one.Older("0.1.0"))
	}
}

func TestTheNumberIsFoundAmongOtherWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2.1.332 (Claude Code)\n":           "2.1.332",
		"codex-cli 0.171.0":                 "0.171.0",
		"GitHub Copilot CLI 1.0.102-beta.3": "1.0.102",
		"\x1b[1mv1.2.3\x1b[0m":              "1.2.3",
		"1.2":                               "",
		"none":                              "",
		strings.Repeat("9", 40) + ".1.2":    strings.Repeat("9", 18) + ".1.2",
	} {
		if got := versionNumber.FindString(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
