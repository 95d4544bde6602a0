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

// A node is a namespace, and what is known of it, in the tree of those of a run.
type node[T any] struct {
	of    T
	depth int // below the run's own
}

// treeOf returns the namespaces of a run, each after the one that it was
// opened from, by name.
func treeOf[T any](all []T, name func(T) (namespace, parent string)) []node[T] {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b T) int {
		x, _ := name(a)
		y, _ := name(b)
		return strings.Compare(x, y)
	})
	there := map[string]bool{}
	for _, ns := range all {
		namespace, _ := name(ns)
		there[namespace] = true
	}
	below := map[string][]T{}
	for _, ns := range all {
		_, parent := name(ns)
		if !there[parent] {
			parent = "" // it was given up, or is the run's own
		}
		below[parent] = append(below[parent], ns)
	}
	var tree []node[T]
	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		for _, ns := range below[parent] {
			namespace, _ := name(ns)
			tree = append(tree, node[T]{ns, depth})
			add(namespace, depth+1)
		}
	}
	add("", 0)
	return tree
}

// statusTree returns the tree of a run's namespaces.
func statusTree(status agl.Status) []node[agl.NamespaceStatus] {
	return treeOf(status.Namespaces, func(ns agl.NamespaceStatus) (string, string) { return ns.Namespace, ns.Parent })
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
	for _, node := range statusTree(status) {
		ns := node.of
		if ns.Namespace == ports.Base {
			continue
		}
		any = true
		indent := strings.Repeat("  ", max(0, node.depth-1))
		fmt.Fprintf(rows, "%s%s\t%d\t%s\t%s\t%s\n", indent, line(ns.Namespace, 60), ns.Records, count(ns.Usage.Tokens()),
			cmp.Or(landings[ns.Namespace], "-"), doing(ns, now))
	}
	if !any {
		return ""
	}
	rows.Flush()
	for _, node := range statusTree(status) {
		if ns := node.of; ns.Namespace != ports.Base && ns.Session != "" {
			fmt.Fprintf(&b, "the agent of %s is in session %s\n", line(ns.Namespace, 60), line(ns.Session, 100))
		}
	}
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
	for _, node := range statusTree(status) {
		ns := node.of
		var asking []string
		for _, q := range ns.Asking {
			asking = append(asking, q.ID)
		}
		all = append(all, namespaceObject{
			Namespace: ns.Namespace, Parent: ns.Parent, Records: ns.Records, Session: ns.Session,
			Usage: ns.Usage,
			Verb:  ns.Verb, Name: ns.Name, Waiting: ns.Waiting, Asking: asking,
		})
	}
	return all
}
