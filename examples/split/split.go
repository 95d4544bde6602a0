// Package split has a request divided into chunks, builds them at the same
// time, each in a worktree of its own, lands each as soon as it is built, and
// reviews the whole.
package split

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"sync"

	"example.com/agl"
)

var (
	//go:embed prompts/planner.md
	plannerPrompt string
	//go:embed prompts/builder.md
	builderPrompt string
	//go:embed prompts/mender.md
	menderPrompt string
	//go:embed prompts/reviewer.md
	reviewerPrompt string
)

// Script is a file of adapters/script that plays all roles: three chunks, of
// which two change the same lines.
//
//go:embed split.script.txtar
var Script string

var planner = agl.Reader[Plan]{
	Name:   "planner",
	Model:  "claude/opus",
	Prompt: plannerPrompt,
	Report: "Give the chunks, in the order in which you would do them alone.",
}

var builder = agl.Editor[Patch]{
	Name:   "builder",
	Model:  "claude/sonnet",
	Prompt: builderPrompt,
	Report: "Describe the finished change.",
}

// mender works where a landing cannot go on. What it reports does not matter:
// that no conflict is left and the build passes is found out.
var mender = agl.Editor[agl.None]{
	Name:   "mender",
	Model:  "claude/opus",
	Prompt: menderPrompt,
}

var reviewer = agl.Reader[Findings]{
	Name:   "reviewer",
	Model:  "codex/gpt-5-codex",
	Prompt: reviewerPrompt,
	Report: "List everything that must change before this can be taken.",
}

// Workflow is the split workflow.
var Workflow = agl.NewWorkflow(agl.Spec{
	Name: "split", Version: 1, Doc: "Divide a request into chunks, build them at once, and land each as soon as it is built.",
	Roles: []agl.Role{planner, builder, mender, reviewer},
}, split)

func split(ctx context.Context, run *agl.Run, p Params) error {
	most := cmp.Or(p.Chunks, 4)
	var plan Plan
	if err := run.Step(ctx, planner.Into(&plan), agl.In("request", p.Request), agl.In("chunks", most)); err != nil {
		return err
	}
	chunks := atMost(plan.Chunks, most)
	children := make([]*agl.Run, len(chunks)) // opened before any is built: all have the same base
	for i, chunk := range chunks {
		var err error
		if children[i], err = run.Worktree(ctx, chunk.ID); err != nil {
			return err
		}
	}
	run.Show(board(p.Request, chunks))

	patches := make([]Patch, len(chunks))
	errs := make([]error, len(chunks)) // all of them, so that one resume tries all again that failed
	var group sync.WaitGroup           // no errgroup.WithContext: one failure would cancel the siblings' agents
	for i, chunk := range chunks {
		group.Go(func() { patches[i], errs[i] = build(ctx, children[i], chunk, p) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}

	var review Findings
	if err := run.Step(ctx, reviewer.Into(&review), agl.In("request", p.Request), agl.In("patches", patches)); err != nil {
		return err
	}
	if n := len(review.Items); n > 0 {
		return agl.Stopf("everything has landed, and the review has findings: %d, the first: %s", n, review.Items[0].Text)
	}
	return nil
}

// build builds a chunk in its worktree and lands it. While it lands, the
// others go on; landings wait for each other.
func build(ctx context.Context, child *agl.Run, chunk Chunk, p Params) (Patch, error) {
	var patch Patch
	err := child.Step(ctx, builder.Commit(chunk.ID+": "+p.Request).Into(&patch), agl.In("task", chunk.Task))
	if err != nil {
		return Patch{}, err
	}
	return patch, child.Integrate(ctx, p.resolver())
}
