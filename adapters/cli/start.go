package cli

import (
	"context"
	"errors"
	"fmt"

	"example.com/agl"
	"example.com/agl/ports"
)

func (c *workflowCmd) run(ctx context.Context, s *session) error {
	job, err := c.workflow.def.Job(c.Params)
	if err != nil {
		return err
	}
	label, flags := s.grammar.Run.Name, c.workflow.flags
	return s.follow(ctx, label, &flags, func(engine *agl.Engine) error {
		return engine.Start(ctx, label, job, &agl.StartOptions{From: s.grammar.Run.From, Tokens: flags.Tokens})
	})
}

type resumeCmd struct {
	Label string `arg:"" help:"The run."`
	Rebuy bool   `help:"Give up what the changed workflow no longer asks for, and buy it again."`
	Retry bool   `help:"Try every step again that is recorded as failed; what came after it in its worktree is given up too, and bought again."`
	callFlags
}

func (c *resumeCmd) run(ctx context.Context, s *session) error {
	return s.follow(ctx, c.Label, &c.callFlags, func(engine *agl.Engine) error {
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
func (s *session) follow(ctx context.Context, label string, flags *callFlags, do func(*agl.Engine) error) error {
	opts := s.options()
	if err := flags.gateFlags.apply(&opts); err != nil {
		return err
	}
	opts.Instructions = ports.Instructions(flags.Instructions)
	opts.Person = s.person(flags.Plain)
	var status agl.Status
	progress := s.progress()
	err := s.over(ctx, opts, progress, func(engine *agl.Engine) error {
		err := do(engine)
		if err == nil {
			status, err = engine.Status(context.WithoutCancel(ctx), label) // the run has ended, whatever becomes of ctx now
		}
		return err
	})
	var diverged *agl.DivergedError
	var unanswered *agl.UnansweredError
	switch {
	case errors.As(err, &diverged):
		return &hintedError{err, fmt.Sprintf("the workflow no longer asks for what is recorded: %s; %s resume %s --rebuy gives up what is not reached and goes on",
			line(divergence(diverged.Plan), errorLimit/2), s.program.Name, label)}
	case errors.As(err, &unanswered):
		return &hintedError{err, unansweredText(unanswered, s.program.Name)}
	case errors.Is(err, context.Canceled) && agl.KindOf(err) == "" && progress.begun:
		text := fmt.Sprintf("run %s was stopped; go on with %s resume %s", label, s.program.Name, label)
		if len(ports.Leaves(err)) > 1 { // of every worktree the same
			return &hintedError{context.Canceled, text}
		}
		return fmt.Errorf("%s: %w", text, err)
	case err != nil:
		return s.unlanded(label, err)
	case s.globals.JSON:
		return s.answer(runAnswer{Run: runJSON(status.Run)})
	}
	run := status.Run
	err = s.print("%s is done: branch %s at %s, %s\n", label, run.Branch, short(run.Head), tokens(status.Usage))
	if err == nil && !s.globals.Quiet && run.Head != run.Base {
		fmt.Fprintf(s.stderr, "to take what it made: git merge %s\n", run.Branch)
	}
	return err
}

// A hintedError says what its cause says in the words of the command line.
type hintedError struct {
	error
	text string
}

func (e *hintedError) Error() string { return e.text }
func (e *hintedError) Unwrap() error { return e.error }

// An unlandedError adds to its cause what to do next, in one line.
type unlandedError struct {
	error
	next string
}

func (e *unlandedError) Unwrap() error { return e.error }

// unlanded adds to an error of landings that were given up what to do about
// them. Any other it returns as it is.
func (s *session) unlanded(label string, err error) error {
	var branches []string
	for _, leaf := range ports.Leaves(err) {
		var conflict *agl.ConflictError
		if errors.As(leaf, &conflict) {
			branches = append(branches, "agl/_work/"+label+"/"+conflict.Child)
		}
	}
	if branches == nil {
		return err
	}
	return &unlandedError{err, fmt.Sprintf("%s resume %s tries again what was not landed; or merge it yourself, in your own checkout: git merge agl/%s, then git merge %s",
		s.program.Name, label, label, branches[0]+more(len(branches)-1))}
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
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
