package git

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkSalvage(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%d_files_1_changed", files), func(b *testing.B) {
			tracked := map[string]string{}
			for i := range files {
				tracked[fmt.Sprintf("d%d/e%d/f%d.go", i%20, i%200, i)] = strings.Repeat(fmt.Sprintf("line %d\n", i), 500)
			}
			c := newBench(b, tracked)
			for i := 0; b.Loop(); i++ {
				c.write("d0/e0/f0.go", fmt.Sprint("changed ", i))
				_, err := c.salvage(b.Context(), c.head, "x")
				require.NoError(b, err)
			}
		})
	}
}
