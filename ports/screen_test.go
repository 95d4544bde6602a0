package ports_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// A handmade block has the unexported method of ports.Block, and cannot be
// compared.
type handmade struct {
	ports.Block
	draw func()
}

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

func TestABlockThatIsNoneShowsNothing(t *testing.T) {
	t.Parallel()
	none := []ports.Block{nil, handmade{}, handmade{Block: ports.Paragraph("a"), draw: func() {}}, (*ports.Table)(nil)}
	for _, a := range none {
		for _, b := range none {
			require.True(t, ports.Screen{Body: []ports.Block{a}}.Equal(ports.Screen{Body: []ports.Block{b}}), fmt.Sprintf("%T and %T", a, b))
		}
		require.False(t, ports.Screen{Body: []ports.Block{a}}.Equal(ports.Screen{Body: []ports.Block{ports.Paragraph("a")}}))
		require.False(t, ports.Screen{Body: []ports.Block{ports.Paragraph("a")}}.Equal(ports.Screen{Body: []ports.Block{a}}))
	}
}
