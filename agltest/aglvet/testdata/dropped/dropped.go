// want package:"functions"

// Package dropped forgets errors and tasks.
package dropped

import (
	"context"
	"errors"
	"fmt"

	"example.com/agl"
	"example.com/cases/purity/steps"
)

type params struct{ Name string }

type note struct {
	Text string `json:"text"`
}

var (
	editor = agl.Editor[note]{Name: "editor", Model: "claude/opus", Prompt: "Edit."}
	reader = agl.Reader[note]{Name: "reader", Model: "claude/opus", Prompt: "Read."}
)

func statements(ctx context.Context, run *agl.Run) error {
	run.Step(ctx, reader)       // want `nothing reads the error of Run.Step: a workflow that goes on after it takes a failed step for a done one; return it`
	_ = run.Step(ctx, reader)   // want `nothing reads the error of Run.Step`
	_, _ = run.Verify(ctx)      // want `nothing reads the error of Run.Verify`
	v, _ := run.Verify(ctx)     // want `nothing reads the error of Run.Verify`
	go run.Step(ctx, reader)    // want `nothing reads the error of Run.Step` `this goroutine steps run while`
	defer run.Step(ctx, reader) // want `nothing reads the error of Run.Step`
	step := run.Step
	step(ctx, reader) // want `nothing reads the error of Run.Step`
	fmt.Println(v.Passed)
	return run.Step(ctx, reader)
}

func helpers(ctx context.Context, run *agl.Run, c *agl.Conflict) error {
	overwritten(ctx, run, nil)                   // want `nothing reads the error of overwritten`
	_ = steps.One(ctx, run, reader)              // want `nothing reads the error of One`
	_ = c.Ask(ctx, agl.Text("again?").Into(nil)) // want `nothing reads the error of Conflict.Ask`
	_ = run.Ask(ctx, agl.Text("again?").Into(nil)) // want `nothing reads the error of Run.Ask`
	_, _ = run.Worktree(ctx, "x")                // want `nothing reads the error of Run.Worktree`
	agl.Text("never").Into(nil)                  // want `this builds a task that nothing runs: give it to run.Ask`
	_ = check(run)
	return nil
}

func check(run *agl.Run) error { return errors.New(run.Namespace) }

func overwritten(ctx context.Context, run *agl.Run, names []string) error {
	var n note
	err := run.Step(ctx, editor.Commit("one").Into(&n)) // want `nothing reads the error of Run.Step`
	err = run.Step(ctx, editor.Commit("two").Into(&n))
	if err != nil {
		return err
	}
	for _, name := range names {
		err = run.Step(ctx, reader, agl.In("name", name)) // want `nothing reads the error of Run.Step`
	}
	if err := run.Step(ctx, reader); err != nil {
		return err
	}
	return nil
}

func read(ctx context.Context, run *agl.Run, names []string) (err error) {
	errs := make([]error, len(names))
	for i := range names {
		errs[i] = run.Step(ctx, reader)
	}
	var last error
	for range names {
		if last = run.Step(ctx, reader); last == nil {
			break
		}
	}
	func() { err = run.Step(ctx, reader) }()
	if verdict, err := run.Verify(ctx); err == nil && verdict.Passed {
		err = run.Step(ctx, reader)
		return errors.Join(err, last)
	}
	defer func() { err = errors.Join(err, run.Step(ctx, reader)) }()
	return errors.Join(errs...)
}

func tasks(ctx context.Context, run *agl.Run) error {
	var n note
	editor.Commit("one")                                              // want `this builds a task that nothing runs: give it to run.Step`
	_ = editor.Commit("two").Into(&n)                                 // want `this builds a task that nothing runs`
	reader.Into(&n)                                                   // want `this builds a task that nothing runs`
	agl.Func("f", func(context.Context, agl.World) (int, error) { return 1, nil }) // want `this builds a task that nothing runs: give it to run.Do`
	var task agl.Task
	task = editor.Discard().Into(&n) // want `this builds a task that nothing runs`
	task = editor.Commit("three")
	edit := editor.Commit("four")
	edit.AllowEmpty() // want `this builds a task that nothing runs`
	_ = editor.With() // a role is no task

	kept := []agl.Task{editor.Discard()}
	for _, k := range append(kept, build()) {
		if err := run.Step(ctx, k); err != nil {
			return err
		}
	}
	return errors.Join(run.Step(ctx, task), run.Step(ctx, edit))
}

// A variable or literal that goes nowhere takes nothing anywhere.
func stored(ctx context.Context, run *agl.Run, names []string) error {
	var n note
	tasks := []agl.Task{reader.Into(&n)} // want `this builds a task that nothing runs: give it to run.Step`
	_ = tasks
	byName := map[string]agl.Task{"a": reader.Into(&n)} // want `this builds a task that nothing runs`
	byName["b"] = editor.Discard()                     // want `this builds a task that nothing runs`
	j := job{task: editor.Commit("a")} // want `this builds a task that nothing runs`
	_ = j
	p := &job{}
	p.task, p.next = editor.Commit("b"), p // want `this builds a task that nothing runs`
	var more []agl.Task
	for range names {
		more = append(more, editor.Commit("c")) // want `this builds a task that nothing runs`
	}
	errs := make([]error, len(names))
	for i := range names {
		errs[i] = run.Step(ctx, reader) // want `nothing reads the error of Run.Step`
	}
	return nil
}

type job struct {
	task agl.Task
	next *job
}

var waiting []agl.Task

// These go somewhere.
func passed(ctx context.Context, run *agl.Run, jobs chan<- job, into map[string]agl.Task, fill *job) ([]agl.Task, error) {
	var n note
	jobs <- job{task: reader.Into(&n)}
	into["a"] = reader.Into(&n)
	fill.task = reader.Into(&n)
	waiting = []agl.Task{reader.Into(&n)} //aglvet:ignore what matters here is that it is passed on
	tasks := map[string]agl.Task{"a": reader.Into(&n)}
	one := job{task: editor.Discard()}
	next := job{next: &one}
	later := []agl.Task{editor.Discard()}
	step := func() error { return run.Step(ctx, later[0]) }
	var all []agl.Task
	for range 3 {
		all = append(all, editor.Commit("x"))
	}
	return all, errors.Join(run.Step(ctx, tasks["a"]), run.Step(ctx, next.next.task), step())
}

func build() agl.Task { return editor.Commit("built") }

// Literals of variables and generic functions are looked at too.
var _ = func(ctx context.Context, run *agl.Run) {
	run.Step(ctx, reader) // want `nothing reads the error of Run.Step`
}

func generic[P any](ctx context.Context, run *agl.Run, role agl.Editor[P]) P {
	var p P
	run.Step(ctx, role.Commit("x").Into(&p)) // want `nothing reads the error of Run.Step`
	return p
}
