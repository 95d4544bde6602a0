// want package:"functions"

// Package maporder steps in the order of maps.
package maporder

import (
	"context"
	"maps"
	"slices"

	"example.com/agl"
	"example.com/cases/purity/steps"
)

var reader = agl.Reader[agl.None]{Name: "reader", Model: "claude/opus", Prompt: "Read."}

func wrong(ctx context.Context, run *agl.Run, m map[string]agl.Task) error {
	for name, task := range m {
		if err := run.Step(ctx, task, agl.In("name", name)); err != nil { // want `run is stepped in the order of a map, which differs each time: range over its sorted keys`
			return err
		}
	}
	for _, task := range m {
		if err := steps.One(ctx, run, task); err != nil { // want `run is stepped in the order of a map`
			return err
		}
	}
	for _, task := range m {
		if err := one(ctx, run, task); err != nil { // want `run is stepped in the order of a map`
			return err
		}
	}
	for name := range maps.Keys(m) {
		if err := run.Step(ctx, m[name]); err != nil { // want `run is stepped in the order of a map`
			return err
		}
	}
	for _, name := range slices.Collect(maps.Keys(m)) {
		if err := run.Step(ctx, m[name]); err != nil { // want `run is stepped in the order of a map`
			return err
		}
	}
	step := func(task agl.Task) error { return run.Step(ctx, task) }
	for _, task := range m {
		if err := step(task); err != nil { // want `run is stepped in the order of a map`
			return err
		}
	}
	var todo []func() error
	for _, task := range m {
		todo = append(todo, func() error {
			return run.Step(ctx, task) // want `run is stepped in the order of a map`
		})
	}
	return todo[0]()
}

func right(ctx context.Context, run *agl.Run, m map[string]agl.Task) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := run.Step(ctx, m[name]); err != nil {
			return err
		}
	}
	for name, task := range m { // the records of a worktree are its own
		child, err := run.Worktree(ctx, name)
		if err != nil {
			return err
		}
		for _, again := range []agl.Task{task, task} {
			if err := child.Step(ctx, again); err != nil {
				return err
			}
		}
		err = func() error { return one(ctx, child, reader) }()
		if err != nil {
			return err
		}
	}
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return run.Step(ctx, reader, agl.In("names", names))
}

func one(ctx context.Context, run *agl.Run, task agl.Task) error { return run.Step(ctx, task) }
