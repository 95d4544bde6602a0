package cli

import (
	"fmt"
	"strings"

	"example.com/agl"
	"example.com/agl/ports"
)

// called names a verb: its role or call, and its worktree if it is not the
// run's own, or the worktree alone where it is the worktree's own; and its
// ordinal, where it is not the first.
func called(kind ports.RecordKind, namespace, name string, ordinal int) string {
	switch kind {
	case ports.KindLanding, ports.KindOpened:
		name = line(namespace, 60)
	default:
		name = who(namespace, name)
	}
	if ordinal > 1 {
		return fmt.Sprintf("%s #%d", name, ordinal)
	}
	return name
}

// place names where something happens: a worktree, or the run.
func place(e agl.Event) string {
	if e.Namespace == "" || e.Namespace == ports.Base {
		return e.Run
	}
	return line(e.Namespace, 60)
}

// whose is a namespace in the middle of a sentence.
func whose(namespace string) string {
	if namespace == ports.Base {
		return "the run's own branch"
	}
	return namespace
}

func openedText(o ports.Opened) string {
	if o.Parent == ports.Base {
		return "worktree opened at " + short(o.Base)
	}
	return fmt.Sprintf("worktree opened from %s at %s", o.Parent, short(o.Base))
}

func begunText(b ports.Began) string {
	switch {
	case b.Kind == ports.KindLanding:
		return "begins to land"
	case b.Model != "":
		return "begins with " + string(b.Model)
	}
	return "begins"
}

func gatedText(g ports.Gated) string {
	switch {
	case g.Again:
		return "the build gate has passed on this tree before"
	case g.Verdict.Passed:
		return "the build gate passed"
	case g.Verdict.Note != "":
		return "the build gate failed: " + g.Verdict.Note
	}
	return "the build gate failed"
}

// outputLines is how many lines of a red gate's output are shown.
const outputLines = 10

// outputText is the end of a red gate's output, indented.
func outputText(output string) string {
	var lines []string
	for text := range strings.Lines(output) {
		if text = line(text, 200); text != "" {
			lines = append(lines, "    "+text+"\n")
		}
	}
	return strings.Join(lines[max(0, len(lines)-outputLines):], "")
}

func hitText(h ports.Hit) string {
	text := "recorded already"
	switch h.Record.Kind {
	case ports.KindOpened:
		text = "its worktree is recorded already"
	case ports.KindLanding:
		text = "its landing is recorded already"
	}
	if h.Failed {
		text += ", as failed"
	}
	return text
}

// metText says what a landing has met, and after how many tries.
func metText(m ports.Met) string {
	text := "the merged tree does not build"
	if len(m.Paths) > 0 {
		text = "conflicts in " + pathsText(m.Paths, 5)
	}
	if tries := m.Attempt - 1; tries > 0 {
		return afterTries(tries) + ": " + text
	}
	return text
}

func afterTries(n int) string {
	if n == 1 {
		return "after 1 try"
	}
	return fmt.Sprintf("after %d tries", n)
}

// pathsText names paths and what is wrong with them, the first ones of many.
func pathsText(paths []ports.ConflictPath, most int) string {
	var words []string
	for _, p := range paths[:min(len(paths), most)] {
		words = append(words, fmt.Sprintf("%s (%s)", line(p.Path, 100), p.Kind))
	}
	text := strings.Join(words, ", ")
	if more := len(paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// endedText says what a verb came to; of a landing, after so many tries.
func endedText(r *ports.Record, tries int) string {
	text := "done"
	switch {
	case gaveUp(r):
		why := strings.TrimPrefix(r.Failure.Message, r.Failure.Conflict.Child+" was not landed: ")
		text = "given up"
		if tries > 0 {
			text += " " + afterTries(tries)
		}
		text += ": " + why
	case r.Failure != nil:
		text = "failed: " + r.Failure.Message
	case r.Kind == ports.KindLanding && !r.Landing.Moved():
		text = "nothing new to land"
	case r.Kind == ports.KindLanding && r.Landing.Into != ports.Base:
		text = "landed in " + r.Landing.Into
	case r.Kind == ports.KindLanding:
		text = "landed"
	}
	if r.Usage.Tokens() > 0 && r.Kind != ports.KindLanding { // told when its agents ended
		text += ", " + tokens(r.Usage)
	}
	if commit := made(r); commit != "" {
		text += ", commit " + short(commit)
	}
	return text
}

// gaveUp reports whether a record is of a landing that was given up, by a
// resolver's decision and no failure of its own.
func gaveUp(r *ports.Record) bool {
	return r.Kind == ports.KindLanding && r.Failure != nil && r.Failure.Conflict != nil && r.Failure.Message == r.Failure.Conflict.Error()
}

// made returns the commit that a record put on a branch: its own, or, of a
// landing, its parent's. What an agent left in a conflict is on none.
func made(r *ports.Record) string {
	switch {
	case r.Kind == ports.KindFix:
	case r.Landing.Moved():
		return r.Landing.After
	case r.Moved():
		return r.Head
	}
	return ""
}
