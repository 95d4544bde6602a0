package x

import (
	"context"
	"testing"

	"example.com/agl"
	"example.com/agl/agltest"
)

type report struct{ N int }

var reader = agl.Reader[report]{Name: "r", Model: "a/b", Prompt: "p"}

func f(t *testing.T) {
	h := agltest.New(t)
	agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (string, error) { return "", nil }) // want "does not match inferred type func(ctx context.Context, turn *agltest.Turn) (report, error)"
}
