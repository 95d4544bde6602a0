package cli

import (
	"context"
	"fmt"
	"strings"

	"example.com/agl"
)

type planCmd struct {
	Label string `arg:"" help:"The run."`
}

func (c *planCmd) run(ctx context.Context, s *session) error {
	return s.with(ctx, func(engine *agl.Engine) error {
		def, err := s.definitionOf(ctx, engine, c.Label)
		if err != nil {
			return err
		}
		plan, err := engine.Plan(ctx, c.Label, def)
		if err != nil {
			return err
		}
		if s.globals.JSON {
			return s.answer(plan)
		}
		return s.print("%s", planText(plan, s.program.Name))
	})
}

// planText is a plan for a person.
func planText(plan agl.Plan, program string) string {
	var b strings.Builder
	for _, ns := range plan.Namespaces {
		fmt.Fprintf(&b, "%s\n", line(ns.String(), 1000))
	}
	for _, r := range plan.Retries {
		fmt.Fprintf(&b, "%s: tries %s again, which failed\n", r.Namespace, line(r.String(), 200))
	}
	if plan.Partial {
		b.WriteString("the workflow went on after a verb that was not run: what follows is not known\n")
	}
	if plan.Diverged() {
		fmt.Fprintf(&b, "diverges: %s\n%s resume %s is refused; with --rebuy it gives up what is not reached and goes on\n",
			line(plan.Divergence(), 2000), program, plan.Label)
	}
	return b.String()
}
