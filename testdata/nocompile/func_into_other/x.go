package x

import (
	"context"

	"example.com/agl"
)

type report struct{ N int }

var (
	editor = agl.Editor[report]{Name: "e", Model: "a/b", Prompt: "p"}
	reader = agl.Reader[report]{Name: "r", Model: "a/b", Prompt: "p"}
)

func f(ctx context.Context, run *agl.Run) error {
	var s string
	call := agl.Func("f", func(context.Context, agl.World) (int, error) { return 1, nil })
	_ = run.Step(ctx, editor.Discard())
	_ = run.Step(ctx, reader)
	return run.Do(ctx, call.Into(&s)) // want "cannot use &s"
}
