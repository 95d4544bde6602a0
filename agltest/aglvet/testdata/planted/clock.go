// want package:"functions"

package planted

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.com/agl"
)

// Clock is the fix workflow, giving up after an hour.
var Clock = agl.NewWorkflow(spec("clock"), clock)

func clock(ctx context.Context, run *agl.Run, p Params) error {
	var review Findings
	started := time.Now() // want `time.Now reads the clock in a workflow function, which`
	rounds := cmp.Or(p.Rounds, 3)
	for round := range rounds {
		if time.Now().After(started.Add(time.Hour)) { // want `time.Now reads the clock in a workflow function, which`
			break
		}
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
