package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/agl"
	"example.com/agl/ports"
)

type (
	usageAnswer struct {
		Total  ports.Usage  `json:"total"`
		Roles  []usedObject `json:"roles"`
		Models []usedObject `json:"models"`
	}

	usedObject struct {
		Name  string      `json:"name"`
		Steps int         `json:"steps"`
		Usage ports.Usage `json:"usage"`
	}
)

// A share is what the steps of one role with one model have used.
type share struct {
	role, model string
	steps       int
	usage       ports.Usage
}

// inConflicts stands for the roles whose agents worked in the conflicts of
// landings: a landing's record has the sum of them.
const inConflicts = "(conflicts)"

// shares returns what agents were used for, in the order in which they first
// were, and the sum.
func shares(records []agl.Record) (list []share, sum ports.Usage) {
	sum.Complete = true
	for i := range records {
		r := &records[i]
		s := share{role: r.Name, model: string(r.Model), steps: 1, usage: r.Usage}
		switch {
		case r.Kind == agl.KindLanding && r.Usage.Tokens() > 0:
			s.role, s.model = inConflicts, ""
		case r.Kind != agl.KindStep:
			continue
		}
		list, sum = append(list, s), sum.Add(r.Usage)
	}
	return gather(list, func(a, b share) bool { return a.role == b.role && a.model == b.model }), sum
}

// gather sums up the shares that are the same.
func gather(list []share, same func(a, b share) bool) (sums []share) {
	for _, s := range list {
		i := slices.IndexFunc(sums, func(sum share) bool { return same(sum, s) })
		if i < 0 {
			sums = append(sums, s)
			continue
		}
		sums[i].steps += s.steps
		sums[i].usage = sums[i].usage.Add(s.usage)
	}
	return sums
}

func byRole(a, b share) bool  { return a.role == b.role }
func byModel(a, b share) bool { return a.model == b.model }

func usageJSON(records []agl.Record) usageAnswer {
	list, sum := shares(records)
	answer := usageAnswer{Total: sum}
	for _, s := range gather(list, byRole) {
		answer.Roles = append(answer.Roles, usedObject{s.role, s.steps, s.usage})
	}
	for _, s := range gather(list, byModel) {
		answer.Models = append(answer.Models, usedObject{s.model, s.steps, s.usage})
	}
	return answer
}

// usageText is a table of what agents have used: a row for each role with its
// model, and one for each model that several roles have, and each role that had
// several models.
func usageText(records []agl.Record) string {
	list, _ := shares(records)
	shown := slices.Clone(list)
	for _, group := range []struct {
		same func(a, b share) bool
		name func(s *share)
	}{
		{byRole, func(s *share) { s.model = "(all)" }},
		{byModel, func(s *share) { s.role = "(all)" }},
	} {
		for _, sum := range gather(list, group.same) {
			of := 0
			for _, s := range list {
				if group.same(sum, s) {
					of++
				}
			}
			if of > 1 {
				group.name(&sum)
				shown = append(shown, sum)
			}
		}
	}
	var b strings.Builder
	rows := table(&b)
	fmt.Fprintln(rows, "ROLE\tMODEL\tSTEPS\tINPUT\tCACHED\tOUTPUT\tREASONING\tCOST")
	for _, s := range shown {
		u := s.usage
		least := ""
		if !u.Complete { // some of it was not told
			least = "≥"
		}
		money := "-"
		if u.Cost != 0 {
			money = fmt.Sprintf("%s$%.2f", least, u.Cost)
		}
		figure := func(n int64) string { return least + count(n) }
		fmt.Fprintf(rows, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", line(s.role, 40), line(cmp.Or(s.model, "-"), 60), s.steps,
			figure(u.Input), figure(u.Cached), figure(u.Output), figure(u.Reasoning), money)
	}
	rows.Flush()
	return b.String()
}
