package claude

import (
	"context"
	"time"

	"example.com/agl/internal/examine"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/internal/sealed"
	"example.com/agl/ports"
)

var _ ports.Examiner = (*Agent)(nil)

// versions are those of the program that have the channel, and were tested.
var versions = examine.Range{Oldest: "2.1.197", Newest: "2.1.332"}

// Examine looks for the program, and into its version, its channel and its login.
func (a *Agent) Examine(ctx context.Context) ports.Examination { return a.examined().Examine(ctx) }

func (a *Agent) examined() *examine.Program {
	return &examine.Program{
		Program: &a.prog, Named: a.opts.Program != "", Environ: a.environ(), Range: versions, Login: a.loggedIn, Open: a.sealed,
	}
}

// sealed returns the agent over the program at path that talks to a fake of the
// service, in an environment that has nothing of the operator's but the PATH,
// on which the program may need to find what it is run by.
func (a *Agent) sealed(path, dir string, call examine.Call) (ports.Agent, func(), error) {
	api, end, err := fakeapi.Start(func(r fakeapi.Request) fakeapi.Reply {
		if r.Turn == 0 {
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: toolName(call.Tool), Args: call.Args}}}
		}
		for _, result := range r.Results() {
			call.Heard(result.String())
		}
		return fakeapi.Reply{Texts: []string{"done"}}
	})
	if err != nil {
		return nil, nil, err
	}
	env, err := sealed.Claude(dir, api.URL)
	if err != nil {
		end()
		return nil, nil, err
	}
	return New(Options{Program: path, Env: sealed.WithPath(env, a.environ()), Retries: -1, Grace: time.Second}), end, nil
}
