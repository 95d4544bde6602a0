package planted

import (
	"cmp"
	"context"
	"fmt"

	"example.com/agl"
)

// Global is the fix workflow, branching on a variable that another run may have set.
var Global = agl.NewWorkflow(spec("global"), global)

// lenient is set by a run whose reviewer keeps finding things.
var lenient bool

func global(ctx context.Context, run *agl.Run, p Params) error {
	var review Findings
	rounds := cmp.Or(p.Rounds, 3)
	for round := range rounds {
		var patch Patch
		err := run.Step(ctx, implementer.Commit(fmt.Sprintf("fix: %s (round %d)", p.Request, round+1)).Into(&patch),
			agl.In("request", p.Request), agl.In("findings", review.Items))
		if err != nil {
			return err
		}
		if lenient { // want `package variable lenient, which global.go:\d+ assigns, is used in a workflow function`
			return nil
		}
		err = run.Step(ctx, reviewer.Into(&review), agl.In("request", p.Request), agl.In("summary", patch.Summary))
		if err != nil {
			return err
		}
		if len(review.Items) == 0 {
			return nil
		}
		lenient = len(review.Items) < 2 // want `package variable lenient, which global.go:\d+ assigns, is used in a workflow function`
	}
	return agl.Stopf("%d findings left after %d rounds", len(review.Items), rounds)
}
