package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"example.com/agl"
	"example.com/agl/adapters/local"
)

func (s *session) options() local.Options {
	return local.Options{Repo: s.globals.Repo, Home: s.globals.Home, Script: s.globals.Script, Agents: s.program.Agents}
}

// with calls do with an engine for the repository, and closes it.
func (s *session) with(ctx context.Context, do func(*agl.Engine) error) error {
	return s.over(ctx, s.options(), s.progress(), do)
}

// over calls do with an engine over what opts say, whose events go to p, and
// closes it.
func (s *session) over(ctx context.Context, opts local.Options, p *progress, do func(*agl.Engine) error) (err error) {
	set, err := local.New(ctx, opts)
	if err != nil {
		return err
	}
	p.attended = set.Terminal != nil && set.Terminal.Attended()
	full, back := s.screen.give(set.Terminal)
	if full {
		p.volume = min(p.volume, warnings) // the dashboard tells the rest
	}
	engine, err := agl.New(set, &agl.Options{Events: p.event, Logger: s.logger()})
	if err != nil {
		if set.Close != nil {
			err = errors.Join(err, set.Close())
		}
		back()
		return err
	}
	stop := p.keepTime()
	defer func() {
		if closing := engine.Close(); err == nil {
			err = closing
		}
		stop()
		back()
	}()
	return do(engine)
}

// logger returns the engine's log, nil for none: with AGL_DEBUG=1 standard
// error, unless that is for one JSON object.
func (s *session) logger() *slog.Logger {
	if os.Getenv("AGL_DEBUG") != "1" || s.globals.JSON {
		return nil
	}
	return slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
