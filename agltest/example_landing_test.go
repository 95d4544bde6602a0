package agltest_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/exampletest"
)

var (
	builder  = agl.Editor[agl.None]{Name: "builder", Model: "claude/opus", Prompt: "Build your part."}
	resolver = agl.Editor[agl.None]{Name: "resolver", Model: "claude/opus", Prompt: "Mend the merge."}
)

// Parts builds two parts, each in a worktree, and lands them; an agent tries
// once where that meets a conflict or a red build.
var Parts = agl.NewWorkflow(agl.Spec{Name: "parts", Version: 1, Roles: []agl.Role{builder, resolver}},
	func(ctx context.Context, run *agl.Run, _ agl.None) error {
		for _, name := range []string{"api", "client"} {
			part, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			if err := part.Step(ctx, builder.Commit("build "+name)); err != nil {
				return err
			}
			if err := part.Integrate(ctx, agl.ResolveWith(resolver, 1, agl.Abandon)); err != nil {
				return err
			}
		}
		return nil
	})

// buildParts scripts the builder to write the file of its part.
func buildParts(h *agltest.Harness) {
	agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
		turn.WriteFile(turn.Namespace+".go", "package "+turn.Namespace+"\n")
		return agl.None{}, nil
	})
}

// A landing meets a conflict, whatever is in the files, and an agent mends it.
func ExampleHarness_Conflicts() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		buildParts(h)
		h.Conflicts("client", "client.go")
		agltest.Handle(h, resolver, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
			turn.WriteFile("client.go", "package client // mended\n")
			return agl.None{}, nil
		})
		require.NoError(t, h.Start(Parts.With(agl.None{})))
		require.Equal(t, "package client // mended\n", h.Files()["client.go"])
	})
	// Output:
}

// Two parts are green alone and red together: the gate is asked about the tree
// that is to land.
func ExampleHarness_Gate() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		buildParts(h)
		h.Gate(func(tree fs.FS) error {
			files, err := fs.Glob(tree, "*.go")
			if len(files) == 2 {
				return errors.New("client.go: undefined: api.Call")
			}
			return err
		})
		agltest.Handle(h, resolver, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
			var output string
			turn.Input("output", &output)
			turn.WriteFile("glue.go", "package glue // "+output+"\n")
			return agl.None{}, nil
		})
		require.NoError(t, h.Start(Parts.With(agl.None{})))
		require.Contains(t, h.Files()["glue.go"], "undefined: api.Call")
	})
	// Output:
}
