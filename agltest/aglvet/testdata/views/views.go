// want package:"functions"

// Package views has workflow functions that show something of their own.
package views

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"example.com/agl"
)

type patch struct{ Lines int }

var (
	implementer = agl.Editor[patch]{Name: "implementer", Model: "claude/opus", Prompt: "Do it."}
	spec        = agl.Spec{Name: "views", Version: 1, Roles: []agl.Role{implementer}}
	rounds      int
	limit       = 3
)

func screen(...any) agl.Screen { return agl.Screen{} }

// What a workflow changes when it is shown already.
func changes(ctx context.Context, run *agl.Run) error {
	done := 0
	run.Show(func(s agl.Status) agl.Screen { return screen(s, done) }) // want `this view reads done, which views.go:\d+ changes, and is called by another goroutine at any time: let it show its Status, or a copy that nothing changes`
	for range 3 {
		if err := run.Step(ctx, implementer.Discard()); err != nil {
			return err
		}
		done++
	}
	return nil
}

func results(ctx context.Context, run *agl.Run) error {
	var made patch
	run.Show(func(agl.Status) agl.Screen { return screen(made.Lines) }) // want `this view reads made, which`
	return run.Step(ctx, implementer.Discard().Into(&made))
}

func inTheNextRound(ctx context.Context, run *agl.Run) error {
	var made patch
	for i := range 3 {
		if err := run.Step(ctx, implementer.Discard().Into(&made), agl.In("i", i)); err != nil {
			return err
		}
		run.Show(func(agl.Status) agl.Screen { return screen(i, made) }) // want `this view reads made, which`
	}
	return nil
}

func parts(ctx context.Context, run *agl.Run, names []string) error {
	state := make(map[string]string)
	errs := make([]error, len(names))
	view := func(agl.Status) agl.Screen { return screen(len(state), len(errs)) }
	run.Show(view) // want `this view reads state, which`
	for _, name := range names {
		state[name] = "begun"
	}
	return nil
}

func children(ctx context.Context, run *agl.Run, names []string) error {
	made := make([]patch, len(names))
	var group sync.WaitGroup
	for i := range names {
		group.Go(func() {
			if err := run.Do(ctx, agl.Func("x", count).Into(&made[i].Lines)); err != nil {
				made[i] = patch{}
			}
		})
		run.Show(func(agl.Status) agl.Screen { return screen(made) }) // want `this view reads made, which`
		group.Wait()
	}
	return nil
}

func count(context.Context, agl.World) (int, error) { return 1, nil }

func before(ctx context.Context, run *agl.Run) error {
	said := ""
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		said = "something"
	}()
	run.Show(func(agl.Status) agl.Screen { return screen(said) }) // want `this view reads said, which`
	<-ended
	return nil
}

func helper(ctx context.Context, run *agl.Run) error {
	var list []string
	add := func(s string) { list = append(list, s) }
	run.Show(func(agl.Status) agl.Screen { return screen(list) }) // want `this view reads list, which`
	add("x")
	return nil
}

type flow struct{ n int }

func (f *flow) run(ctx context.Context, run *agl.Run) error {
	run.Show(func(agl.Status) agl.Screen { return screen(f.n) }) // want `this view reads f, which`
	f.n++
	return nil
}

func packages(ctx context.Context, run *agl.Run) error {
	run.Show(func(agl.Status) agl.Screen { return screen(limit) })
	run.Show(shown) // want `this view reads package variable rounds, which views.go:\d+ changes`
	return nil
}

func shown(agl.Status) agl.Screen { return screen(rounds) }

// Set is not part of a workflow.
func Set(n int) { rounds = n }

// What was done with before it is shown, and stays as it is.
func fine(ctx context.Context, run *agl.Run, names []string) error {
	var made patch
	if err := run.Step(ctx, implementer.Discard().Into(&made)); err != nil {
		return err
	}
	total := 0
	add := func(n int) { total += n }
	for range names {
		add(1)
	}
	run.Show(func(s agl.Status) agl.Screen { return screen(s, made, total, names) })
	for i := range names {
		run.Show(func(agl.Status) agl.Screen { return screen(i, fmt.Sprint(made)) })
	}
	for i := 0; i < total; i++ {
		round := i
		round *= 2
		run.Show(func(agl.Status) agl.Screen { return screen(i, round) })
	}
	return nil
}

// What several goroutines may use.
func guarded(ctx context.Context, run *agl.Run) error {
	var mu sync.Mutex
	var n atomic.Int32
	total := 0
	run.Show(func(agl.Status) agl.Screen {
		mu.Lock()
		defer mu.Unlock()
		return screen(total)
	})
	mu.Lock()
	total++
	mu.Unlock()
	run.Show(func(agl.Status) agl.Screen { return screen(n.Load()) })
	n.Add(1)
	return nil
}

func ignored(ctx context.Context, run *agl.Run) error {
	done := 0
	run.Show(func(agl.Status) agl.Screen { return screen(done) }) //aglvet:ignore nothing draws it
	done++
	return nil
}
