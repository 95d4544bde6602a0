package cli

import (
	"context"
	"fmt"
	"strings"

	"example.com/agl"
)

type planCmd struct {
	Label string `arg:"" help:"The run."`
	gateFlags
}

func (c *planCmd) run(ctx context.Context, s *session) error {
	opts := s.options()
	if err := c.apply(&opts); err != nil {
		return err
	}
	return s.over(ctx, opts, s.progress(), func(engine *agl.Engine) error {
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
	missed := false
	lands := false // something is landed for which a resolver may be asked
	tree := treeOf(plan.Namespaces, func(ns agl.NamespacePlan) (string, string) { return ns.Namespace, ns.Parent })
	for _, node := range tree {
		ns := node.of
		missed = missed || ns.Miss != nil
		lands = lands || ns.Miss != nil && ns.Miss.Kind == agl.KindLanding
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", node.depth), line(ns.String(), 2000))
	}
	for _, r := range plan.Retries {
		lands = lands || r.Kind == agl.KindLanding
		fmt.Fprintf(&b, "%s: tries again what failed, %s\n", r.Namespace, line(r.String(), 200))
	}
	if lands {
		b.WriteString("in a landing that meets a conflict, or does not build, its resolver may buy agents\n")
	}
	switch {
	case missed || len(plan.Retries) > 0: // how it ends is not known
	case plan.Error != "":
		fmt.Fprintf(&b, "and then it ends: %s\n", line(plan.Error, 400))
	default:
		b.WriteString("and then it ends well\n")
	}
	if plan.Partial {
		b.WriteString("the workflow went on after a verb that was not run: what follows is not known\n")
	}
	if plan.Diverged() {
		fmt.Fprintf(&b, "this diverges, with %s at stake: %s resume %s is refused; with --rebuy it gives up what is not reached and goes on\n",
			tokens(plan.Cost()), program, plan.Label)
	}
	if plan.Refused != "" {
		fmt.Fprintf(&b, "a resume is refused: %s\n", line(plan.Refused, 2000))
	}
	return b.String()
}

// divergence says in one line where a plan diverges and what is at stake.
func divergence(plan agl.Plan) string {
	var parts []string
	for _, ns := range plan.Namespaces {
		if ns.Diverged() {
			parts = append(parts, ns.String())
		}
	}
	return fmt.Sprintf("%s; %s at stake", strings.Join(parts, "; "), tokens(plan.Cost()))
}
