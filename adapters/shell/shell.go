// Package shell runs a project's build gate: a command line, by the system's
// shell (sh -c, or cmd /C on Windows), in the checkout.
//
// The command has nothing to read and no terminal to ask at. It does not get
// the variables by which git is pointed at another repository, so a gate that
// calls git sees the checkout it runs in. What it leaves in the background is
// ended when it is done: SIGTERM, and after five seconds SIGKILL, to its whole
// process group.
//
// A gate is passed if the shell ends with status 0, in time. Everything else
// that a command can do is a failed [ports.Verdict], also a status of 126 or
// 127, by which the shell says that it found nothing to run: what a project's
// build needs is the project's affair.
package shell

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

var _ ports.Verifier = (*Verifier)(nil)

// DefaultTimeout is how long a gate may take if nothing else is said.
const DefaultTimeout = 10 * time.Minute

// Options say what a gate runs.
type Options struct {
	Command string        // a line for the shell; empty if there is no gate
	Timeout time.Duration // 0 for DefaultTimeout
	Env     []string      // "NAME=value": what the gate's environment is made of; nil: this process's
}

// A Verifier runs a build gate. It may be used by several goroutines at once.
type Verifier struct{ opts Options }

// New returns the gate that opts describe.
func New(opts Options) *Verifier {
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	opts.Env = slices.Clone(opts.Env)
	return &Verifier{opts: opts}
}

// Gate returns the command and its timeout.
func (v *Verifier) Gate() ports.Gate {
	return ports.Gate{Command: v.opts.Command, Timeout: v.opts.Timeout}
}

// Verify runs the gate in task.Dir. A verdict's Output is what the command
// wrote to both streams, its last 64 KiB; its Note says how the command ended,
// if not with status 0 and nothing left behind.
func (v *Verifier) Verify(ctx context.Context, task ports.VerifyTask) (ports.Verdict, error) {
	op := fmt.Sprintf("run the build gate %q", v.opts.Command)
	switch {
	case v.opts.Command == "":
		return ports.Verdict{}, ports.Invalid.Errorf("", "this project has no build gate; configure its build command")
	case task.Dir == "":
		return ports.Verdict{}, ports.Unavailable.Errorf(op, "the checkout is in memory, a shell needs one on disk")
	case !filepath.IsAbs(task.Dir):
		return ports.Verdict{}, ports.Invalid.Errorf(op, "the checkout %q is not an absolute path", task.Dir)
	}
	timed, cancel := context.WithTimeout(ctx, v.opts.Timeout)
	defer cancel()
	var output proc.Tail
	began := time.Now()
	exit, err := (&proc.Cmd{
		Shell:  v.opts.Command,
		Dir:    task.Dir,
		Env:    proc.Environ(v.opts.Env, task.Env...),
		Stdout: &output,
		Stderr: &output,
	}).Run(timed)
	verdict := ports.Verdict{Output: output.String(), Command: v.opts.Command, Took: time.Since(began)}
	switch {
	case err == nil:
		verdict.Passed = exit.OK()
		verdict.Note = note(exit)
		return verdict, nil
	case ctx.Err() != nil:
		return ports.Verdict{}, fmt.Errorf("%s: %w", op, ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		verdict.Note = fmt.Sprintf("ended after %v (timeout)", v.opts.Timeout)
		return verdict, nil
	default:
		return ports.Verdict{}, ports.Unavailable.Errorf(op, "%w", err)
	}
}

func note(exit proc.Exit) string {
	switch {
	case !exit.OK() && exit.Left:
		return exit.String() + "; it left processes in the background, which were ended"
	case !exit.OK():
		return exit.String()
	case exit.Left:
		return "it left processes in the background, which were ended"
	}
	return ""
}
