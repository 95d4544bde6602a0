package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/agl/ports"
)

// A frame is a run as it is drawn.
type frame struct {
	status  ports.Status
	screen  ports.Screen // what the workflow shows of it
	shown   bool         // whether it does
	broken  string       // why it does not any more
	elapsed time.Duration
	since   []time.Duration // how long each namespace has been at its verb
}

// tailLines is how many lines of a failing gate are drawn.
const tailLines = 20

// run returns the lines of a run.
func (c canvas) run(f *frame, gates bool) []string {
	lines := []string{c.header(f)}
	if f.shown {
		lines = append(lines, c.screen(f.screen)...)
	} else {
		lines = append(lines, c.tree(f)...)
	}
	if gates {
		lines = append(lines, c.gates(f)...)
	}
	notes := f.status.Notes
	if f.broken != "" {
		notes = append(slices.Clone(notes), f.broken)
	}
	if len(notes) > 0 {
		lines = append(lines, "")
	}
	for _, note := range notes {
		for _, line := range c.wrap("! "+cleanLine(note), c.columns) {
			lines = append(lines, c.paint(warning, line))
		}
	}
	return lines
}

func (c canvas) header(f *frame) string {
	run := f.status.Run
	parts := []string{cleanLine(run.Workflow), span(f.elapsed), usage(f.status.Usage)}
	if run.State != "" && run.State != ports.StateRunning {
		parts = append(parts, cleanLine(string(run.State)))
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	label := c.cut(cleanLine(run.Label), c.columns)
	return c.cut(c.paint(accent, label)+c.paint(faint, "  "+strings.Join(parts, " · ")), c.columns)
}

// A limb is a namespace in the tree of them.
type limb struct {
	at     int    // its place among the namespaces
	prefix string // what draws the tree
}

// limbs returns the namespaces as a tree, each below its parent.
func limbs(namespaces []ports.NamespaceStatus) []limb {
	children := make(map[string][]int)
	known := make(map[string]bool)
	for i := range namespaces {
		known[namespaces[i].Namespace] = true
	}
	for i := range namespaces {
		parent := namespaces[i].Parent
		if !known[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], i)
	}
	var all []limb
	done := make(map[string]bool)
	var grow func(parent, prefix string)
	grow = func(parent, prefix string) {
		if done[parent] {
			return
		}
		done[parent] = true
		of := children[parent]
		for i, at := range of {
			own, below := "├ ", "│ "
			if i == len(of)-1 {
				own, below = "└ ", "  "
			}
			if parent == "" {
				own, below = "", ""
			}
			all = append(all, limb{at, prefix + own})
			grow(namespaces[at].Namespace, prefix+below)
		}
	}
	grow("", "")
	return all
}

func (c canvas) tree(f *frame) []string {
	var rows [][]string
	for _, l := range limbs(f.status.Namespaces) {
		ns := &f.status.Namespaces[l.at]
		row := []string{c.paint(faint, l.prefix) + place(ns.Namespace), doing(ns), c.state(ns)}
		if c.columns >= 60 {
			row = append(row, span(f.since[l.at]))
		}
		if c.columns >= 80 {
			row = append(row, usage(ns.Usage))
		}
		if c.columns >= 60 {
			row = append(row, c.paint(faint, cleanLine(ns.Activity)))
		}
		rows = append(rows, row)
	}
	return c.columnsOf(rows)
}

// place returns what a namespace is called.
func place(namespace string) string {
	if namespace == ports.Base {
		return "base"
	}
	return cleanLine(namespace)
}

// doing returns what a namespace is at: a verb, and which of the many of its
// name.
func doing(ns *ports.NamespaceStatus) string {
	if ns.Verb == "" {
		return ""
	}
	text := string(ns.Verb)
	if ns.Verb == ports.KindAnswer { // which is still to come
		text = "asks"
	}
	if ns.Name != "" {
		text += " " + ns.Name
	}
	if ns.Ordinal > 1 {
		text += fmt.Sprintf(" #%d", ns.Ordinal)
	}
	return cleanLine(text)
}

// state returns what a namespace waits for, what its gate found and how its
// landing stands.
func (c canvas) state(ns *ports.NamespaceStatus) string {
	var parts []string
	switch {
	case len(ns.Asking) > 0:
		parts = append(parts, c.paint(warning, "waits for a person"))
	case ns.Waiting != "":
		parts = append(parts, c.paint(faint, "waits for "+place(ns.Waiting)))
	}
	switch ns.Landing {
	case ports.LandingNone:
	case ports.LandingDone:
		parts = append(parts, c.paint(good, string(ns.Landing)))
	case ports.LandingConflict, ports.LandingFailed:
		parts = append(parts, c.paint(bad, string(ns.Landing)))
	default:
		parts = append(parts, cleanLine(string(ns.Landing)))
	}
	switch {
	case ns.Verdict == nil:
	case ns.Verdict.Passed:
		parts = append(parts, c.paint(good, "gate green"))
	default:
		parts = append(parts, c.paint(bad, "gate red"))
	}
	return strings.Join(parts, ", ")
}

// gates returns the last lines of each gate that fails.
func (c canvas) gates(f *frame) []string {
	lines := []string{""}
	for i := range f.status.Namespaces {
		ns := &f.status.Namespaces[i]
		if ns.Verdict == nil || ns.Verdict.Passed {
			continue
		}
		head := fmt.Sprintf("gate of %s: %s", place(ns.Namespace), cleanLine(ns.Verdict.Command))
		if ns.Verdict.Note != "" {
			head += " (" + cleanLine(ns.Verdict.Note) + ")"
		}
		lines = append(lines, c.paint(bad, c.cut(head, c.columns)))
		output := ns.Verdict.Output[max(0, len(ns.Verdict.Output)-maxText):]
		tail := cleanLines(withoutColours(output))
		lines = append(lines, c.wrapAll(tail[max(0, len(tail)-tailLines):], c.columns)...)
	}
	if len(lines) == 1 {
		lines = append(lines, c.paint(faint, "no gate fails"))
	}
	return lines
}

// waited returns what a run is at, of one that is to stop.
func waited(frames []*frame) string {
	var all []string
	for i := range frames {
		for n := range frames[i].status.Namespaces {
			if ns := &frames[i].status.Namespaces[n]; ns.Verb != "" && ns.Waiting == "" {
				all = append(all, place(ns.Namespace)+" "+doing(ns))
			}
		}
	}
	return strings.Join(all, ", ")
}

// span is a time as it is drawn, in seconds or minutes; "" if there is none.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d/time.Second%60)
	default:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d/time.Minute%60)
	}
}

// usage is what was bought, as it is drawn; "" if nothing was.
func usage(u ports.Usage) string {
	if u.Tokens() == 0 && u.Cost == 0 {
		return ""
	}
	var text string
	switch n := u.Tokens(); {
	case n < 10_000:
		text = fmt.Sprintf("%d tokens", n)
	case n < 10_000_000:
		text = fmt.Sprintf("%dk tokens", n/1000)
	default:
		text = fmt.Sprintf("%.1fM tokens", float64(n)/1e6)
	}
	if u.Cost != 0 {
		text += fmt.Sprintf(" $%.2f", u.Cost)
	}
	return text
}
