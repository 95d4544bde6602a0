package local

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"example.com/agl/adapters/claude"
	"example.com/agl/adapters/codex"
	"example.com/agl/adapters/copilot"
	"example.com/agl/adapters/files"
	"example.com/agl/adapters/git"
	"example.com/agl/adapters/script"
	"example.com/agl/adapters/shell"
	"example.com/agl/adapters/terminal"
	"example.com/agl/internal/instructions"
	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// New returns every port for one repository of this machine. It writes
// nothing. What is wrong with the settings is Invalid, one line each.
func New(ctx context.Context, opts Options) (ports.Set, error) {
	agents, err := agents(opts)
	if err != nil {
		return ports.Set{}, err
	}
	p, err := Find(ctx, opts)
	if err != nil {
		return ports.Set{}, err
	}
	repo, err := git.Open(ctx, git.Options{Repo: opts.where(), Trees: p.Trees, SalvageDir: p.salvage(), Env: opts.Env})
	if err != nil {
		return ports.Set{}, err
	}
	set := ports.Set{
		Store:      files.New(p.Home, p.Name),
		Workspaces: repo,
		Integrator: repo.Integrator(),
		History:    repo,
		Verifier:   shell.New(shell.Options{Command: p.Build, Timeout: p.BuildTimeout, Env: opts.Env}),
		Clock:      clock{},
		Reaper:     proc.Reaper{},
		Agents:     agents,
	}
	if p := opts.Person; p != nil {
		person := terminal.New(p.options(opts.Env))
		set.Terminal, set.Close = person, person.Close
	}
	return set, nil
}

func (p *Person) options(env []string) terminal.Options {
	if env == nil {
		env = os.Environ()
	}
	if p.Lines {
		env = append(slices.Clone(env), "TERM=dumb")
	}
	return terminal.Options{In: p.In, Out: p.Out, Env: env}
}

// agents returns the agents by provider. A script stands in for all of them.
func agents(opts Options) (map[string]ports.Agent, error) {
	if err := instructions.Check(opts.Instructions); err != nil {
		return nil, err
	}
	if opts.Script != "" {
		agent, err := script.Load(opts.Script)
		if err != nil {
			return nil, err
		}
		agent.Env = opts.Env
		return map[string]ports.Agent{ports.AnyProvider: agent}, nil
	}
	env := environmentOf(opts.Env)
	claudeProgram, err := env.lookup("AGL_CLAUDE")
	if err != nil {
		return nil, err
	}
	codexProgram, err := env.lookup("AGL_CODEX")
	if err != nil {
		return nil, err
	}
	copilotProgram, err := env.lookup("AGL_COPILOT")
	if err != nil {
		return nil, err
	}
	agents := map[string]ports.Agent{
		"claude":  claude.New(claude.Options{Program: cmp.Or(opts.Claude, claudeProgram), Env: opts.Env, Instructions: opts.Instructions}),
		"codex":   codex.New(codex.Options{Program: cmp.Or(opts.Codex, codexProgram), Env: opts.Env, Instructions: opts.Instructions}),
		"copilot": copilot.New(copilot.Options{Program: cmp.Or(opts.Copilot, copilotProgram), Env: opts.Env, Instructions: opts.Instructions}),
		"script":  script.Missing(),
	}
	maps.Copy(agents, opts.Agents)
	return agents, nil
}

// clock is the system's.
type clock struct{}

var _ ports.Clock = clock{}

func (clock) Now() time.Time { return time.Now() }
