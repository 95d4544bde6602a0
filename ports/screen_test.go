package ports_test

import (
	"testing"

	"example.com/agl/ports"
)

func TestScreensAreComparedByWhatTheyShow(t *testing.T) {
	t.Parallel()
	table := func(cell string) ports.Block { return ports.Table{Header: []string{"h"}, Rows: [][]string{{cell}}} }
	blocks := []ports.Block{nil, ports.Paragraph("a"), ports.Paragraph("b"), table("a"), table("b"), ports.Progress{Done: 1}, ports.Progress{Done: 2}}
	again := []ports.Block{nil, ports.Paragraph("a"), ports.Paragraph("b"), table("a"), table("b"), ports.Progress{Done: 1}, ports.Progress{Done: 2}}
	for i, a := range blocks {
		for j, b := range again {
			if got := (ports.Screen{Body: []ports.Block{a}}).Equal(ports.Screen{Body: []ports.Block{b}}); got != (i == j) {
				t.Errorf("%#v equals %#v: %v", a, b, got)
			}
		}
	}
}
