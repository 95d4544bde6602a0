package agl

import (
	"context"
	"slices"

	"example.com/agl/internal/engine"
	"example.com/agl/ports"
)

// Worktree returns a run with a checkout, a branch and records of its own,
// based on this run's head: its verbs run beside those of this one and of
// other worktrees. The base is recorded when it returns; the checkout is made
// when something first works in it.
//
// A name has ASCII letters, digits, '.', '_' and '-', as in CheckName of
// package ports. Names are unique in the whole run, whatever the worktrees are
// opened from and whatever the case of their letters: begin that of a worktree
// within another with its parent's, "parser-tests". A second Worktree of a name
// is Invalid, so keep the *Run.
//
// What is committed there reaches this run by Integrate alone, and what is
// committed here, or lands here, never reaches it: it stays on its base. For
// another round on what has landed meanwhile, open another worktree.
//
// Give each worktree a goroutine, wait for all of them, and join their errors
// by index (errors.Join): one resume then tries all again that failed. A
// sync.WaitGroup does, and an errgroup.Group whose functions return nil and
// keep their errors. errgroup.WithContext cancels the agents of the others at
// the first failure: what they did until then is salvaged, not recorded, and
// bought again.
func (r *Run) Worktree(ctx context.Context, name string) (*Run, error) {
	child, err := r.run.Worktree(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Run{run: child}, nil
}

// Integrate lands the commits of a worktree in the run that it is of, unless
// that is recorded: they are merged in that run's checkout, the project's build
// command runs there, and only the tree that it has passed is committed. A
// landing and that run's own Step, Do, Verify and Integrate exclude each other,
// and landings into it go one at a time, in the order in which they were asked
// for.
//
// Where both sides changed the same, or the build fails, resolve is called,
// again after each Retry. A landing that is given up is a *ConflictError; it is
// recorded, the worktree and its branch stay, and other landings go on.
// Landing a worktree that has nothing new does nothing.
//
// The worktree is as it was afterwards: what its siblings have landed, and what
// a resolver changed in the merge, are in the parent alone, and a later landing
// of the same worktree may conflict with them.
func (r *Run) Integrate(ctx context.Context, resolve Resolver) error {
	if resolve == nil {
		return r.run.Integrate(ctx, nil)
	}
	return r.run.Integrate(ctx, func(ctx context.Context, c *engine.Conflict) (engine.Resolution, error) {
		told := &Conflict{Child: c.Child, Dir: c.Dir, Attempt: c.Attempt, Paths: slices.Clone(c.Paths), conflict: c}
		if c.Verdict != nil {
			verdict := *c.Verdict
			told.Verdict = &verdict
		}
		made, err := resolve(ctx, told)
		return made.resolution, err
	})
}

// A Conflict is a landing that cannot go on by itself. While its Resolver runs
// the parent's checkout holds the merge, as git leaves an unfinished one.
type Conflict struct {
	Child   string         // the worktree that is landed
	Dir     string         // the checkout that holds the merge, absolute; empty where it is in memory
	Attempt int            // this is the Attempt-th call of the resolver for this landing, from 1
	Paths   []ConflictPath // what the two sides do not agree on; none if the build failed
	Verdict *Verdict       // the build's, with the end of its output; nil if it did not run

	conflict *engine.Conflict
}

// Summary says in one line what the conflict is.
func (c *Conflict) Summary() string { return c.conflict.Summary() }

// Step runs an agent in the checkout that holds the merge, unless it is
// recorded for these very commits. Nothing is put back before it and nothing
// committed after it: what it leaves is what Retry takes.
func (c *Conflict) Step(ctx context.Context, fix Fix, inputs ...Input) error {
	if fix == nil {
		return ports.Invalid.Errorf("step in a conflict", "the fix is nil")
	}
	s, err := fix.fix()
	if err != nil {
		return misused(err)
	}
	s.Inputs = engineInputs(inputs)
	return c.conflict.Step(ctx, s)
}

// Retry takes what is in the checkout as the resolution: it is staged, and the
// build runs on it. Conflict markers or unmerged paths that are left are a
// conflict again.
func (c *Conflict) Retry() Resolution { return Resolution{c.conflict.Retry()} }

// Abort gives the landing up. What is in the checkout is salvaged.
func (c *Conflict) Abort() Resolution { return Resolution{c.conflict.Abort()} }

// A Resolution is what a Resolver decides: Conflict.Retry or Conflict.Abort.
type Resolution struct{ resolution engine.Resolution }

// A Resolver decides what becomes of a conflict. It is not recorded: a landing
// that was interrupted is asked about again, with the same Summary, and what was
// left in the checkout is there again. So is one that failed for a reason
// outside of it: a build that could not start, an agent's limit. Its error is the
// landing's; one without a Kind is Conflicted.
//
// In it the parent's own verbs are Invalid, under the context that it is given
// or one made of that: use the Conflict's. Under any other they wait for the
// landing, which waits for them, for ever.
//
// A merge that is committed in the checkout counts as what was made of it; one
// that is aborted there fails the landing.
type Resolver func(ctx context.Context, c *Conflict) (Resolution, error)

// Abandon is a Resolver that gives up.
func Abandon(_ context.Context, c *Conflict) (Resolution, error) { return c.Abort(), nil }

// ResolveWith returns a Resolver that lets an agent try, so many times, and
// then asks another one (nil: Abandon). The agent is given the inputs
// "conflict", its Summary, "paths", and, if the build failed, "output". It
// panics if fix is nil.
func ResolveWith(fix Fix, tries int, then Resolver) Resolver {
	if fix == nil {
		panic("agl: ResolveWith: fix is nil")
	}
	if then == nil {
		then = Abandon
	}
	return func(ctx context.Context, c *Conflict) (Resolution, error) {
		if c.Attempt > tries {
			return then(ctx, c)
		}
		inputs := []Input{In("conflict", c.Summary()), In("paths", c.Paths)}
		if c.Verdict != nil {
			inputs = append(inputs, In("output", ports.Clip(c.Verdict.Output, 20_000)))
		}
		if err := c.Step(ctx, fix, inputs...); err != nil {
			return Resolution{}, err
		}
		return c.Retry(), nil
	}
}
