// want package:"functions"

// Package steps has parts of workflows for other packages.
package steps

import (
	"context"
	"fmt"
	"os"

	"example.com/agl"
)

// One is a part of a workflow wherever it is called.
func One(ctx context.Context, run *agl.Run, task agl.Task) error {
	fmt.Println(os.Hostname()) // want `os.Hostname reads the environment in a workflow function, which`
	return run.Step(ctx, task)
}

// All steps all tasks.
func All(ctx context.Context, run *agl.Run, tasks []agl.Task) error {
	for _, task := range tasks {
		if err := run.Step(ctx, task); err != nil {
			return err
		}
	}
	return nil
}

// Record records what fn returns.
func Record[T any](ctx context.Context, run *agl.Run, name string, fn func() (T, error)) (T, error) {
	var v T
	err := run.Do(ctx, agl.Func(name, func(context.Context, agl.World) (T, error) { return fn() }).Into(&v))
	return v, err
}
