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
	return run.Step(ctx, reader, "request") // want "cannot use \"request\""
}
