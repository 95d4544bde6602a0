package split

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/agl"
)

func TestTheBoardTellsHowFarEachChunkIs(t *testing.T) {
	t.Parallel()
	view := board("greet", []Chunk{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}, {ID: "e"}})
	got := view(agl.Status{Namespaces: []agl.NamespaceStatus{
		{Namespace: "_base", Verb: agl.KindStep},
		{Namespace: "a", Landing: "landed", Records: 2, Usage: agl.Usage{Input: 7}},
		{Namespace: "b", Verb: agl.KindStep, Activity: "edits b.go"},
		{Namespace: "c", Verb: agl.KindLanding, Landing: "landing", Waiting: "b"},
		{Namespace: "d", Verb: agl.KindLanding, Landing: "conflict"},
	}})
	want := agl.Screen{Title: "split: greet", Body: []agl.Block{
		agl.Progress{Label: "landed", Done: 1, Total: 5},
		agl.Table{Header: []string{"CHUNK", "STATE", "TOKENS", ""}, Rows: [][]string{
			{"a", "landed", "7", ""},
			{"b", "builds", "0", "edits b.go"},
			{"c", "waits to land", "0", ""},
			{"d", "conflict", "0", ""},
			{"e", "waits", "0", ""},
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}
