package codex

import (
	"cmp"
	"context"
	"sync"
	"time"

	"example.com/agl/internal/instructions"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

var _ ports.Agent = (*Agent)(nil)

// Options say how the program is run. The zero value runs the codex that is on
// the PATH, with the login of its user.
type Options struct {
	Program string   // its path, or a name to be found on the PATH of Env; "" for "codex"
	Env     []string // its environment, "NAME=value"; nil is this process's

	Instructions ports.Instructions // "" gives it none but the task's

	Idle    time.Duration // how long it may tell of nothing while no tool of the role's runs; 0 for DefaultIdle
	Retries int           // of a request that failed, and of a stream that broke; 0 for DefaultRetries, negative for none
	Grace   time.Duration // how long it may take to end; 0 for proc.DefaultGrace
}

// DefaultIdle is how long the program may tell of nothing.
const DefaultIdle = 10 * time.Minute

// DefaultRetries is how often a failed request is made again: the waits between
// them are 0.2, 0.4 and 0.8 seconds, and once more of that for a stream.
const DefaultRetries = 3

// MaxPrompt is how long the instructions may be, in characters.
const MaxPrompt = 1 << 20

// An Agent runs turns with Codex. It may be used by several goroutines.
type Agent struct {
	opts Options
	prog vendorprog.Program

	asking chan struct{} // holds something while one turn asks for the others

	mu    sync.Mutex
	known *service // what the user's configuration says, once it was read
}

// New returns an Agent.
func New(opts Options) *Agent {
	return &Agent{opts: opts, asking: make(chan struct{}, 1), prog: vendorprog.Program{
		Op: op, Name: cmp.Or(opts.Program, "codex"), Install: "npm install -g @openai/codex", Env: opts.Env, Outer: outer,
	}}
}

func (a *Agent) idle() time.Duration  { return cmp.Or(a.opts.Idle, DefaultIdle) }
func (a *Agent) grace() time.Duration { return cmp.Or(a.opts.Grace, proc.DefaultGrace) }
func (a *Agent) retries() int         { return max(0, cmp.Or(a.opts.Retries, DefaultRetries)) }

// op is what all errors begin with.
const op = "Codex"

// Capabilities says that every restriction is held to: by Codex's sandbox, where
// that works (Linux and macOS), and by taking tools away.
func (a *Agent) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{Tools: true, Enforce: enforced()}, nil
}

// Ready refuses a program that is too old for the channel, and asks it which
// service it would speak to, and whether somebody is logged in there. It asks no
// service.
func (a *Agent) Ready(ctx context.Context, _ ports.Model) error {
	if err := instructions.Check(a.opts.Instructions); err != nil {
		return err
	}
	program, err := a.prog.Find()
	if err != nil {
		return a.prog.Unstarted(ctx, err)
	}
	if err := a.examined().Ready(ctx, program); err != nil {
		return err
	}
	return a.loggedIn(ctx, program)
}

// loggedIn says, as an error, why the service would not know who asks.
func (a *Agent) loggedIn(ctx context.Context, program string) error {
	s, err := a.ask(ctx, program)
	if err != nil {
		return err
	}
	return s.ready(a)
}
