package ports

import (
	"fmt"
	"strings"
)

// A Plan is what a resume would do, found by calling the workflow with nothing
// run.
type Plan struct {
	Label      string          `json:"label"`
	Namespaces []NamespacePlan `json:"namespaces"`
	Retries    []PlanRecord    `json:"retries"` // recorded failures that a resume tries again
	// Partial is set where the workflow did not end when it should have: it
	// swallowed the error of a verb, so what follows is not known.
	Partial bool `json:"partial"`
	// Error is what the workflow ends with if it ends without asking for
	// anything that is not recorded; "" if it ends well.
	Error string `json:"error"`
	// Refused says why a resume would do none of it; "" if it would. What
	// diverges is not told here.
	Refused string `json:"refused"`
}

// A NamespacePlan is a Plan's part about one namespace.
type NamespacePlan struct {
	Namespace string       `json:"namespace"`
	Parent    string       `json:"parent"` // from which it is opened; "" for the run's own
	Hits      int          `json:"hits"`
	Miss      *Miss        `json:"miss"`      // the first verb that is not recorded; nil if there is none
	Unreached []PlanRecord `json:"unreached"` // live records that were not asked for
	Cost      Usage        `json:"cost"`      // what the unreached ones were bought for
}

// Diverged reports whether the namespace asks for something else than what is
// recorded.
func (p NamespacePlan) Diverged() bool { return p.Miss != nil && len(p.Unreached) > 0 }

// A PlanRecord names a record.
type PlanRecord struct {
	Seq       int        `json:"seq"`
	Kind      RecordKind `json:"kind"`
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
}

// A Miss is a verb that is not recorded, and why.
type Miss struct {
	Kind    RecordKind   `json:"kind"`
	Name    string       `json:"name"`
	Ordinal int          `json:"ordinal"`
	Instead *PlanRecord  `json:"instead"` // what is recorded at its position; nil if nothing is
	Changes []TermChange `json:"changes"` // how it differs from Instead
}

// A TermChange is a part of a key that is not what it was.
type TermChange struct {
	Term string `json:"term"` // "prompt", "input:request"
	Was  string `json:"was"`  // the words that are gone, with a little around them; "" if the term is new
	Now  string `json:"now"`  // the words that came; "" if the term is gone
}

func (c TermChange) String() string {
	switch {
	case c.Was == "" && c.Now == "":
		return c.Term + " changed"
	case c.Was == "":
		return fmt.Sprintf("%s is new: %q", c.Term, c.Now)
	case c.Now == "":
		return fmt.Sprintf("%s is gone: %q", c.Term, c.Was)
	default:
		return fmt.Sprintf("%s changed from %q to %q", c.Term, c.Was, c.Now)
	}
}

// Diverged reports whether any namespace diverges.
func (p Plan) Diverged() bool {
	for _, ns := range p.Namespaces {
		if ns.Diverged() {
			return true
		}
	}
	return false
}

// Cost returns what the records that are not reached were bought for.
func (p Plan) Cost() Usage {
	sum := Usage{Complete: true}
	for _, ns := range p.Namespaces {
		sum = sum.Add(ns.Cost)
	}
	return sum
}

// Divergence says in one line where the plan diverges and what is at stake.
func (p Plan) Divergence() string {
	var parts []string
	for _, ns := range p.Namespaces {
		if ns.Diverged() {
			parts = append(parts, ns.String())
		}
	}
	if len(parts) == 0 {
		return "nothing diverges"
	}
	cost := p.Cost()
	line := fmt.Sprintf("%s; %d tokens at stake", strings.Join(parts, "; "), cost.Tokens())
	if cost.Cost > 0 {
		line += fmt.Sprintf(" ($%.2f)", cost.Cost)
	}
	return line
}

// String says in one line what becomes of the namespace.
func (p NamespacePlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d recorded", p.Namespace, p.Hits)
	if p.Miss != nil {
		fmt.Fprintf(&b, ", then %s", p.Miss)
	}
	if n := len(p.Unreached); n > 0 {
		fmt.Fprintf(&b, ", %d not reached (first %s)", n, p.Unreached[0])
	}
	return b.String()
}

func (r PlanRecord) String() string {
	return fmt.Sprintf("%s %s, record %d", r.Kind.noun(), r.Name, r.Seq)
}

// noun is what a record of this kind is of.
func (k RecordKind) noun() string {
	if k == KindOpened {
		return "worktree"
	}
	return string(k)
}

func (m *Miss) String() string {
	what := fmt.Sprintf("%s %s", m.Kind.noun(), m.Name)
	if m.Ordinal > 0 {
		what += fmt.Sprintf(" (#%d)", m.Ordinal)
	}
	if m.Instead == nil {
		return what + " is new"
	}
	if m.Instead.Kind != m.Kind || m.Instead.Name != m.Name {
		return fmt.Sprintf("%s where %s was", what, m.Instead)
	}
	if m.Kind == KindOpened && len(m.Changes) == 1 { // its parent
		return fmt.Sprintf("%s: opened from %s, was opened from %s", what, m.Changes[0].Now, m.Changes[0].Was)
	}
	changes := make([]string, len(m.Changes))
	for i, c := range m.Changes {
		changes[i] = c.String()
	}
	return what + ": " + strings.Join(changes, ", ")
}
