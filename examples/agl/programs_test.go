package main

import (
	"context"

	"example.com/agl"
	"example.com/agl/examples/fix"
)

// pair is a workflow of three steps, with a word in its reviewer's prompt.
func pair(word string) agl.Definition {
	implementer := agl.Editor[fix.Patch]{Name: "implementer", Model: "claude/opus", Prompt: "Fulfil the request.", Report: "Describe the change."}
	reviewer := agl.Reader[fix.Findings]{Name: "reviewer", Model: "codex/x", Prompt: "Review the change " + word + "."}
	return agl.NewWorkflow(agl.Spec{
		Name: "pair", Version: 1, Doc: "Implement a request and review it.", Roles: []agl.Role{implementer, reviewer},
	}, func(ctx context.Context, run *agl.Run, p agl.None) error {
		var patch fix.Patch
		if err := run.Step(ctx, implementer.Commit("pair").Into(&patch)); err != nil {
			return err
		}
		var review fix.Findings
		if err := run.Step(ctx, reviewer.Into(&review), agl.In("summary", patch.Summary)); err != nil {
			return err
		}
		return run.Step(ctx, implementer.Commit("pair, again"), agl.In("findings", review.Items))
	})
}

// other is a workflow of another program.
var other = agl.NewWorkflow(agl.Spec{Name: "other", Version: 1, Doc: "Does nothing.", Roles: []agl.Role{}},
	func(context.Context, *agl.Run, agl.None) error { return nil })
