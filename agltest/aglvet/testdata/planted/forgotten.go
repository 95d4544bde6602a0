package planted

import (
	"cmp"
	"context"
	"fmt"

	"example.com/agl"
)

// Forgotten is the fix workflow, forgetting what came of the change.
var Forgotten = agl.NewWorkflow(spec("forgotten"), forgotten)

func forgotten(ctx context.Context, run *agl.Run, p Params) error {
	var review Findings
	rounds := cmp.Or(p.Rounds, 3)
	for round := range rounds {
		var patch Patch
		err := run.Step(ctx, implementer.Commit(fmt.Sprintf("fix: %s (round %d)", p.Request, round+1)).Into(&patch), // want `nothing reads the error of Run.Step`
			agl.In("request", p.Request), agl.In("findings", review.Items))
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
