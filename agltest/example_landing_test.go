package agltest_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
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

// Parts builds two parts at the same time, each in a worktree, and lands them;
// an agent tries once where that meets a conflict or a red build.
var Parts = agl.NewWorkflow(agl.Spec{Name: "parts", Version: 1, Roles: []agl.Role{builder, resolver}},
	func(ctx context.Context, run *agl.Run, _ agl.None) error {
		names := []string{"api", "client"}
		errs := make([]error, len(names))
		var group sync.WaitGroup
		for i, name := range names {
			part, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			group.Go(func() { errs[i] = build(ctx, part, name) })
		}
		group.Wait()
		return errors.Join(errs...)
	})

func build(ctx context.Context, part *agl.Run, name string) error {
	if err := part.Step(ctx, builder.Commit("build "+name)); err != nil {
		return err
	}
	return part.Integrate(ctx, agl.ResolveWith(resolver, 1, agl.Abandon))
}

// buildParts scripts the builder to write the file of its part.
func buildParts(h *agltest.Harness) {
	agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
		turn.WriteFile(turn.Namespace+".go", "package "+turn.Namespace+"\n")
		return agl.None{}, nil
	})
}

// Two worktrees work at once, and land in any order: what comes of it is the
// same, and so is what a resume asks for.
func Example_worktrees() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		buildParts(h)
		require.NoError(t, h.Start(Parts.With(agl.None{})))
		require.Equal(t, map[string]string{"api.go": "package api\n", "client.go": "package client\n"}, h.Files())
		h.Replay(Parts) // with the goroutines in eight other orders
		h.Golden("testdata/parts.journal.txt")
	})
	// Output:
}

// A landing that is given up is an error, and the others are made. A resume
// tries it again, and nothing else.
func Example_givenUp() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		buildParts(h)
		h.Conflicts("client", "client.go") // its next landing, and none after that
		agltest.Handle(h, resolver, func(context.Context, *agltest.Turn) (agl.None, error) {
			return agl.None{}, nil // the conflict markers stay
		})
		var conflict *agl.ConflictError
		require.ErrorAs(t, h.Start(Parts.With(agl.None{})), &conflict)
		require.Equal(t, "client", conflict.Child)
		require.Equal(t, map[string]string{"api.go": "package api\n"}, h.Files())

		started := len(h.Agents())
		require.NoError(t, h.Resume(Parts))
		require.Contains(t, h.Files(), "client.go")
		require.Len(t, h.Agents(), started) // no part is built again
	})
	// Output:
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
