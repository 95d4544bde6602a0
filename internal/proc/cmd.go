package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// DefaultGrace is how long a process that was asked to end has to do so.
const DefaultGrace = 5 * time.Second

// drain bounds the wait for output once the whole group is gone: what is in
// the pipe is read in no time, and only a process that left the group can hold
// it open.
const drain = 500 * time.Millisecond

// A Cmd is a program to be run.
type Cmd struct {
	Args  []string // the program and its arguments
	Shell string   // instead of Args: a command line for the system's shell
	Dir   string   // where it runs; this process's own directory if empty
	Env   []string // its whole environment; nil for Environ(nil)

	Stdin  io.Reader // nil: there is nothing to read
	Stdout io.Writer // nil: thrown away
	Stderr io.Writer // nil: thrown away; the same as Stdout: both in one stream

	Files []*os.File    // inherited, as descriptors from 3 on
	Grace time.Duration // between SIGTERM and SIGKILL; 0 for DefaultGrace

	// Mark is an entry of Env ("NAME=value") that no other program has. With it,
	// on Linux, the program and all it started end within a second of this
	// process's death, by whatever that comes: they are found by the group and by
	// the mark. Elsewhere they are left.
	Mark string
}

// Run runs the program to its end and returns how it ended; then none of its
// group is left. The error is about what is not the program's doing: it could
// not be started, its output could not be written to where the caller wants
// it, or ctx ended, in which case the error is ctx.Err() however the program
// took it.
//
// Writers are called by one goroutine each. A Stdin whose Read never returns
// keeps a goroutine: close it when Run has returned.
func (c *Cmd) Run(ctx context.Context) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	cmd, streams, err := c.start()
	if err != nil {
		return Exit{}, err
	}
	defer c.watch(cmd.Process.Pid)()
	group := &group{leader: cmd.Process, grace: c.Grace}
	if group.grace <= 0 {
		group.grace = DefaultGrace
	}

	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
		return c.ended(cmd, group, streams, err)
	case <-ctx.Done():
	}
	group.terminate()
	select {
	case <-done:
	case <-time.After(group.grace):
		group.kill()
		<-done
	}
	group.end()
	_ = streams.close()
	return exitOf(cmd.ProcessState), ctx.Err()
}

// ended settles what is left of a program that ended by itself.
func (c *Cmd) ended(cmd *exec.Cmd, group *group, streams *streams, err error) (Exit, error) {
	exit := exitOf(cmd.ProcessState)
	exit.Left = group.end()
	outErr := streams.close()
	if exitErr := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exitErr) {
		return exit, fmt.Errorf("waiting for %s: %w", c.name(), err)
	}
	if outErr != nil {
		return exit, fmt.Errorf("passing on the output of %s: %w", c.name(), outErr)
	}
	return exit, nil
}

func (c *Cmd) start() (*exec.Cmd, *streams, error) {
	var cmd *exec.Cmd
	switch {
	case c.Shell != "":
		cmd = shellCommand(c.Shell)
	case len(c.Args) > 0:
		cmd = exec.Command(c.Args[0], c.Args[1:]...)
	default:
		return nil, nil, errors.New("no program to run")
	}
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = Environ(nil)
	}
	if c.Dir != "" {
		// Programs believe PWD where it names the directory they are in.
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "PWD="+c.Dir)
	}
	cmd.ExtraFiles = c.Files
	detach(cmd)

	streams := new(streams)
	if err := streams.connect(cmd, c); err != nil {
		streams.abandon()
		return nil, nil, fmt.Errorf("starting %s: %w", c.name(), err)
	}
	if err := c.begin(cmd); err != nil {
		streams.abandon()
		if c.Dir != "" { // os/exec blames the program for a missing directory
			if _, statErr := os.Stat(c.Dir); statErr != nil {
				err = statErr
			}
		}
		return nil, nil, fmt.Errorf("starting %s: %w", c.name(), err)
	}
	streams.begin()
	return cmd, streams, nil
}

// name is the program, for messages.
func (c *Cmd) name() string {
	if c.Shell != "" {
		return "the shell"
	}
	return c.Args[0]
}
