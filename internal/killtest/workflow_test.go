//go:build linux

package killtest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/agl"
	"example.com/agl/adapters/cli"
	"example.com/agl/examples/fix"
	"example.com/agl/ports"
)

// command is the command under test: examples/agl with the workflows of this file on top.
func command() cli.Program {
	word := cmp.Or(os.Getenv(envWord), "carefully")
	workflows := []agl.Definition{
		fix.Workflow, relay(word), lone(), detour(),
		landings("crowd", word, crowdPlay.chunks, true), landings("pair", word, pairPlay.chunks, false),
	}
	return cli.Program{Name: "agl", Version: "killtest", Workflows: workflows, Agents: map[string]ports.Agent{"own": ownAgent{}}}
}

type report struct {
	Said string `json:"said"`
}

// relay goes through every verb and every ending in six records. word is in
// the prompt of its third step.
func relay(word string) *agl.Workflow[agl.None] {
	writer := agl.Editor[report]{Name: "writer", Model: "script/w", Prompt: "Write.", Report: "Say what you wrote."}
	checker := agl.Reader[report]{Name: "checker", Model: "script/c", Prompt: "Check.", Report: "Say what you found."}
	sketcher := agl.Editor[report]{Name: "sketcher", Model: "script/s", Prompt: "Sketch " + word + ".", Report: "Say what you learned."}
	return agl.NewWorkflow(agl.Spec{
		Name: "relay", Version: 1, Doc: "Go through every verb and every ending.", Roles: []agl.Role{writer, checker, sketcher},
	}, func(ctx context.Context, run *agl.Run, _ agl.None) error {
		var wrote, found, learned report
		if err := run.Step(ctx, writer.Commit("first words").Into(&wrote)); err != nil {
			return err
		}
		if err := run.Step(ctx, checker.Into(&found), agl.In("wrote", wrote)); err != nil {
			return err
		}
		if err := run.Step(ctx, sketcher.Discard().Into(&learned), agl.In("found", found)); err != nil {
			return err
		}
		var made int
		if err := run.Do(ctx, agl.Func("generate", generate).Commit("generated").Into(&made)); err != nil {
			return err
		}
		verdict, err := run.Verify(ctx)
		if err != nil {
			return err
		}
		return run.Step(ctx, writer.Commit("last words"), agl.In("learned", learned), agl.In("made", made), agl.In("passed", verdict.Passed))
	})
}

// generate is a formatter or a generator: a Go function that changes the
// checkout.
func generate(_ context.Context, w agl.World) (int, error) {
	if err := started("generate#1"); err != nil {
		return 0, err
	}
	text := fmt.Sprintf("// generated\n%s", "package made\n")
	return len(text), os.WriteFile(filepath.Join(w.Dir, "made.go"), []byte(text), 0o600)
}

// lone is a single step.
func lone() *agl.Workflow[agl.None] {
	writer := agl.Editor[agl.None]{Name: "writer", Model: "script/w", Prompt: "Write."}
	return agl.NewWorkflow(agl.Spec{Name: "lone", Version: 1, Doc: "Take one step.", Roles: []agl.Role{writer}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error { return run.Step(ctx, writer.Commit("work")) })
}

// detour goes another way when its second step meets a limit. Its agent is a
// program's own.
func detour() *agl.Workflow[agl.None] {
	writer := agl.Editor[report]{Name: "writer", Model: "own/w", Prompt: "Write."}
	dear := agl.Reader[report]{Name: "dear", Model: "own/d", Prompt: "Think long."}
	cheap := agl.Reader[report]{Name: "cheap", Model: "own/c", Prompt: "Think."}
	return agl.NewWorkflow(agl.Spec{
		Name: "detour", Version: 1, Doc: "Go another way at a limit.", Roles: []agl.Role{writer, dear, cheap},
	}, func(ctx context.Context, run *agl.Run, _ agl.None) error {
		if err := run.Step(ctx, writer.Commit("begin")); err != nil {
			return err
		}
		var thought report
		err := run.Step(ctx, dear.Into(&thought))
		var limit *agl.LimitError
		if errors.As(err, &limit) && limit.Reset.Equal(reset) {
			err = run.Step(ctx, cheap.Into(&thought))
		}
		if err != nil {
			return err
		}
		return run.Step(ctx, writer.Commit("end"), agl.In("thought", thought))
	})
}

// reset is when the limit of detour's dear agent ends.
var reset = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// ownAgent plays the roles of detour in the program's own process.
type ownAgent struct{}

func (ownAgent) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{Tools: true, Enforce: []ports.Restriction{ports.NoWrite}}, nil
}

func (ownAgent) Ready(context.Context, ports.Model) error { return nil }

func (ownAgent) Run(ctx context.Context, task ports.Task, _ func(ports.AgentEvent)) (ports.Outcome, error) {
	name := fmt.Sprintf("%s#%d", task.Role, task.Ordinal)
	if err := started(name); err != nil {
		return ports.Outcome{}, err
	}
	p := here()
	if p.what == program && p.at == strings.Count(read(os.Getenv(envCounter)), "\n") {
		killSelf()
	}
	switch task.Role {
	case "dear":
		return ports.Outcome{}, &ports.LimitError{Reset: reset, Message: "come back later"}
	case "writer":
		if err := os.WriteFile(filepath.Join(task.Dir, name), nil, 0o600); err != nil {
			return ports.Outcome{}, err
		}
	}
	for _, tool := range task.Tools {
		if tool.Name == task.Report {
			tool.Call(ctx, json.RawMessage(`{"said": "done"}`))
		}
	}
	return ports.Outcome{Stop: ports.StopCompleted}, nil
}
