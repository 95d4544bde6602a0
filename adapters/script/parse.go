package script

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"example.com/agl/ports"
)

// A section is the commands of one section for a role.
type section []command

// A command is one line of it.
type command struct {
	line int // in the script, from 1
	do   action
}

// A raw section is one as it stands in the archive.
type rawSection struct {
	name string
	line int // of its first line; the one before has its name
	data []byte
}

// lines returns the section's lines without the white space around them.
func (r rawSection) lines() []string {
	text := strings.TrimSuffix(string(r.data), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

// Parse returns the agent that plays a script; name is what errors call it. A
// script that is not well formed is Invalid, with the line.
func Parse(name string, data []byte) (*Agent, error) {
	raws := split(data)
	files := make(map[string][]byte)
	for i, raw := range raws {
		if j := slices.IndexFunc(raws[:i], func(r rawSection) bool { return r.name == raw.name }); j >= 0 {
			return nil, malformed(name, raw.line-1, fmt.Errorf("section %s is at line %d already", raw.name, raws[j].line-1))
		}
		files[raw.name] = raw.data
	}
	written := writtenSections(raws, files)
	agent := &Agent{name: name, roles: make(map[string]section)}
	for _, raw := range raws {
		if written[raw.name] {
			continue
		}
		kind, err := kindOf(raw.name)
		if err != nil {
			return nil, malformed(name, raw.line-1, err)
		}
		if kind == file {
			continue
		}
		commands, line, err := parseSection(raw, files)
		switch {
		case err == nil:
			agent.roles[raw.name] = commands
			agent.names = append(agent.names, raw.name)
		case kind == role:
			return nil, malformed(name, line, err)
		}
	}
	if len(agent.roles) == 0 {
		return nil, malformed(name, 1, fmt.Errorf("no section for a role; one begins with a line %q", "-- ROLE --"))
	}
	return agent, nil
}

func malformed(name string, line int, err error) error {
	return ports.Invalid.Errorf("", "%s:%d: %w", name, line, err)
}

// split returns the archive's sections in order.
func split(data []byte) []rawSection {
	archive := txtar.Parse(bytes.TrimPrefix(data, []byte("\ufeff")))
	line := 1 + bytes.Count(archive.Comment, []byte("\n"))
	raws := make([]rawSection, len(archive.Files))
	for i, f := range archive.Files {
		raws[i] = rawSection{name: f.Name, line: line + 1, data: f.Data}
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	return raws
}

// writtenSections returns the sections that some write in a section for a role
// names. Where that section may be a file, it is one if any line is no command.
func writtenSections(raws []rawSection, files map[string][]byte) map[string]bool {
	written := make(map[string]bool)
	for _, raw := range raws {
		kind, err := kindOf(raw.name)
		if kind == either {
			_, _, err = parseSection(raw, files)
		}
		if kind == file || err != nil {
			continue
		}
		for _, line := range raw.lines() {
			if word, rest := cut(line); word == "write" {
				_, name := cut(rest)
				written[uncomment(name)] = true
			}
		}
	}
	return written
}

// A kind says what a section's name makes of it.
type kind int

const (
	role kind = iota
	file
	either // a role's, if each line is a command
)

// kindOf tells by its name what a section is that no write names.
func kindOf(name string) (kind, error) {
	base, number, numbered := strings.Cut(name, "#")
	if before, landing, found := strings.Cut(base, "@"); found {
		if !isOrdinal(landing) {
			return file, nil
		}
		base = before
	}
	parts := strings.Split(base, "/")
	if len(parts) > 2 || len(parts) == 2 && parts[0] != ports.Base && ports.CheckName("", parts[0]) != nil ||
		ports.CheckName("", parts[len(parts)-1]) != nil {
		return file, nil
	}
	if !numbered {
		if strings.Contains(base, ".") {
			return either, nil
		}
		return role, nil
	}
	if !isOrdinal(number) {
		return role, fmt.Errorf("section %s: steps of a role are numbered from 1: %s#1", name, base)
	}
	return role, nil
}

// isOrdinal reports whether s is a number from 1 on.
func isOrdinal(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && strconv.Itoa(n) == s
}

// parseSection returns the section's commands, or the first line that is none.
func parseSection(raw rawSection, files map[string][]byte) (commands section, line int, err error) {
	for i, text := range raw.lines() {
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		line := raw.line + i
		do, err := parseCommand(text, files)
		if err != nil {
			return nil, line, fmt.Errorf("in section %s: %w", raw.name, err)
		}
		commands = append(commands, command{line: line, do: do})
	}
	return commands, 0, nil
}

// cut divides a line after its first word.
func cut(line string) (word, rest string) {
	i := strings.IndexFunc(line, isSpace)
	if i < 0 {
		return line, ""
	}
	return line[:i], strings.TrimLeftFunc(line[i:], isSpace)
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\r' }

// uncomment returns a line without the comment at its end.
func uncomment(line string) string {
	for i := range line {
		if line[i] == '#' && (i == 0 || isSpace(rune(line[i-1]))) {
			return strings.TrimRightFunc(line[:i], isSpace)
		}
	}
	return line
}
