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
	var other struct{ M string }
	return run.Step(ctx, reader.Into(&other)) // want "cannot use &other"
}
