package intercept

import (
	"context"
	"encoding/json"
	"io/fs"

	"example.com/agl/ports"
)

type workspaces struct {
	ports.Workspaces
	i interceptor
}

func (w workspaces) Check(ctx context.Context) error {
	_, err := ask(ctx, w.i, "check the repository", func() (struct{}, error) { return struct{}{}, w.Workspaces.Check(ctx) })
	return err
}

func (w workspaces) Branch(ctx context.Context, branch string) (string, error) {
	return ask(ctx, w.i, "branch", func() (string, error) { return w.Workspaces.Branch(ctx, branch) })
}

func (w workspaces) Attach(ctx context.Context, label string, lock ports.Lock) (ports.Worktrees, error) {
	t, err := ask(ctx, w.i, "attach", func() (ports.Worktrees, error) { return w.Workspaces.Attach(ctx, label, lock) })
	if err != nil {
		return nil, err
	}
	return worktrees{t, w.i}, nil
}

func (w workspaces) Salvaged(ctx context.Context, label string) ([]ports.Salvage, error) {
	return ask(ctx, w.i, "list salvage", func() ([]ports.Salvage, error) { return w.Workspaces.Salvaged(ctx, label) })
}

func (w workspaces) WriteSalvage(ctx context.Context, label string, n int, dir string) error {
	return w.i.change(ctx, "write salvage", func() error { return w.Workspaces.WriteSalvage(ctx, label, n, dir) })
}

func (w workspaces) DropSalvage(ctx context.Context, label string, n int) error {
	return w.i.change(ctx, "drop salvage", func() error { return w.Workspaces.DropSalvage(ctx, label, n) })
}

type worktrees struct {
	ports.Worktrees
	i interceptor
}

func (t worktrees) Identity(ctx context.Context) (string, error) {
	return ask(ctx, t.i, "identity", func() (string, error) { return t.Worktrees.Identity(ctx) })
}

func (t worktrees) Open(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
	ws, err := take(ctx, t.i, "open", func() (ports.Workspace, error) { return t.Worktrees.Open(ctx, place, head) })
	if err != nil {
		return nil, err
	}
	return workspace{ws, t.i}, nil
}

func (t worktrees) Exists(ctx context.Context, namespace string) (bool, error) {
	return ask(ctx, t.i, "exists", func() (bool, error) { return t.Worktrees.Exists(ctx, namespace) })
}

func (t worktrees) Move(ctx context.Context, branch, old, new string) error {
	return t.i.change(ctx, "move", func() error { return t.Worktrees.Move(ctx, branch, old, new) })
}

func (t worktrees) Keep(ctx context.Context, name, commit string) error {
	return t.i.change(ctx, "keep "+name, func() error { return t.Worktrees.Keep(ctx, name, commit) })
}

func (t worktrees) Clear(ctx context.Context, branches map[string]string) (cleared ports.Cleared, err error) {
	err = t.i.change(ctx, "clear", func() (err error) { cleared, err = t.Worktrees.Clear(ctx, branches); return err })
	return cleared, err
}

type workspace struct {
	ws ports.Workspace
	i  interceptor
}

// Unwrap returns the workspace that ws was before Wrap, or ws.
func Unwrap(ws ports.Workspace) ports.Workspace {
	if w, ok := ws.(workspace); ok {
		return w.ws
	}
	return ws
}

func (w workspace) Dir() string { return w.ws.Dir() }
func (w workspace) Tree() fs.FS { return w.ws.Tree() }

func (w workspace) WriteFile(ctx context.Context, name string, data []byte) error {
	return w.i.change(ctx, "write file "+name, func() error { return w.ws.WriteFile(ctx, name, data) })
}

func (w workspace) Remove(ctx context.Context, name string) error {
	return w.i.change(ctx, "remove file "+name, func() error { return w.ws.Remove(ctx, name) })
}

func (w workspace) Guard(ctx context.Context) (json.RawMessage, error) {
	return ask(ctx, w.i, "guard", func() (json.RawMessage, error) { return w.ws.Guard(ctx) })
}

func (w workspace) Verify(ctx context.Context, guard json.RawMessage) error {
	_, err := ask(ctx, w.i, "verify", func() (struct{}, error) { return struct{}{}, w.ws.Verify(ctx, guard) })
	return err
}

func (w workspace) Inspect(ctx context.Context, head string) (ports.Changes, error) {
	return ask(ctx, w.i, "inspect", func() (ports.Changes, error) { return w.ws.Inspect(ctx, head) })
}

// PutBack passes on what was done even where the rest failed.
func (w workspace) PutBack(ctx context.Context, head, reason string) (done ports.PutBack, err error) {
	err = w.i.change(ctx, "put back", func() (err error) { done, err = w.ws.PutBack(ctx, head, reason); return err })
	return done, err
}

func (w workspace) Commit(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
	return take(ctx, w.i, "commit", func() (ports.Commit, error) { return w.ws.Commit(ctx, spec) })
}
