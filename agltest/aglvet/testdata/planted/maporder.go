package planted

import (
	"cmp"
	"context"
	"fmt"

	"example.com/agl"
)

// Maporder is the fix workflow, fixing the findings of each severity apart.
var Maporder = agl.NewWorkflow(spec("maporder"), maporder)

func bySeverity(items []Finding) map[string][]Finding {
	groups := make(map[string][]Finding)
	for _, item := range items {
		groups[item.Severity] = append(groups[item.Severity], item)
	}
	return groups
}

func maporder(ctx context.Context, run *agl.Run, p Params) error {
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
		for severity, items := range bySeverity(review.Items) {
			err := run.Step(ctx, implementer.Commit("fix: findings of severity "+severity), agl.In("findings", items)) // want `run is stepped in the order of a map`
			if err != nil {
				return err
			}
		}
	}
	return agl.Stopf("%d findings left after %d rounds", len(review.Items), rounds)
}
