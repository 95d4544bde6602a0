package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"example.com/agl/internal/proc"
	"example.com/agl/ports"
)

// A turn is one playing of a section.
type turn struct {
	task    ports.Task
	emit    func(ports.AgentEvent)
	env     []string // of the commands it runs, before the task's
	outcome ports.Outcome
}

func (t *turn) say(text string) {
	t.outcome.Text = text
	t.emit(ports.AgentEvent{Kind: ports.AgentText, Text: text})
}

func (t *turn) activity(text string) {
	t.emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: ports.Printable(text)})
}

func (t *turn) use(input, output int64) {
	t.outcome.Usage = t.outcome.Usage.Add(ports.Usage{Input: input, Output: output, Complete: true})
	t.emit(ports.AgentEvent{Kind: ports.AgentUsage, Usage: t.outcome.Usage})
}

// call calls a tool and tells what it answered.
func (t *turn) call(ctx context.Context, name string, args json.RawMessage) error {
	i := slices.IndexFunc(t.task.Tools, func(tool ports.Tool) bool { return tool.Name == name })
	if i < 0 {
		return fmt.Errorf("role %s has no tool %q; it has: %s", t.task.Role, name, toolNames(t.task.Tools))
	}
	result := t.task.Tools[i].Call(ctx, slices.Clone(args))
	answer := name + ": "
	if result.Rejected {
		answer = name + " rejected: "
	}
	t.activity(answer + ports.Clip(result.Text, 1000))
	return ctx.Err()
}

func toolNames(tools []ports.Tool) string {
	if len(tools) == 0 {
		return "none"
	}
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return strings.Join(names, ", ")
}

func (t *turn) report(ctx context.Context, args json.RawMessage) error {
	if t.task.Report == "" {
		return fmt.Errorf("role %s reports nothing", t.task.Role)
	}
	return t.call(ctx, t.task.Report, args)
}

// inCheckout calls fn with the checkout, out of which no path leads, through no
// link either.
func (t *turn) inCheckout(fn func(*os.Root) error) error {
	if t.task.Dir == "" {
		return errInMemory()
	}
	root, err := os.OpenRoot(t.task.Dir)
	if err != nil {
		return err
	}
	return errors.Join(fn(root), root.Close())
}

func errInMemory() error {
	return ports.Unavailable.Errorf("", "the checkout is in memory, a script writes and runs commands in one on disk only")
}

func (t *turn) write(name string, data []byte) error {
	return t.inCheckout(func(root *os.Root) error {
		if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
			return err
		}
		return root.WriteFile(name, data, 0o666)
	})
}

func (t *turn) append(name, text string) error {
	return t.inCheckout(func(root *os.Root) error {
		if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text + "\n")
		return errors.Join(err, f.Close())
	})
}

func (t *turn) remove(name string) error {
	return t.inCheckout(func(root *os.Root) error {
		if _, err := root.Lstat(name); err != nil {
			return err
		}
		return root.RemoveAll(name)
	})
}

// outputKept is how much of a failed command's output is told.
const outputKept = 1000

func (t *turn) exec(ctx context.Context, line string) error {
	if t.task.Dir == "" {
		return errInMemory()
	}
	output := proc.Tail{Max: outputKept}
	exit, err := (&proc.Cmd{
		Shell:  line,
		Dir:    t.task.Dir,
		Env:    proc.Environ(t.env, t.task.Env...),
		Stdout: &output,
		Stderr: &output,
	}).Run(ctx)
	if err != nil || exit.OK() {
		return err
	}
	said := ports.Printable(output.String())
	if said == "" {
		said = "no output"
	}
	t.activity(fmt.Sprintf("exec %s: %v: %s", ports.Clip(line, 80), exit, said))
	return fmt.Errorf("exec %s: %v: %s", ports.Clip(line, 80), exit, said)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// crash kills this process, as the power going out would.
func crash() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		select {} // until the signal arrives
	}
	return fmt.Errorf("crash: %w", err)
}
