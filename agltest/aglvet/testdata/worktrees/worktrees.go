// want package:"functions"

// Package worktrees opens worktrees in loops.
package worktrees

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"example.com/agl"
)

const name = "parser"

func wrong(ctx context.Context, run *agl.Run, names []string) error {
	for range 3 {
		child, err := run.Worktree(ctx, "parser") // want `this opens a worktree of the same name in each round of a loop, and the second time is Invalid`
		if err != nil {
			return err
		}
		if err := child.Integrate(ctx, nil); err != nil {
			return err
		}
	}
	for _, name := range names {
		child, err := run.Worktree(ctx, name)
		if err != nil {
			return err
		}
		if _, err := child.Worktree(ctx, "tests"); err != nil { // want `the same name in each round`
			return err
		}
	}
	for range slices.Values(names) {
		if _, err := run.Worktree(ctx, name); err != nil { // want `the same name in each round`
			return err
		}
	}
	var group sync.WaitGroup
	errs := make([]error, len(names))
	for i := range names {
		group.Go(func() {
			_, errs[i] = run.Worktree(ctx, "lexer") // want `the same name in each round`
		})
	}
	group.Wait()
	return errs[0]
}

func right(ctx context.Context, run *agl.Run, names []string) error {
	for i := range names {
		if _, err := run.Worktree(ctx, "round-"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	for _, name := range names {
		if name != "parser" {
			continue
		}
		_, err := run.Worktree(ctx, "parser") // once: the loop ends here
		return err
	}
	for range slices.Values(names) {
		_, err := run.Worktree(ctx, "lexer")
		return err
	}
	_, err := run.Worktree(ctx, name)
	return err
}
