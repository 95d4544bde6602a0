package copilot

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"example.com/agl/internal/instructions"
	"example.com/agl/internal/jsonrpc"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

var _ ports.Agent = (*Agent)(nil)

// Options say how the program is run. The zero value runs the copilot that is on
// the PATH as its user has set it up.
type Options struct {
	Program string   // its path, or a name to be found on the PATH of Env; "" for "copilot"
	Env     []string // its environment, "NAME=value"; nil is this process's

	// Instructions "repository" gives the agent the checkout's own
	// .github/copilot-instructions.md and AGENTS.md, read by AGL; "" none but the task's.
	Instructions ports.Instructions

	Idle    time.Duration // how long it may write nothing while no tool of the role's runs, twice as long while one of its own does; 0 for DefaultIdle
	Retries int           // of a request that failed; 0 for DefaultRetries, negative for none
	Grace   time.Duration // how long it may take to end; 0 for proc.DefaultGrace
}

// DefaultIdle is how long the program may write nothing.
const DefaultIdle = 10 * time.Minute

// DefaultRetries is how often a failed request is made again: the waits between
// them are 1, 2 and 4 seconds where the service is not there. The program itself
// never makes one more than five times again.
const DefaultRetries = 3

// MaxPrompt is how long the instructions may be, in bytes. The program says of a
// longer one that it is more than any model takes, after minutes.
const MaxPrompt = 4 << 20

// An Agent runs turns with the Copilot CLI. It may be used by several goroutines.
type Agent struct {
	opts    Options
	program vendorprog.Program
}

// New returns an Agent.
func New(opts Options) *Agent {
	return &Agent{opts: opts, program: vendorprog.Program{
		Op: op, Name: cmp.Or(opts.Program, "copilot"), Install: "npm install -g @github/copilot", Env: opts.Env, Outer: outer,
	}}
}

func (a *Agent) idle() time.Duration  { return cmp.Or(a.opts.Idle, DefaultIdle) }
func (a *Agent) grace() time.Duration { return cmp.Or(a.opts.Grace, proc.DefaultGrace) }
func (a *Agent) retries() int         { return max(0, cmp.Or(a.opts.Retries, DefaultRetries)) }

// op is what all errors begin with.
const op = "Copilot"

// Capabilities says that every restriction is held to, each by taking the shell
// away.
func (a *Agent) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{
		Tools:   true,
		Enforce: []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite},
	}, nil
}

// Ready refuses a program that is too old for the channel, and asks it whether it
// is logged in, which runs no model. Where a provider is configured that is not
// GitHub, its key is not asked for before the first request.
func (a *Agent) Ready(ctx context.Context, model ports.Model) error {
	if err := instructions.Check(a.opts.Instructions); err != nil {
		return err
	}
	program, err := a.program.Find()
	if err != nil {
		return a.program.Unstarted(ctx, err)
	}
	return a.loggedIn(ctx, program, model)
}

// loggedIn says, as an error, why nobody is logged in, or that the program does
// not speak AGL's channel.
func (a *Agent) loggedIn(ctx context.Context, program string, model ports.Model) error {
	limited, cancel := context.WithTimeout(ctx, min(a.idle(), vendorprog.Readiness))
	defer cancel()
	env := a.environ(model)
	dir, err := os.MkdirTemp("", "agl-copilot-") // it is nobody's checkout that this is about
	if err != nil {
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	defer os.RemoveAll(dir)
	run := vendorprog.Start(&proc.Cmd{Args: append([]string{program}, arguments...), Dir: dir, Env: env, Grace: a.opts.Grace})
	conn := jsonrpc.New(ctx, run.Stdout, run.Stdin, jsonrpc.Options{Framing: jsonrpc.Headers(0), Prefix: ids})
	defer conn.Close()
	defer run.End()

	var about struct {
		Version string `json:"version"`
	}
	var status struct {
		LoggedIn *bool  `json:"isAuthenticated"`
		Says     string `json:"statusMessage"`
	}
	if conn.Call(limited, "status.get", fields{}, &about) == nil { // if it is not told, a turn goes wrong, and not unseen
		if err := a.examined().Refuse(about.Version); err != nil {
			return err
		}
	}
	err = conn.Call(limited, "auth.getStatus", fields{}, &status)
	switch {
	case ctx.Err() != nil:
		return a.program.Cancelled(ctx)
	case errors.Is(err, jsonrpc.ErrEnded):
		run.End() // it may have closed its output alone
		if _, err := run.Exit(); err != nil && !errors.Is(err, context.Canceled) {
			return a.program.Unstarted(ctx, err)
		}
		return a.mute(run)
	case err != nil || status.LoggedIn == nil:
		return ports.Unavailable.Errorf(op, "%s does not say whether it is logged in (%v); AGL works with version %s and later", a.program.Name, err, versions.Oldest)
	case !*status.LoggedIn && providerOf(env) == nil:
		return ports.Unavailable.Errorf(op, "nobody is logged in (%s); %s", vendorprog.Quote(status.Says), a.login())
	}
	return nil
}

// mute is the error of a program that ended before it had answered at all.
func (a *Agent) mute(run *vendorprog.Process) error {
	exit, _ := run.Exit()
	return ports.Unavailable.Errorf(op, "%s does not speak with AGL (%v): %s; AGL works with version %s and later", a.program.Name, exit, vendorprog.Quote(run.Stderr.String()), versions.Oldest)
}

// login says how one logs in.
func (a *Agent) login() string {
	return "run \"" + a.program.Name + " login\", or set COPILOT_GITHUB_TOKEN"
}
