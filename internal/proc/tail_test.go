package proc_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/agl/internal/proc"
)

func TestATailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		max    int
		writes []string
		want   string
	}{
		{4, nil, ""},
		{4, []string{"ab", "cd"}, "abcd"},
		{4, []string{"ab", "cd", "e"}, "bcde"},
		{4, []string{"abcdefghij"}, "ghij"},
		{4, []string{"a", "bcdefgh", "ij"}, "ghij"},
		{4, []string{"äöü"}, "öü"},
		{3, []string{"äöü"}, "ü"}, // not the second half of ö
		{4, []string{"a\xffb"}, "\uFFFDb"},
		{9, []string{"a\xffb"}, "a\uFFFDb"},
	} {
		tail := proc.Tail{Max: tt.max}
		for _, w := range tt.writes {
			if n, err := tail.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("Write(%q) = %d, %v", w, n, err)
			}
		}
		if got := tail.String(); got != tt.want {
			t.Errorf("last %d of %q = %q, want %q", tt.max, tt.writes, got, tt.want)
		}
	}
}

func FuzzTail(f *testing.F) {
	f.Add("abc", "äöü\xff", 3)
	f.Fuzz(func(t *testing.T, a, b string, limit int) {
		if limit <= 0 || limit > 1000 {
			return
		}
		tail := proc.Tail{Max: limit}
		for _, w := range []string{a, b, a} {
			tail.Write([]byte(w))
		}
		got, all := tail.String(), a+b+a
		if len(got) > limit || !utf8.ValidString(got) {
			t.Errorf("kept %q of %d", got, limit)
		}
		if utf8.ValidString(all) && !(strings.HasSuffix(all, got) && len(got) > min(limit, len(all))-utf8.UTFMax) {
			t.Errorf("last %d of %q = %q", limit, all, got)
		}
	})
}
