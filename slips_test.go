package agl_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
)

func TestWhatAModelWritesAsATextIsTakenForWhatItIs(t *testing.T) {
	t.Parallel()
	type query struct {
		Lines []int `json:"lines"`
		Big   int64 `json:"big"`
	}
	type answer struct {
		N    int      `json:"n"`
		Tags []string `json:"tags"`
		Text string   `json:"text"`
	}
	sum := agl.NewTool("sum", "Adds up.", func(_ context.Context, _ agl.World, in query) (string, error) {
		return fmt.Sprint(in.Lines, in.Big), nil
	})
	role := agl.Reader[answer]{Name: "adder", Model: "fake/x", Prompt: "p", Tools: []agl.Tool{sum}}
	var said, why string
	w := newWorld(t, func(tn *turn) (any, error) {
		said = tn.call("sum", `{"lines":"[\"1\",2.0]","big":"9.007199254740993e15"}`).Text
		why = tn.call("report", `{"n":"7 of them","tags":"[]","text":"5"}`).Text
		require.Equal(t, "recorded", tn.call("report", `{"n":"7","tags":"[\"5\"]","text":"5"}`).Text)
		return nil, nil
	})
	var got answer
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, role.Into(&got)) }, role)
	require.NoError(t, w.start(job(wf)))
	require.Equal(t, "[1 2] 9007199254740993", said)
	require.Equal(t, `n: must be a whole number, got "7 of them"`, why)
	require.Equal(t, answer{7, []string{"5"}, "5"}, got)
	require.Equal(t, `{"n":7,"tags":["5"],"text":"5"}`, string(w.journal()[0].Value))
	require.NoError(t, w.resume(wf))
	require.Equal(t, answer{7, []string{"5"}, "5"}, got)
}
