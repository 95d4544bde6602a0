package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"time"

	"example.com/agl/internal/instructions"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

var _ ports.Agent = (*Agent)(nil)

// Options say how the program is run. The zero value runs the claude that is on
// the PATH as its user has set it up.
type Options struct {
	Program string   // its path, or a name to be found on the PATH of Env; "" for "claude"
	Env     []string // its environment, "NAME=value"; nil is this process's

	Instructions ports.Instructions // "" gives it none but the task's

	Idle    time.Duration // how long it may write nothing while no tool of the role's runs; 0 for DefaultIdle
	Retries int           // of a request that failed; 0 for DefaultRetries, negative for none
	Grace   time.Duration // how long it may take to end; 0 for proc.DefaultGrace
}

// DefaultIdle is how long the program may write nothing.
const DefaultIdle = 10 * time.Minute

// DefaultRetries is how often a failed request is made again: the waits between
// them are 0.5, 1, 2, 4 and 8 seconds.
const DefaultRetries = 5

// MaxPrompt is how long the instructions may be, in bytes.
const MaxPrompt = 10 << 20

// An Agent runs turns with Claude Code. It may be used by several goroutines.
type Agent struct {
	opts Options
	prog vendorprog.Program
}

// New returns an Agent.
func New(opts Options) *Agent {
	return &Agent{opts: opts, prog: vendorprog.Program{
		Op: op, Name: cmp.Or(opts.Program, "claude"), Install: "npm install -g @anthropic-ai/claude-code", Env: opts.Env, Outer: outer,
	}}
}

func (a *Agent) idle() time.Duration  { return cmp.Or(a.opts.Idle, DefaultIdle) }
func (a *Agent) grace() time.Duration { return cmp.Or(a.opts.Grace, proc.DefaultGrace) }
func (a *Agent) retries() int         { return max(0, cmp.Or(a.opts.Retries, DefaultRetries)) }

// Capabilities says that every restriction is held to, some by taking the shell
// away.
func (a *Agent) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{
		Tools:   true,
		Enforce: []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite},
	}, nil
}

// Ready refuses a program that is too old for the channel, and asks it whether it
// is logged in, which asks no service.
func (a *Agent) Ready(ctx context.Context, _ ports.Model) error {
	if err := instructions.Check(a.opts.Instructions); err != nil {
		return err
	}
	program, err := a.prog.Find()
	if err != nil {
		return a.prog.Unstarted(ctx, err)
	}
	limit := min(a.idle(), vendorprog.Readiness)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = a.examined().Ready(limited, program)
	if err == nil {
		err = a.loggedIn(limited, program)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return ports.Unavailable.Errorf(op, "%s does not say whether it is logged in: it did not answer within %v", a.prog.Name, limit)
	}
	return err
}

// loggedIn says, as an error, why nobody is logged in. The program is asked in an
// empty folder, in which nothing configures it.
func (a *Agent) loggedIn(ctx context.Context, program string) error {
	dir, err := os.MkdirTemp("", "agl-claude-")
	if err != nil {
		return ports.Unavailable.Errorf(op, "making a folder for it: %w", err)
	}
	defer os.RemoveAll(dir)
	var out, errs proc.Tail
	exit, err := (&proc.Cmd{
		Args: []string{program, "--setting-sources=", "auth", "status"}, Dir: dir, Env: a.environ(), Stdout: &out, Stderr: &errs, Grace: a.opts.Grace,
	}).Run(ctx)
	if err != nil {
		return a.prog.Unstarted(ctx, err)
	}
	var status struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	switch err := json.Unmarshal([]byte(out.String()), &status); {
	case err != nil || status.LoggedIn == nil:
		return ports.Unavailable.Errorf(op, "%s does not say whether it is logged in (%v: %s); AGL works with version %s and later",
			a.prog.Name, exit, vendorprog.Quote(cmp.Or(errs.String(), out.String())), versions.Oldest)
	case !*status.LoggedIn:
		return ports.Unavailable.Errorf(op, "nobody is logged in; run %q, or set ANTHROPIC_API_KEY", a.prog.Name+" auth login")
	}
	return nil
}

// op is what all errors begin with.
const op = "Claude Code"
