package local

import (
	"context"
	"maps"
	"time"

	"example.com/agl/adapters/files"
	"example.com/agl/adapters/git"
	"example.com/agl/adapters/script"
	"example.com/agl/adapters/shell"
	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// New returns every port for one repository of this machine. It writes
// nothing. What is wrong with the settings is Invalid, one line each.
func New(ctx context.Context, opts Options) (ports.Set, error) {
	p, err := Find(ctx, opts)
	if err != nil {
		return ports.Set{}, err
	}
	agents, err := agents(opts)
	if err != nil {
		return ports.Set{}, err
	}
	repo, err := git.Open(ctx, git.Options{Repo: opts.where(), Trees: p.Trees, SalvageDir: p.salvage(), Env: opts.Env})
	if err != nil {
		return ports.Set{}, err
	}
	return ports.Set{
		Store:      files.New(p.Home, p.Name),
		Workspaces: repo,
		Integrator: repo.Integrator(),
		History:    repo,
		Verifier:   shell.New(shell.Options{Command: p.Build, Timeout: p.BuildTimeout, Env: opts.Env}),
		Clock:      clock{},
		Reaper:     proc.Reaper{},
		Agents:     agents,
	}, nil
}

// agents returns the agents by provider. A script stands in for all of them.
func agents(opts Options) (map[string]ports.Agent, error) {
	if opts.Script != "" {
		agent, err := script.Load(opts.Script)
		if err != nil {
			return nil, err
		}
		agent.Env = opts.Env
		return map[string]ports.Agent{ports.AnyProvider: agent}, nil
	}
	agents := map[string]ports.Agent{"script": script.Missing()}
	maps.Copy(agents, opts.Agents)
	return agents, nil
}

// clock is the system's.
type clock struct{}

var _ ports.Clock = clock{}

func (clock) Now() time.Time { return time.Now() }
