package agl_test

import (
	"context"
	"fmt"
	"testing"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/exampletest"
)

// Step runs a step and returns its report.
func Step[P any](ctx context.Context, run *agl.Run, bind func(*P) agl.Task, inputs ...agl.Input) (P, error) {
	var p P
	err := run.Step(ctx, bind(&p), inputs...)
	return p, err
}

// For those who prefer a report that is returned, a helper of five lines:
// copy it.
func ExampleRun_Step() {
	exampletest.Run(func(t testing.TB) {
		tidy := agl.NewWorkflow(agl.Spec{Name: "tidy", Version: 1, Roles: []agl.Role{tidier}},
			func(ctx context.Context, run *agl.Run, p Tidy) error {
				done, err := Step(ctx, run, tidier.Commit("tidy "+p.Package).Into, agl.In("package", p.Package))
				if err != nil {
					return err
				}
				return agl.Stopf("tidied: %s", done.Subject)
			})
		h := agltest.New(t)
		agltest.Reply(h, tidier, Summary{Subject: "drop a field that nobody reads"})
		fmt.Println(h.Start(tidy.With(Tidy{Package: "./internal/x"})))
	})
	// Output: tidied: drop a field that nobody reads
}
