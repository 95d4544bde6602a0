package agl_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os/exec"

	"example.com/agl"
	"example.com/agl/adapters/local"
)

// Summary is what the roles of these examples report.
type Summary struct {
	Subject string `json:"subject" jsonschema_description:"One line, in the imperative."`
}

// Tidy are a workflow's parameters.
type Tidy struct {
	Package string `required:"" help:"What to tidy."`
}

var tidier = agl.Editor[Summary]{
	Name:   "tidier",
	Model:  "claude/sonnet",
	Prompt: "Make the package simpler without changing what it does.",
	Deny:   []agl.Restriction{agl.NoNetwork},
}

// A workflow is a plain Go function: one step, here, that ends in a commit.
func ExampleNewWorkflow() {
	tidy := agl.NewWorkflow(agl.Spec{
		Name: "tidy", Version: 1, Doc: "Make a package simpler.", Roles: []agl.Role{tidier},
	}, func(ctx context.Context, run *agl.Run, p Tidy) error {
		var done Summary
		return run.Step(ctx, tidier.Commit("tidy "+p.Package).Into(&done), agl.In("package", p.Package))
	})
	fmt.Println(tidy.Spec().Name, tidy.Spec().Version)
	// Output: tidy 1
}

// A tool is a typed Go function that the agent calls in this process.
func ExampleNewTool() {
	type query struct {
		Symbol string `json:"symbol"`
		Limit  int    `json:"limit,omitempty" jsonschema_description:"At most so many; 0 for all."`
	}
	tool := agl.NewTool("references", "Lists where a symbol is used.",
		func(ctx context.Context, w agl.World, in query) ([]string, error) {
			out, err := exec.CommandContext(ctx, "git", "-C", w.Dir, "grep", "-n", "-w", in.Symbol).Output()
			if err != nil {
				return nil, errors.New("it is used nowhere")
			}
			return []string{string(out)}, nil
		})
	_ = tidier.With(tool)
}

// What is not a function of the parameters and of earlier results, or has an
// effect outside, goes through Do: it is recorded like a step.
func ExampleFunc() {
	_ = func(ctx context.Context, run *agl.Run) error {
		var issue int
		err := run.Do(ctx, agl.Func("open-issue", func(ctx context.Context, w agl.World) (int, error) {
			return 42, nil // an API call; w.Key is its idempotency key
		}).Into(&issue))
		if err != nil {
			return err
		}
		return run.Do(ctx, agl.Func("gofmt", func(ctx context.Context, w agl.World) (agl.None, error) {
			cmd := exec.CommandContext(ctx, "gofmt", "-w", ".")
			cmd.Dir = w.Dir
			return agl.None{}, cmd.Run()
		}).Commit("gofmt"))
	}
}

// A failed step is recorded, so a workflow may decide by it.
func ExampleLimitError() {
	_ = func(ctx context.Context, run *agl.Run, cheap agl.Edit[Summary]) error {
		err := run.Step(ctx, tidier.Commit("tidy"))
		var limit *agl.LimitError
		if errors.As(err, &limit) {
			return run.Step(ctx, cheap) // another model
		}
		return err
	}
}

// An engine over this machine's adapters runs a workflow to its end. With
// Resume, starting a label again goes on with it.
func ExampleEngine_Start() {
	ctx := context.Background()
	tidy := agl.NewWorkflow(agl.Spec{Name: "tidy", Version: 1, Roles: []agl.Role{tidier}},
		func(ctx context.Context, run *agl.Run, p Tidy) error {
			return run.Step(ctx, tidier.Commit("tidy "+p.Package), agl.In("package", p.Package))
		})
	_ = func() error {
		set, err := local.New(ctx, local.Options{Repo: "/srv/repo"})
		if err != nil {
			return err
		}
		engine, err := agl.New(set, &agl.Options{Agents: 4, Events: func(e agl.Event) { log.Print(e.Run, e.What) }})
		if err != nil {
			return err
		}
		defer engine.Close()
		return engine.Start(ctx, "issue-1432", tidy.With(Tidy{Package: "./internal/x"}), &agl.StartOptions{Resume: true})
	}
}

// A workflow ends itself by Stopf; an exit code says what kind of end it was.
func ExampleStopf() {
	err := agl.Stopf("%d findings left", 3)
	fmt.Println(err, agl.KindOf(err), agl.ExitCode(err))
	// Output: 3 findings left stopped 7
}

// A Kind is an error: wrap one to make an error of that kind.
func ExampleKindOf() {
	err := fmt.Errorf("read the config: %w", agl.NotFound.Errorf("", "there is no config"))
	fmt.Println(err, agl.ExitCode(err), errors.Is(err, agl.NotFound))
	// Output: read the config: there is no config 3 true
}
