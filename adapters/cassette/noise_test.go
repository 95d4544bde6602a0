package cassette_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/cassette"
)

func TestNoiseIsRecordedEmpty(t *testing.T) {
	t.Parallel()
	heard := ""
	talk := func(t testing.TB, program string) {
		c := connect(t, program, "lines", nil)
		c.send(order{Say: map[string]any{
			"list": []int{1}, "object": map[string]any{"a": 1}, "text": "x", "number": 7, "null": nil,
			"nulls": map[string]any{"a": nil, "b": 1, "c": map[string]any{"d": nil}}, "kept": map[string]any{"a": nil, "list": []int{1}},
		}})
		heard = c.hear()
		c.end()
	}
	opts := cassette.Options{Noise: []string{
		"/said/list", "/said/object", "/said/text", "/said/number", "/said/null", "/said/nulls/", "/said/list/", "/said/missing", "/said/missing/", "/said/null/",
	}}
	path := recording(t, opts, talk)
	require.JSONEq(t, `{"id":"","said":{"list":[1],"object":{"a":1},"text":"x","number":7,"null":null,`+
		`"nulls":{"a":null,"b":1,"c":{"d":null}},"kept":{"a":null,"list":[1]}}}`, heard, "it is recorded otherwise, not spoken")
	require.Empty(t, playing(t, path, opts, talk))
	require.JSONEq(t, `{"id":"","said":{"list":[],"object":{},"text":"","number":7,"null":null,`+
		`"nulls":{"b":1,"c":{"d":null}},"kept":{"a":null,"list":[1]}}}`, heard)
}
