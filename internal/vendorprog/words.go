package vendorprog

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"example.com/agl/ports"
)

// Quote shortens what a program or a service said.
func Quote(text string) string {
	if text = ports.Printable(strings.TrimSpace(text)); text == "" {
		return "it says nothing"
	}
	return ports.Clip(text, 500)
}

// Word is a name or an id of a program's as it may stand in messages and records:
// short, and on one line.
func Word(name string) string { return ports.Clip(ports.Printable(strings.TrimSpace(name)), 200) }

// Reset is the end of a limit, told in seconds since 1970: zero if that is no time
// that there can be, or none that a record can hold.
func Reset(seconds float64) time.Time {
	if seconds < 1 || seconds >= maxReset || seconds != seconds {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// maxReset is the end of the last year that has four digits.
const maxReset = 253402300800

// activitySize is how long an activity may be, in bytes.
const activitySize = 300

// Activity is the event of what the agent does, in the vendor's words.
func Activity(text string) ports.AgentEvent {
	return ports.AgentEvent{Kind: ports.AgentActivity, Text: ports.Clip(ports.Printable(text), activitySize)}
}

// Deed is the Activity of a call of a tool: its name, and its argument without
// the path of the checkout.
func Deed(name, arg, dir string) ports.AgentEvent {
	if dir != "" {
		arg = strings.ReplaceAll(arg, dir+string(filepath.Separator), "")
	}
	if arg != "" {
		name += " " + arg
	}
	return Activity(name)
}

// FirstArgument returns the first value of an object, a string as it is.
func FirstArgument(input json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(input)))
	for range 2 { // the brace, and the first name
		if _, err := dec.Token(); err != nil {
			return ""
		}
	}
	var value json.RawMessage
	if dec.Decode(&value) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// Situation says to the agent in words where it is, and what is enforced.
func Situation(restrictions []ports.Restriction) string {
	lines := []string{"You work unattended, in the git worktree that is your working directory. Nobody reads what you write while you work, and nobody can approve anything."}
	for _, r := range restrictions {
		switch r {
		case ports.NoWrite:
			lines = append(lines, "You are held to reading: change no file.")
		case ports.NoShell:
			lines = append(lines, "Run no commands.")
		case ports.NoNetwork:
			lines = append(lines, "Reach no network.")
		case ports.NoVCS:
			lines = append(lines, "Leave version control alone: no commits, no branches, no stashes.")
		}
	}
	return strings.Join(lines, "\n")
}
