package x

import (
	"testing"

	"example.com/agl"
	"example.com/agl/agltest"
)

type report struct{ N int }

var reader = agl.Reader[report]{Name: "r", Model: "a/b", Prompt: "p"}

func f(t *testing.T) {
	h := agltest.New(t)
	agltest.Reply(h, reader, struct{ M string }{"x"}) // want "does not match inferred type report for P"
}
