package intercept

import (
	"context"

	"example.com/agl/ports"
)

type history struct {
	ports.History
	i interceptor
}

func (h history) Default(ctx context.Context) (string, error) {
	return ask(ctx, h.i, "default branch", func() (string, error) { return h.History.Default(ctx) })
}

func (h history) Resolve(ctx context.Context, rev string) (string, error) {
	return ask(ctx, h.i, "resolve", func() (string, error) { return h.History.Resolve(ctx, rev) })
}

func (h history) Contains(ctx context.Context, ancestor, descendant string) (bool, error) {
	return ask(ctx, h.i, "contains", func() (bool, error) { return h.History.Contains(ctx, ancestor, descendant) })
}

func (h history) Tree(ctx context.Context, commit string) (string, error) {
	return ask(ctx, h.i, "tree", func() (string, error) { return h.History.Tree(ctx, commit) })
}

func (h history) Message(ctx context.Context, commit string) (string, error) {
	return ask(ctx, h.i, "message", func() (string, error) { return h.History.Message(ctx, commit) })
}

type verifier struct {
	ports.Verifier
	i interceptor
}

func (v verifier) Verify(ctx context.Context, task ports.VerifyTask) (ports.Verdict, error) {
	return take(ctx, v.i, Gate, func() (ports.Verdict, error) { return v.Verifier.Verify(ctx, task) })
}

type reaper struct {
	ports.Reaper
	i interceptor
}

func (r reaper) Reap(ctx context.Context, entry string) (ended []string, err error) {
	err = r.i.change(ctx, "reap", func() (err error) { ended, err = r.Reaper.Reap(ctx, entry); return err })
	return ended, err
}

type terminal struct {
	ports.Terminal
	i interceptor
}

func (t terminal) Ask(ctx context.Context, q ports.Question) (string, error) {
	return take(ctx, t.i, Ask, func() (string, error) { return t.Terminal.Ask(ctx, q) })
}

// Watch cannot fail: where its call is not made, nothing is shown.
func (t terminal) Watch(run ports.Watched) (stop func()) {
	stop = func() {}
	_ = t.i(context.Background(), Call{Op: "watch"}, func() error { stop = t.Terminal.Watch(run); return nil })
	return stop
}

type agent struct {
	ports.Agent
	i interceptor
}

func (a agent) Capabilities(ctx context.Context, model ports.Model) (ports.Capabilities, error) {
	return ask(ctx, a.i, "capabilities", func() (ports.Capabilities, error) { return a.Agent.Capabilities(ctx, model) })
}

func (a agent) Ready(ctx context.Context, model ports.Model) error {
	_, err := ask(ctx, a.i, "ready", func() (struct{}, error) { return struct{}{}, a.Agent.Ready(ctx, model) })
	return err
}

// Run passes on what an agent that failed has used.
func (a agent) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (o ports.Outcome, err error) {
	task.Workspace = Unwrap(task.Workspace)
	err = a.i.change(ctx, AgentOp(task.Role), func() (err error) { o, err = a.Agent.Run(ctx, task, emit); return err })
	return o, err
}
