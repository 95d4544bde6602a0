package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/agl"
	"example.com/agl/ports"
)

// A node is a namespace in the tree of those of a run.
type node struct {
	agl.NamespaceStatus
	depth int // below the run's own
}

// treeOf returns the namespaces of a run, each after the one that it was
// opened from, by name.
func treeOf(status agl.Status) []node {
	below := map[string][]agl.NamespaceStatus{}
	there := map[string]bool{}
	for _, ns := range status.Namespaces {
		there[ns.Namespace] = true
	}
	for _, ns := range status.Namespaces {
		parent := ns.Parent
		if !there[parent] {
			parent = "" // it was given up, or is the run's own
		}
		below[parent] = append(below[parent], ns)
	}
	var tree []node
	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		slices.SortFunc(below[parent], func(a, b agl.NamespaceStatus) int { return strings.Compare(a.Namespace, b.Namespace) })
		for _, ns := range below[parent] {
			tree = append(tree, node{ns, depth})
			add(ns.Namespace, depth+1)
		}
	}
	add("", 0)
	return tree
}

// worktreesText is a table of a run's worktrees, indented below those that
// they were opened from; empty if there are none.
func worktreesText(status agl.Status, records []agl.Record, now time.Time) string {
	landings := map[string]string{} // what the last landing of each came to
	for i := range records {
		if r := &records[i]; r.Kind == agl.KindLanding {
			landings[r.Namespace] = landingText(r)
		}
	}
	var b strings.Builder
	rows := table(&b)
	fmt.Fprintln(rows, "\nWORKTREE\tRECORDS\tTOKENS\tLANDED\tNOW")
	any := false
	for _, ns := range treeOf(status) {
		if ns.Namespace == ports.Base {
			continue
		}
		any = true
		indent := strings.Repeat("  ", max(0, ns.depth-1))
		fmt.Fprintf(rows, "%s%s\t%d\t%s\t%s\t%s\n", indent, line(ns.Namespace, 60), ns.Records, count(ns.Usage.Tokens()),
			cmp.Or(landings[ns.Namespace], "-"), doing(ns.NamespaceStatus, now))
	}
	if !any {
		return ""
	}
	rows.Flush()
	fmt.Fprintf(&b, "their branches are agl/_work/%s/WORKTREE\n", status.Run.Label)
	return b.String()
}

// doing says what a worktree does now.
func doing(ns agl.NamespaceStatus, now time.Time) string {
	what := string(ns.Verb) + " " + ns.Name
	switch {
	case len(ns.Asking) > 0:
		return asksText(ns)
	case ns.Waiting != "":
		return "waits for " + whose(ns.Waiting)
	case ns.Verb == "":
		return "-"
	case ns.Verb == agl.KindLanding:
		what = "lands"
	}
	return fmt.Sprintf("%s (%s)", line(what, 60), took(now.Sub(ns.Since)))
}

// asksText says that a worktree waits for a person.
func asksText(ns agl.NamespaceStatus) string {
	text := fmt.Sprintf("waits for an answer (%s): %s", ns.Asking[0].ID, ns.Asking[0].Text)
	if more := len(ns.Asking) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return line(text, 100)
}

func landingText(r *ports.Record) string {
	switch {
	case r.Failure != nil:
		return "no"
	case r.Landing.Moved():
		return short(r.Landing.After)
	}
	return "nothing new"
}

func namespacesJSON(status agl.Status) []namespaceObject {
	var all []namespaceObject
	for _, ns := range treeOf(status) {
		var asking []string
		for _, q := range ns.Asking {
			asking = append(asking, q.ID)
		}
		all = append(all, namespaceObject{
			Namespace: ns.Namespace, Parent: ns.Parent, Records: ns.Records,
			Usage: usageObject{Input: ns.Usage.Input, Output: ns.Usage.Output},
			Verb:  ns.Verb, Name: ns.Name, Waiting: ns.Waiting, Asking: asking,
		})
	}
	return all
}
