package cli

import (
	"time"

	"github.com/alecthomas/kong"

	"example.com/agl/adapters/local"
	"example.com/agl/ports"
)

// What one call of run or resume decides on, over the environment and the
// settings file. Each flag is in a struct of its own: a workflow that has a
// flag of the name keeps its own, and the others are there.
type (
	callFlags struct {
		tokensFlag
		gateFlags
		instructionsFlag
		plainFlag
	}

	instructionsFlag struct {
		Instructions string `placeholder:"WHOSE" help:"With 'repository', agents are given the files of the checkout that speak to them (CLAUDE.md, AGENTS.md); without it they get none."`
	}

	plainFlag struct {
		Plain bool `help:"Lines of progress instead of the dashboard."`
	}

	gateFlags struct {
		buildFlag
		buildTimeoutFlag
	}

	tokensFlag struct {
		Tokens int64 `placeholder:"N" help:"Buy no further step once this run has used N tokens."`
	}

	buildFlag struct {
		Build *string `placeholder:"COMMAND" help:"The build gate, for this call: a command line for the shell. A resume needs one where the run had one."`
	}

	buildTimeoutFlag struct {
		BuildTimeout *time.Duration `placeholder:"DURATION" help:"How long the build may take: 90s, 10m."`
	}
)

// besides returns the flags that are not taken, for a command to hold.
func (f *callFlags) besides(taken map[string]bool) kong.Plugins {
	var free kong.Plugins
	for _, flag := range []struct {
		name  string
		field any
	}{{"--tokens", &f.tokensFlag}, {"--build", &f.buildFlag}, {"--build-timeout", &f.buildTimeoutFlag}, {"--instructions", &f.instructionsFlag}, {"--plain", &f.plainFlag}} {
		if !taken[flag.name] {
			free = append(free, flag.field)
		}
	}
	return free
}

// apply puts what was given into opts.
func (f gateFlags) apply(opts *local.Options) error {
	opts.Build = f.Build
	if f.BuildTimeout == nil {
		return nil
	}
	opts.BuildTimeout = *f.BuildTimeout
	if opts.BuildTimeout <= 0 {
		return ports.Invalid.Errorf("", "--build-timeout=%s is not more than nothing", opts.BuildTimeout)
	}
	return nil
}
