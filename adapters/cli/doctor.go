package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/agl/adapters/local"
	"example.com/agl/ports"
)

type doctorCmd struct {
	Agents  []string      `arg:"" optional:"" name:"agent" help:"Those that have to be usable; all by default, where one is enough."`
	Timeout time.Duration `default:"30s" placeholder:"DURATION" help:"How long each may take."`
}

// run answers with what was found, and fails, Unavailable, if something is a
// problem. An agent that is not installed is none, unless it was named or there
// is no other.
func (c *doctorCmd) run(ctx context.Context, s *session) error {
	if c.Timeout <= 0 {
		return ports.Invalid.Errorf("", "--timeout=%s is not more than nothing", c.Timeout)
	}
	opts := s.options()
	in, reads := s.stdin.(*os.File)
	out, writes := s.screen.stderr.(*os.File)
	if reads && writes {
		opts.Person = &local.Person{In: in, Out: out}
	}
	d, err := local.Examine(ctx, opts, c.Agents, c.Timeout)
	if err != nil {
		return err
	}
	problems := c.problems(d)
	if s.globals.JSON {
		err = s.answer(doctorJSON(d, len(problems) == 0))
	} else {
		err = s.print("%s", doctorText(d, s.paint()))
	}
	if err == nil && problems != nil {
		err = ports.Unavailable.Errorf("", "not all is well: %s", strings.Join(problems, "; "))
	}
	return err
}

// problems names what keeps runs from working.
func (c *doctorCmd) problems(d local.Diagnosis) (problems []string) {
	for _, f := range d.Machine {
		if f.State == ports.FoundProblem {
			problems = append(problems, f.Name)
		}
	}
	usable := false
	for _, a := range d.Agents {
		usable = usable || a.Usable()
		for _, f := range a.Findings {
			if f.State == ports.FoundProblem || f.State == ports.FoundAbsent && c.Agents != nil {
				problems = append(problems, agentName(a)+" "+f.Name)
			}
		}
	}
	if !usable && c.Agents == nil {
		problems = append(problems, "no agent can be used")
	}
	return problems
}

// agentName names the agent that stands in for all as what it is.
func agentName(a local.ExaminedAgent) string {
	if a.Name == ports.AnyProvider {
		return "any"
	}
	return a.Name
}

func doctorJSON(d local.Diagnosis, ok bool) doctorAnswer {
	answer := doctorAnswer{OK: ok, Machine: findingsJSON(d.Machine)}
	for _, a := range d.Agents {
		answer.Agents = append(answer.Agents, agentObject{
			Name: a.Name, Usable: a.Usable(), Program: a.Program, Version: a.Version, Supported: a.Supported,
			Tools: a.Tools, Enforces: a.Enforce, Findings: findingsJSON(a.Findings),
		})
	}
	return answer
}

func findingsJSON(found []ports.Finding) (list []findingObject) {
	for _, f := range found {
		list = append(list, findingObject(f))
	}
	return list
}

// The columns of doctor's table, which is for a terminal of 80.
const (
	nameColumn  = 14
	stateColumn = 9
	doctorWidth = 80
)

// doctorText is the table: a block for the machine and one for each agent.
func doctorText(d local.Diagnosis, paint painter) string {
	var b strings.Builder
	for _, f := range d.Machine {
		writeFinding(&b, f, paint)
	}
	for _, a := range d.Agents {
		fmt.Fprintf(&b, "\n%s\n", line(agentName(a), doctorWidth))
		for _, f := range a.Findings {
			f.Name = "  " + f.Name
			writeFinding(&b, f, paint)
		}
		if a.Program != "" || !slices.ContainsFunc(a.Findings, func(f ports.Finding) bool { return f.Name == "program" }) {
			writeRow(&b, "  enforces", "", enforces(a.Capabilities))
		}
	}
	return b.String()
}

func writeFinding(b *strings.Builder, f ports.Finding, paint painter) {
	state := string(f.State)
	colour := map[ports.FindingState]string{ports.FoundOK: green, ports.FoundWarning: yellow, ports.FoundProblem: red}[f.State]
	if padding := strings.Repeat(" ", max(0, stateColumn-len(state))); colour != "" {
		state = paint.in(colour, state) + padding
	} else {
		state += padding
	}
	writeRow(b, f.Name, state, f.Detail)
	if f.Fix != "" {
		writeRow(b, "", "", "fix: "+f.Fix)
	}
}

// writeRow writes a row, whose last column is wrapped. The state, which may be
// coloured, is as wide as its column, or empty.
func writeRow(b *strings.Builder, name, state, text string) {
	indent := strings.Repeat(" ", nameColumn+stateColumn)
	if state == "" {
		state = indent[:stateColumn]
	}
	under := name[:len(name)-len(strings.TrimLeft(name, " "))]
	name = under + line(name, nameColumn-2-len(under)) // with room for an ellipsis and a blank
	first := fmt.Sprintf("%-*s%s", nameColumn, name, state)
	for i, part := range wrap(ports.Clip(ports.Printable(text), errorLimit), doctorWidth-nameColumn-stateColumn) {
		if i > 0 {
			first = indent
		}
		b.WriteString(strings.TrimRight(first+part, " ") + "\n")
	}
}

// wrap breaks a text at its blanks into lines of so many characters. A word that
// is longer than that has a line of its own: a path can be taken as a whole.
func wrap(text string, width int) []string {
	lines, wide := []string{""}, 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		last := len(lines) - 1
		switch {
		case lines[last] == "":
			lines[last], wide = word, n
		case wide+1+n <= width:
			lines[last], wide = lines[last]+" "+word, wide+1+n
		default:
			lines, wide = append(lines, word), n
		}
	}
	return lines
}

// enforces says which restrictions an agent can hold to, and which not.
func enforces(c ports.Capabilities) string {
	var can, not []string
	for _, r := range []ports.Restriction{ports.NoWrite, ports.NoShell, ports.NoNetwork, ports.NoVCS} {
		if slices.Contains(c.Enforce, r) {
			can = append(can, string(r))
		} else {
			not = append(not, string(r))
		}
	}
	text := strings.Join(can, ", ")
	if can == nil {
		text = "nothing"
	}
	if not != nil {
		text += "; not " + strings.Join(not, ", ")
	}
	if !c.Tools {
		text += "; and has no tools"
	}
	return text
}
