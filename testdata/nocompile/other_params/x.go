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

var w = agl.NewWorkflow(agl.Spec{Name: "w", Version: 1, Roles: []agl.Role{editor, reader}},
	func(ctx context.Context, run *agl.Run, p report) error { return nil })

var j = w.With("text") // want "cannot use \"text\""

func f(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Discard()) }
