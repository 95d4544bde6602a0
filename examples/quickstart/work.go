package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
)

// workArg makes this program the process that runs the workflow.
const workArg = "work"

// work starts the run, or goes on with it if it has begun, and writes what
// happens as JSON lines. This is all a program needs to run a workflow.
func work(ctx context.Context, dir string, out io.Writer) (err error) {
	set, err := local.New(ctx, local.Options{Repo: repository(dir), Home: home(dir), Script: script(dir)})
	if err != nil {
		return err
	}
	lines := json.NewEncoder(out)
	engine, err := agl.New(set, &agl.Options{Events: func(e agl.Event) {
		if h, ok := seen(e); ok {
			_ = lines.Encode(h) // if nobody reads any more, the run goes on
		}
	}})
	if err != nil {
		return err
	}
	defer engine.Close()
	return engine.Start(ctx, label, fix.Workflow.With(fix.Params{Request: request}), &agl.StartOptions{Resume: true})
}

// A step is a role's N-th step.
type step struct {
	Role string
	N    int
}

func (s step) String() string { return fmt.Sprintf("%s #%d", s.Role, s.N) }

// A happening is what the working process tells the watching one.
type happening struct {
	Begun step   // an agent is started, if Role is not empty
	Text  string // for a person
}

func seen(e agl.Event) (happening, bool) {
	switch what := e.What.(type) {
	case agl.Hit:
		return happening{Text: fmt.Sprintf("%s is recorded: nothing is bought", step{what.Record.Name, what.Ordinal})}, true
	case agl.Began:
		s := step{what.Name, what.Ordinal}
		return happening{Begun: s, Text: s.String() + " begins"}, true
	case agl.Activity:
		return happening{Text: "    " + what.Text}, true
	case agl.Ended:
		return happening{Text: fmt.Sprintf("%s is done, %d tokens", what.Record.Name, what.Record.Usage.Tokens())}, true
	}
	return happening{}, false
}

// watch runs work in a process of its own, shows what it tells, counts the
// agents it starts, and kills it when kill says so.
func watch(ctx context.Context, dir string, out io.Writer, starts map[step]int, kill func(step) bool) (killed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, self, workArg, dir)
	cmd.Stderr = os.Stderr
	told, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	for lines := bufio.NewScanner(told); lines.Scan(); {
		var h happening
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			return false, fmt.Errorf("the working process wrote %q: %w", lines.Text(), err)
		}
		fmt.Fprintf(out, "  %s\n", h.Text)
		if h.Begun.Role == "" {
			continue
		}
		starts[h.Begun]++
		if !killed && kill(h.Begun) {
			killed = true
			if err := cmd.Process.Kill(); err != nil {
				return false, err
			}
		}
	}
	err = cmd.Wait()
	if killed {
		return true, nil // and that is how it ended
	}
	return false, err
}
