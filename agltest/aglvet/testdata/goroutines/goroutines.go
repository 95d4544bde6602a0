// want package:"functions"

// Package goroutines steps Runs in goroutines.
package goroutines

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.com/agl"
	"example.com/cases/purity/steps"
)

var reader = agl.Reader[agl.None]{Name: "reader", Model: "claude/opus", Prompt: "Read."}

func parentGoesOn(ctx context.Context, run *agl.Run) error {
	done := make(chan error, 1)
	go func() { // want `this goroutine steps run while goroutines.go:\d+ does, and the order of verbs on one Run must be fixed: give each goroutine a Run of its own by run.Worktree, or wait for it first`
		done <- run.Step(ctx, reader)
	}()
	if err := run.Step(ctx, reader); err != nil {
		return err
	}
	return <-done
}

func parentPassesItOn(ctx context.Context, run *agl.Run) error {
	var group errgroup.Group
	group.Go(func() error { return one(ctx, run) }) // want `this goroutine steps run while`
	if err := steps.One(ctx, run, reader); err != nil {
		return err
	}
	return group.Wait()
}

func two(ctx context.Context, run *agl.Run) error {
	var wg sync.WaitGroup
	errs := make([]error, 2)
	wg.Go(func() { errs[0] = run.Step(ctx, reader) }) // want `this goroutine steps run while`
	wg.Go(func() { errs[1] = run.Step(ctx, reader) })
	wg.Wait()
	return errors.Join(errs...)
}

func loop(ctx context.Context, run *agl.Run, names []string) error {
	var group errgroup.Group
	for _, name := range names {
		group.Go(func() error { // want `this goroutine steps run while other goroutines of the same loop do`
			return run.Step(ctx, reader, agl.In("name", name))
		})
	}
	return group.Wait()
}

func iterator(ctx context.Context, run *agl.Run, names func(yield func(string) bool)) error {
	var group errgroup.Group
	for name := range names {
		group.Go(func() error { // want `this goroutine steps run while other goroutines of the same loop do`
			return run.Step(ctx, reader, agl.In("name", name))
		})
	}
	return group.Wait()
}

func named(ctx context.Context, run *agl.Run) error {
	go background(ctx, run) // want `this goroutine steps run while`
	return run.Step(ctx, reader)
}

func background(ctx context.Context, run *agl.Run) {
	if err := steps.One(ctx, run, reader); err != nil {
		panic(err)
	}
}

func throughAClosure(ctx context.Context, run *agl.Run) error {
	var group errgroup.Group
	step := func() error { return run.Step(ctx, reader) }
	group.Go(step) // want `this goroutine steps run while`
	group.Go(func() error { return step() })
	return group.Wait()
}

type flow struct {
	run  *agl.Run
	errs chan error
}

func (f *flow) step(ctx context.Context) { f.errs <- f.run.Step(ctx, reader) }

func (f *flow) field(ctx context.Context) error {
	go f.step(ctx) // want `this goroutine steps f.run while`
	if err := f.run.Step(ctx, reader); err != nil {
		return err
	}
	return <-f.errs
}

func childOutside(ctx context.Context, run *agl.Run, names []string) error {
	child, err := run.Worktree(ctx, "all")
	if err != nil {
		return err
	}
	var group errgroup.Group
	for range names {
		group.Go(func() error { return child.Step(ctx, reader) }) // want `this goroutine steps child while other goroutines of the same loop do`
	}
	return group.Wait()
}

func deferred(ctx context.Context, run *agl.Run) (err error) {
	done := make(chan error, 1)
	go func() { done <- run.Step(ctx, reader) }() // want `this goroutine steps run while goroutines.go:\d+ does`
	defer func() { err = run.Step(ctx, reader) }()
	return nil
}

func deferredBefore(ctx context.Context, run *agl.Run) (err error) {
	defer func() { _, err = run.Verify(ctx) }()
	go background(ctx, run) // want `this goroutine steps run while goroutines.go:\d+ does`
	return nil
}

// What is deferred later waits first.
func deferredWait(ctx context.Context, run *agl.Run, apart bool) (err error) {
	var wg sync.WaitGroup
	if !apart {
		defer func() { err = run.Step(ctx, reader) }()
		return nil
	}
	defer func() { err = run.Step(ctx, reader) }()
	defer wg.Wait()
	wg.Go(func() { background(ctx, run) })
	return nil
}

func deferredOrNot(ctx context.Context, run *agl.Run, apart bool) (err error) {
	if !apart {
		defer func() { err = run.Step(ctx, reader) }()
	} else {
		go background(ctx, run)
	}
	return nil
}

func deferredBoth(ctx context.Context, run *agl.Run) (err error) {
	done := make(chan error, 1)
	defer func() { err = errors.Join(<-done, run.Step(ctx, reader)) }()
	go func() { done <- run.Step(ctx, reader) }()
	return nil
}

// The pattern for work in parallel.
func parallel(ctx context.Context, run *agl.Run, names []string) error {
	if err := run.Step(ctx, reader); err != nil {
		return err
	}
	errs := make([]error, len(names))
	var group errgroup.Group
	for i, name := range names {
		group.Go(func() error {
			errs[i] = build(ctx, run, name)
			return nil
		})
	}
	group.Wait()
	return errors.Join(errors.Join(errs...), run.Step(ctx, reader))
}

func build(ctx context.Context, run *agl.Run, name string) error {
	child, err := run.Worktree(ctx, name)
	if err != nil {
		return err
	}
	return child.Step(ctx, reader)
}

// Worktrees made by the parent, one for each goroutine.
func children(ctx context.Context, run *agl.Run, names []string) error {
	var group errgroup.Group
	var all []*agl.Run
	for _, name := range names {
		child, err := run.Worktree(ctx, name)
		if err != nil {
			return err
		}
		all = append(all, child)
		group.Go(func() error {
			if err := child.Step(ctx, reader); err != nil {
				return err
			}
			return child.Step(ctx, reader)
		})
		if err := run.Step(ctx, reader); err != nil {
			return err
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, child := range all {
		group.Go(func() error { return child.Step(ctx, reader) })
	}
	for i := range all {
		group.Go(func() error { return all[i].Step(ctx, reader) })
	}
	return group.Wait()
}

// Goroutines that have ended are no harm.
func waits(ctx context.Context, run *agl.Run, names []string) error {
	var group errgroup.Group
	group.Go(func() error { return run.Step(ctx, reader) })
	if err := group.Wait(); err != nil {
		return err
	}
	done := make(chan error, 1)
	for range names {
		go func() { done <- run.Step(ctx, reader) }()
		select {
		case err := <-done:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { done <- run.Step(ctx, reader) })
	join(&wg)
	wg.Go(func() { done <- run.Step(ctx, reader) })
	func() { wg.Wait() }()
	return errors.Join(run.Step(ctx, reader), <-done)
}

func join(wg *sync.WaitGroup) { wg.Wait() }

// Only one of two branches is taken.
func either(ctx context.Context, run *agl.Run, apart bool) error {
	done := make(chan error, 1)
	if apart {
		go func() { done <- run.Step(ctx, reader) }()
	} else {
		done <- run.Step(ctx, reader)
	}
	return <-done
}

// A function that is passed on is called there, not beside.
func retry(ctx context.Context, run *agl.Run) error {
	err := times(3, func() error { return run.Step(ctx, reader) })
	if err != nil {
		return err
	}
	return run.Step(ctx, reader)
}

func times(n int, fn func() error) error {
	for range n {
		if err := fn(); err == nil {
			return nil
		}
	}
	return errors.New("it failed each time")
}

func one(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) }

// A list of Runs, each with its own.
type list struct {
	run  *agl.Run
	next *list
}

func (l *list) walk(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return errors.Join(l.run.Step(ctx, reader), l.next.walk(ctx))
}

func listed(ctx context.Context, l *list) error {
	done := make(chan error, 1)
	go func() { done <- l.walk(ctx) }() // want `this goroutine steps l.next.run while`
	return errors.Join(l.next.run.Step(ctx, reader), <-done)
}
