// want package:"functions"

// Package selects steps in the order in which channels are ready.
package selects

import (
	"context"
	"errors"

	"example.com/agl"
	"example.com/cases/purity/steps"
)

var reader = agl.Reader[agl.None]{Name: "reader", Model: "claude/opus", Prompt: "Read."}

func either(ctx context.Context, run *agl.Run, a, b chan agl.Task) error {
	select { // want `run is stepped by more than one case of this select, and which is ready first differs each time: receive from all, then step in a fixed order`
	case task := <-a:
		return run.Step(ctx, task)
	case task := <-b:
		return steps.One(ctx, run, task)
	}
}

func orNothing(ctx context.Context, run *agl.Run, a chan agl.Task) error {
	for {
		select { // want `run is stepped by more than one case of this select`
		case task := <-a:
			if err := run.Step(ctx, task); err != nil {
				return err
			}
		default:
			if _, err := run.Verify(ctx); err != nil {
				return err
			}
		}
	}
}

func captured(ctx context.Context, run *agl.Run, a, b chan agl.Task) error {
	step := func(task agl.Task) error { return run.Step(ctx, task) }
	select { // want `run is stepped by more than one case of this select`
	case task := <-a:
		return step(task)
	case task := <-b:
		return step(task)
	}
}

// One case steps, or each a Run of its own.
func right(ctx context.Context, run *agl.Run, a, b chan agl.Task) error {
	select {
	case task := <-a:
		return errors.Join(run.Step(ctx, task), run.Step(ctx, task))
	case <-ctx.Done():
		return ctx.Err()
	case task := <-b:
		child, err := run.Worktree(ctx, "b")
		if err != nil {
			return err
		}
		return child.Step(ctx, task)
	}
}

func both(ctx context.Context, run *agl.Run, a, b chan agl.Task) error {
	var first, second agl.Task
	for first == nil || second == nil {
		select {
		case first = <-a:
		case second = <-b:
		}
	}
	return errors.Join(run.Step(ctx, first), run.Step(ctx, second))
}
