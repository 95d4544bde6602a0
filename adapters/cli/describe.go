package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"example.com/agl/adapters/local"
)

type workflowsCmd struct {
	Name string `arg:"" optional:"" help:"One workflow."`
}

func (c *workflowsCmd) run(_ context.Context, s *session) error {
	var listed []*workflow
	for _, w := range s.grammar.workflows {
		if c.Name == "" || c.Name == w.name {
			listed = append(listed, w)
		}
	}
	if c.Name != "" && listed == nil {
		return s.grammar.available(c.Name)
	}
	if s.globals.JSON {
		var answer []workflowObject
		for _, w := range listed {
			spec := w.def.Spec()
			answer = append(answer, workflowObject{Name: w.name, Version: spec.Version, Doc: spec.Doc, Disabled: w.problem})
		}
		return s.answer(answer)
	}
	if c.Name != "" && listed[0].problem == "" {
		return s.describe(listed[0])
	}
	if len(listed) == 0 {
		return s.print("this program has no workflows\n")
	}
	var b strings.Builder
	rows := table(&b)
	for _, w := range listed {
		spec := w.def.Spec()
		doc := spec.Doc
		if w.problem != "" {
			doc = "disabled: " + w.problem
		}
		fmt.Fprintf(rows, "%s\tversion %d\t%s\n", w.name, spec.Version, line(doc, 400))
	}
	rows.Flush()
	return s.print("%s", trimLines(b.String()))
}

// describe shows what a workflow is and how it is started.
func (s *session) describe(w *workflow) error {
	if err := s.print("%s, version %d\n\n", w.name, w.def.Spec().Version); err != nil {
		return err
	}
	k, err := s.grammar.kong(s.stdout, func(int) {})
	if err != nil {
		return err
	}
	// Asked for help, kong writes it and goes on to find that flags are
	// missing, which is of no interest then.
	_, _ = k.Parse([]string{"run", w.name, "--help"})
	return nil
}

type initCmd struct {
	Moved string  `placeholder:"OLD" help:"The repository was at OLD: give it its records and checkouts back."`
	Build *string `placeholder:"COMMAND" help:"The build gate: a command line for the shell."`
	buildTimeoutFlag
	Trees string `placeholder:"DIR" help:"Where the checkouts go; absolute, outside the repository."`
}

func (c *initCmd) run(ctx context.Context, s *session) error {
	opts := s.options()
	if c.Moved != "" {
		project, err := local.Moved(ctx, c.Moved, opts)
		if err != nil {
			return err
		}
		if s.globals.JSON {
			return s.answer(projectObject{Name: project.Name, Repo: project.Repo, Trees: project.Trees})
		}
		return s.print("%s has its records again, as %s\n", project.Repo, project.Name)
	}
	opts.Trees = c.Trees
	if err := (gateFlags{buildFlag{c.Build}, c.buildTimeoutFlag}).apply(&opts); err != nil {
		return err
	}
	file, err := local.Init(ctx, opts)
	if err != nil {
		return err
	}
	if s.globals.JSON {
		return s.answer(fileObject{File: file})
	}
	return s.print("wrote %s\n", file)
}

type versionCmd struct{}

func (versionCmd) run(_ context.Context, s *session) error {
	version := s.program.Version
	if info, ok := debug.ReadBuildInfo(); ok {
		version = cmp.Or(version, info.Main.Version)
	}
	version = cmp.Or(version, "unknown")
	if s.globals.JSON {
		return s.answer(versionObject{Name: s.program.Name, Version: version})
	}
	return s.print("%s %s\n", s.program.Name, version)
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCmd) run(_ context.Context, s *session) error {
	_, err := io.WriteString(s.stdout, completionScript(c.Shell, s.program.Name))
	return err
}
