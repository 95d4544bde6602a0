package cli

import (
	"context"
	"errors"
	"fmt"

	"example.com/agl"
	"example.com/agl/ports"
)

func (c *workflowCmd) run(ctx context.Context, s *session) error {
	job, err := c.def.Job(c.Params)
	if err != nil {
		return err
	}
	label, from := s.grammar.Run.Name, s.grammar.Run.From
	return s.follow(ctx, label, func(engine *agl.Engine) error {
		return engine.Start(ctx, label, job, &agl.StartOptions{From: from})
	})
}

type resumeCmd struct {
	Label  string `arg:"" help:"The run."`
	Rebuy  bool   `help:"Give up what the changed workflow no longer asks for, and buy it again."`
	Retry  bool   `help:"Try every step again that is recorded as failed."`
	Tokens int64  `placeholder:"N" help:"Buy no further step once this run has used N tokens."`
}

func (c *resumeCmd) run(ctx context.Context, s *session) error {
	return s.follow(ctx, c.Label, func(engine *agl.Engine) error {
		def, err := s.definitionOf(ctx, engine, c.Label)
		if err != nil {
			return err
		}
		return engine.Resume(ctx, c.Label, def, &agl.ResumeOptions{Rebuy: c.Rebuy, Retry: c.Retry, Tokens: c.Tokens})
	})
}

// definitionOf returns the workflow a run was started with.
func (s *session) definitionOf(ctx context.Context, engine *agl.Engine, label string) (agl.Definition, error) {
	status, err := engine.Status(ctx, label)
	if err != nil {
		return nil, err
	}
	return s.definition(status.Run.Workflow)
}

// follow does what runs a run, and says how it ended once all of its progress
// is written.
func (s *session) follow(ctx context.Context, label string, do func(*agl.Engine) error) error {
	var status agl.Status
	err := s.with(ctx, func(engine *agl.Engine) error {
		err := do(engine)
		if err == nil {
			status, err = engine.Status(context.WithoutCancel(ctx), label) // the run has ended, whatever becomes of ctx now
		}
		return err
	})
	switch {
	case errors.Is(err, context.Canceled) && agl.KindOf(err) == "":
		return fmt.Errorf("run %s was stopped; go on with %s resume %s: %w", label, s.program.Name, label, err)
	case err != nil:
		return err
	case s.globals.JSON:
		return s.answer(runAnswer{Run: runJSON(status.Run)})
	}
	return s.print("%s is done: branch %s at %s, %s tokens\n",
		label, status.Run.Branch, short(status.Run.Head), count(status.Usage.Tokens()))
}

// answer writes v, as JSON, to standard output.
func (s *session) answer(v any) error {
	text, err := encode(v)
	if err != nil {
		return ports.Internal.Errorf("write the answer", "%w", err)
	}
	return s.print("%s\n", text)
}

// print writes to standard output.
func (s *session) print(format string, args ...any) error {
	if _, err := fmt.Fprintf(s.stdout, format, args...); err != nil {
		return ports.Unavailable.Errorf("write the answer", "%w", err)
	}
	return nil
}
