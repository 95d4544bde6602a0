package cli

import (
	"context"

	"example.com/agl"
	"example.com/agl/adapters/local"
)

func (s *session) options() local.Options {
	return local.Options{Repo: s.globals.Repo, Home: s.globals.Home, Script: s.globals.Script, Agents: s.program.Agents}
}

// with calls do with an engine for the repository, and closes it.
func (s *session) with(ctx context.Context, do func(*agl.Engine) error) (err error) {
	set, err := local.New(ctx, s.options())
	if err != nil {
		return err
	}
	opts := &agl.Options{}
	if !s.globals.Quiet && !s.globals.JSON {
		opts.Events = newProgress(s.stderr).event
	}
	engine, err := agl.New(set, opts)
	if err != nil {
		return err
	}
	defer func() {
		if closing := engine.Close(); err == nil {
			err = closing
		}
	}()
	return do(engine)
}
