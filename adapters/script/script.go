// Package script is an agent that plays a script: no vendor, no network, the
// same every time. It stands in for the real ones in tests, demonstrations and
// when AGL is tried for the first time.
//
// A script is a txtar archive: text with sections, each begun by a line
//
//	-- NAME --
//
// What stands before the first section is a comment. A section says what the
// agent does in the steps of a role:
//
//	-- implementer --
//	activity reading the code
//	write main.go the program
//	usage 1200 300
//	report {"summary": "handle nil"}
//
//	-- reviewer#1 --
//	report {"items": [{"severity": "high", "text": "no test"}]}
//
//	-- reviewer --
//	report {"items": []}
//
//	-- the program --
//	package main
//
// # Which section plays
//
// A section is for a role (ROLE), for the N-th step of a role in its namespace,
// counted from 1 with the replayed ones (ROLE#N; a step that is tried again
// keeps its number), or for either in one
// namespace only (NAMESPACE/ROLE, NAMESPACE/ROLE#N; a run's own namespace is
// _base).
//
// In the conflicts of a landing, N counts the steps that agents take there: the
// first try is ROLE#1, the second ROLE#2, and the next landing begins at 1
// again. ROLE@L is for the L-th landing of a worktree only, counted from 1, and
// ROLE@L#N for the N-th step in it.
//
// Of those that fit, the most specific one plays: NAMESPACE/ROLE@L#N, then
// NAMESPACE/ROLE@L, NAMESPACE/ROLE#N, NAMESPACE/ROLE, and then the same four
// without the namespace. If none fits, the step fails, Unexpected.
//
// # Which sections are files
//
// A section that a write names is a file, and so is one whose name no role can
// have ("the program", "docs/a/b.md"). A name with a dot in it ("main.go") could
// be either: the section is a role's if each of its lines is a command, and
// else a file. Every other section is a role's, and a line in it that is no
// command is an error. So is a section whose name ends in # and something that
// is no number from 1 on.
//
// # Commands
//
// One a line. Blank lines, and lines that begin with #, are skipped. Words are
// divided by white space; where a command ends in "TEXT…" or "COMMAND…", the
// rest of the line is taken as it is, # included. After other commands a
// comment may follow. Paths are relative to the checkout, with slashes, and do
// not lead out of it; they have no white space.
//
//	write PATH SECTION        write a file: the section, byte for byte
//	append PATH TEXT…         add a line to a file, which is made if need be
//	rm PATH                   remove a file, or a folder and all in it
//	exec COMMAND…             run a command line in the checkout, by the shell
//	say TEXT…                 write a text; the last one is the outcome's
//	activity TEXT…            tell what the agent does
//	call TOOL JSON            call a tool of the role
//	report JSON               call the tool that takes the role's report
//	usage INPUT OUTPUT        tokens used; several add up
//	sleep DURATION            wait: 300ms, 2s
//	stop limit                end the turn, cut off by a limit
//	fail KIND TEXT…           end the turn with an error: unavailable,
//	                          unexpected or denied
//	crash                     kill the whole process, by SIGKILL
//
// When the last command is done, the turn is complete. It fails, Unexpected,
// if a file cannot be written or removed, if an exec ends with another status
// than 0, or if the role has no such tool. A tool that rejects its arguments is
// no failure: what it says is told as an activity, as it would be read by a
// model.
//
// A script is not held to the role's restrictions: it is what plays a
// misbehaving agent too. What exec leaves in the background is ended with it,
// unless it has left its session (setsid). Checkouts that are in memory cannot
// be written to.
package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"example.com/agl/ports"
)

var (
	_ ports.Agent    = (*Agent)(nil)
	_ ports.Examiner = (*Agent)(nil)
)

// An Agent plays a script. It may be used by several goroutines at once.
type Agent struct {
	// Env is the environment of the commands that exec runs, "NAME=value"; nil
	// is this process's. They do not get the variables that point git at one
	// repository. It is not changed once the agent runs.
	Env []string

	name  string // of the script, for messages
	roles map[string]section
	names []string // of the sections that belong to roles, in their order
}

// Load returns the agent that plays the script in a file.
func Load(path string) (*Agent, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ports.NotFound.Errorf("", "there is no script %s", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, ports.Denied.Errorf("", "reading the script: %w", err)
	case err != nil:
		return nil, ports.Unavailable.Errorf("", "reading the script: %w", err)
	}
	return Parse(path, data)
}

// Capabilities says that a script can do everything.
func (a *Agent) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return capabilities(), nil
}

func capabilities() ports.Capabilities {
	return ports.Capabilities{
		Tools:   true,
		Enforce: []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite},
	}
}

// Ready says that a script can always be played.
func (a *Agent) Ready(context.Context, ports.Model) error { return nil }

// Examine names the script.
func (a *Agent) Examine(context.Context) ports.Examination {
	return ports.Examination{Findings: []ports.Finding{{
		Name: "script", State: ports.FoundOK, Detail: fmt.Sprintf("%s plays %s", a.name, strings.Join(a.names, ", ")),
	}}}
}

// Run plays the section for the task.
func (a *Agent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	section, ok := a.choose(task)
	if !ok {
		which := fmt.Sprintf("step %d of it in %s", task.Ordinal, task.Namespace)
		if task.Landing > 0 {
			which = fmt.Sprintf("step %d in landing %d of %s", task.Ordinal, task.Landing, task.Namespace)
		}
		return ports.Outcome{}, ports.Unexpected.Errorf("", "no section of %s plays %s, %s; it has: %s",
			a.name, task.Role, which, strings.Join(a.names, ", "))
	}
	t := &turn{task: task, emit: emit, env: a.Env}
	t.outcome.Usage.Complete = true
	for _, c := range section {
		if err := ctx.Err(); err != nil {
			return t.outcome, fmt.Errorf("playing %s:%d: %w", a.name, c.line, err)
		}
		if err := c.do(ctx, t); err != nil {
			return t.outcome, a.located(ctx, c, err)
		}
		if t.outcome.Stop != "" {
			return t.outcome, nil
		}
	}
	t.outcome.Stop = ports.StopCompleted
	return t.outcome, nil
}

// located says where in the script an error came from, unless the script says
// it itself.
func (a *Agent) located(ctx context.Context, c command, err error) error {
	where := fmt.Sprintf("%s:%d", a.name, c.line)
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return fmt.Errorf("playing %s: %w", where, err)
	case ports.KindOf(err) != "":
		return err
	default:
		return ports.Unexpected.Errorf(where, "%w", err)
	}
}

// choose returns the most specific section for a task.
func (a *Agent) choose(task ports.Task) (section, bool) {
	number := "#" + strconv.Itoa(task.Ordinal)
	suffixes := []string{number, ""}
	if task.Landing > 0 {
		landing := "@" + strconv.Itoa(task.Landing)
		suffixes = []string{landing + number, landing, number, ""}
	}
	for _, role := range []string{task.Namespace + "/" + task.Role, task.Role} {
		for _, suffix := range suffixes {
			if s, ok := a.roles[role+suffix]; ok {
				return s, true
			}
		}
	}
	return nil, false
}
