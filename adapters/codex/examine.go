package codex

import (
	"context"
	"time"

	"example.com/agl/internal/examine"
	"example.com/agl/internal/sealed"
	"example.com/agl/ports"
)

var _ ports.Examiner = (*Agent)(nil)

// versions are those of the program that have the channel, and were tested.
var versions = examine.Range{Oldest: "0.171.0", Newest: "0.171.0"}

// Examine looks for the program, and into its version, its channel and its login.
func (a *Agent) Examine(ctx context.Context) ports.Examination { return a.examined().Examine(ctx) }

func (a *Agent) examined() *examine.Program {
	return &examine.Program{
		Program: &a.prog, Named: a.opts.Program != "", Environ: a.prog.Environ(), Range: versions, Login: a.loggedIn,
		Open: examine.Against(a.prog.Environ(), examine.Setting{
			Seal: sealed.Codex,
			Tool: func(name string) string { return name },
			Agent: func(path string, env []string) ports.Agent {
				return New(Options{Program: path, Env: env, Retries: -1, Grace: time.Second})
			},
		}),
	}
}
