package planted

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"example.com/agl"
)

// Goroutines is the fix workflow, with two reviews at once.
var Goroutines = agl.NewWorkflow(spec("goroutines"), goroutines)

func goroutines(ctx context.Context, run *agl.Run, p Params) error {
	var review Findings
	rounds := cmp.Or(p.Rounds, 3)
	for round := range rounds {
		var patch Patch
		err := run.Step(ctx, implementer.Commit(fmt.Sprintf("fix: %s (round %d)", p.Request, round+1)).Into(&patch),
			agl.In("request", p.Request), agl.In("findings", review.Items))
		if err != nil {
			return err
		}
		var second Findings
		var errs [2]error
		var group sync.WaitGroup
		group.Go(func() { // want `this goroutine steps run while goroutines.go:\d+ does`
			errs[0] = run.Step(ctx, reviewer.Into(&review), agl.In("request", p.Request), agl.In("summary", patch.Summary))
		})
		group.Go(func() {
			errs[1] = run.Step(ctx, reviewer.Into(&second), agl.In("request", p.Request), agl.In("summary", patch.Summary))
		})
		group.Wait()
		if err := cmp.Or(errs[0], errs[1]); err != nil {
			return err
		}
		review.Items = append(review.Items, second.Items...)
		if len(review.Items) == 0 {
			return nil
		}
	}
	return agl.Stopf("%d findings left after %d rounds", len(review.Items), rounds)
}
