package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"example.com/agl"
	"example.com/agl/ports"
)

// A Program is a command line for workflows.
type Program struct {
	Name      string                 // as a person types it; "" is the name of the executable
	Version   string                 // "" is what the executable was built from
	Workflows []agl.Definition       // what run can start and resume can go on with
	Agents    map[string]ports.Agent // further agents, by provider
}

// exitCancelled is the exit code of a command whose context was cancelled:
// that of a process that SIGINT ended, as a shell shows it.
const exitCancelled = 130

// Main runs the program on the process's arguments and streams, and ends the
// process. The first SIGINT, SIGTERM or SIGHUP stops a run in order: agents
// are ended, what is under way is recorded or put back; then the process dies
// of that signal, so that a shell's loop stops too. A second one ends it at
// once, and the next resume does the rest.
func (p Program) Main() {
	screen := &screen{stderr: lastingStderr()}
	ctx, stopped := onSignals(context.Background(), screen)
	code := p.run(ctx, os.Args[1:], os.Stdin, os.Stdout, screen)
	stopped()
	os.Exit(code)
}

// Run runs the program on args, without the program's own name, and returns
// its exit code. It neither ends the process nor handles signals: cancel ctx
// to stop a run in order.
//
// Nobody is asked anything where stdin and stderr are no *os.File of a terminal.
func (p Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return p.run(ctx, args, stdin, stdout, &screen{stderr: stderr})
}

func (p Program) run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, screen *screen) int {
	p.Name = cmp.Or(p.Name, executable())
	if len(args) > 0 && args[0] == completeCommand {
		p.complete(ctx, args[1:], stdout)
		return 0
	}
	s := &session{program: p, stdin: stdin, stdout: stdout, stderr: screen, screen: screen}
	err := s.command(ctx, args)
	if err == nil {
		return 0
	}
	s.report(err)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) && agl.KindOf(err) == "" {
		return exitCancelled
	}
	return agl.ExitCode(err)
}

func executable() string {
	if path, err := os.Executable(); err == nil {
		return filepath.Base(path)
	}
	return "agl"
}

// A session is one call of the program.
type session struct {
	program        Program
	grammar        *grammar
	globals        globals // as args gave them
	stdin          io.Reader
	stdout, stderr io.Writer
	screen         *screen // what stderr writes to
}

// command parses args and runs the command they name.
func (s *session) command(ctx context.Context, args []string) error {
	s.grammar = newGrammar(s.program)
	s.globals.JSON = hasJSON(args) // for the errors of parsing itself
	cmd, err := s.grammar.parse(args, s.stdout)
	if err != nil || cmd == nil {
		return err
	}
	s.globals = s.grammar.Globals
	return cmd.run(ctx, s)
}

// A command is what a grammar's node does.
type command interface {
	run(ctx context.Context, s *session) error
}
