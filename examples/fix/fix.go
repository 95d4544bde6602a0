// Package fix implements a request, reviews the change, and repeats until the
// reviewer has nothing to say.
package fix

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"

	"example.com/agl"
)

// Params are the workflow's flags (tags of github.com/alecthomas/kong; this
// package does not import it).
type Params struct {
	Request string `short:"r" required:"" help:"What to change."`
	Rounds  int    `default:"3" help:"Reviews before giving up."`
} // default and required bind the command line only; code that starts a workflow may leave a field zero

// Patch is what the implementer reports.
type Patch struct {
	Summary string `json:"summary" jsonschema_description:"The change in one line, as a commit subject."`
}

// Findings is what the reviewer reports; an empty list is a pass.
type Findings struct {
	Items []Finding `json:"items"`
}

// A Finding is one thing wrong with the change.
type Finding struct {
	Severity string `json:"severity" jsonschema:"enum=high,enum=medium,enum=low"`
	Text     string `json:"text"`
}

var (
	//go:embed prompts/implementer.md
	implementerPrompt string
	//go:embed prompts/reviewer.md
	reviewerPrompt string
)

// Script is a file of adapters/script in which both roles play two rounds: the
// first review finds something.
//
//go:embed fix.script.txtar
var Script string

var implementer = agl.Editor[Patch]{
	Name:   "implementer",
	Model:  "claude/opus",
	Prompt: implementerPrompt,
	Report: "Describe the finished change.",
	Tools:  []agl.Tool{agl.AskTool()}, // lets the agent put a question to a person
}

var reviewer = agl.Reader[Findings]{
	Name:   "reviewer",
	Model:  "codex/gpt-5-codex",
	Prompt: reviewerPrompt,
	Report: "List everything that must change before this can land.",
}

// Workflow is the fix workflow.
var Workflow = agl.NewWorkflow(agl.Spec{
	Name: "fix", Version: 1, Doc: "Implement a request and review it until it is clean.",
	Roles: []agl.Role{implementer, reviewer},
}, fix)

func fix(ctx context.Context, run *agl.Run, p Params) error {
	var review Findings
	rounds := cmp.Or(p.Rounds, 3)
	for round := range rounds {
		var patch Patch
		err := run.Step(ctx, implementer.Commit(fmt.Sprintf("fix: %s (round %d)", p.Request, round+1)).Into(&patch),
			agl.In("request", p.Request), agl.In("findings", review.Items))
		if err != nil {
			return err
		}
		err = run.Step(ctx, reviewer.Into(&review), agl.In("request", p.Request), agl.In("summary", patch.Summary))
		if err != nil {
			return err
		}
		if len(review.Items) == 0 {
			return nil
		}
	}
	return agl.Stopf("%d findings left after %d rounds", len(review.Items), rounds)
}
