package porttest

import (
	"context"
	"encoding/json"
	"io/fs"
	"testing"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A brokenRepo is a good repository but for the methods that are set.
type brokenRepo struct {
	*mem.Repository
	salvaged     func(ctx context.Context, label string) ([]ports.Salvage, error)
	writeSalvage func(ctx context.Context, label string, n int, dir string) error
	dropSalvage  func(ctx context.Context, label string, n int) error
	trees        func(*brokenTrees) // breaks the worktrees of a run
	checkout     func(*brokenCheckout)
}

func (r *brokenRepo) Attach(ctx context.Context, label string, lock ports.Lock) (ports.Worktrees, error) {
	trees, err := r.Repository.Attach(ctx, label, lock)
	w := &brokenTrees{Worktrees: trees, repo: r}
	if r.trees != nil {
		r.trees(w)
	}
	return w, err
}

func (r *brokenRepo) Salvaged(ctx context.Context, label string) ([]ports.Salvage, error) {
	if r.salvaged != nil {
		return r.salvaged(ctx, label)
	}
	return r.Repository.Salvaged(ctx, label)
}

func (r *brokenRepo) WriteSalvage(ctx context.Context, label string, n int, dir string) error {
	if r.writeSalvage != nil {
		return r.writeSalvage(ctx, label, n, dir)
	}
	return r.Repository.WriteSalvage(ctx, label, n, dir)
}

func (r *brokenRepo) DropSalvage(ctx context.Context, label string, n int) error {
	if r.dropSalvage != nil {
		return r.dropSalvage(ctx, label, n)
	}
	return r.Repository.DropSalvage(ctx, label, n)
}

// brokenTrees are good worktrees but for the methods that are set.
type brokenTrees struct {
	ports.Worktrees
	repo  *brokenRepo
	open  func(ctx context.Context, place ports.Place, head string) (ports.Workspace, error)
	move  func(ctx context.Context, branch, old, new string) error
	keep  func(ctx context.Context, name, commit string) error
	clear func(ctx context.Context, branches map[string]string) (ports.Cleared, error)
}

func (w *brokenTrees) Open(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
	open := w.Worktrees.Open
	if w.open != nil {
		open = w.open
	}
	ws, err := open(ctx, place, head)
	if err != nil {
		return nil, err
	}
	b := &brokenCheckout{Workspace: ws, trees: w, branch: place.Branch}
	if w.repo.checkout != nil {
		w.repo.checkout(b)
	}
	return b, nil
}

func (w *brokenTrees) Move(ctx context.Context, branch, old, new string) error {
	if w.move != nil {
		return w.move(ctx, branch, old, new)
	}
	return w.Worktrees.Move(ctx, branch, old, new)
}

func (w *brokenTrees) Keep(ctx context.Context, name, commit string) error {
	if w.keep != nil {
		return w.keep(ctx, name, commit)
	}
	return w.Worktrees.Keep(ctx, name, commit)
}

func (w *brokenTrees) Clear(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
	if w.clear != nil {
		return w.clear(ctx, branches)
	}
	return w.Worktrees.Clear(ctx, branches)
}

// A brokenCheckout is a good checkout but for the methods that are set.
type brokenCheckout struct {
	ports.Workspace
	trees     *brokenTrees
	branch    string
	tree      func() fs.FS
	writeFile func(ctx context.Context, name string, data []byte) error
	remove    func(ctx context.Context, name string) error
	inspect   func(ctx context.Context, head string) (ports.Changes, error)
	putBack   func(ctx context.Context, head, reason string) (ports.PutBack, error)
	commit    func(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error)
	verify    func(ctx context.Context, guard json.RawMessage) error
}

func (w *brokenCheckout) Tree() fs.FS {
	if w.tree != nil {
		return w.tree()
	}
	return w.Workspace.Tree()
}

func (w *brokenCheckout) WriteFile(ctx context.Context, name string, data []byte) error {
	if w.writeFile != nil {
		return w.writeFile(ctx, name, data)
	}
	return w.Workspace.WriteFile(ctx, name, data)
}

func (w *brokenCheckout) Remove(ctx context.Context, name string) error {
	if w.remove != nil {
		return w.remove(ctx, name)
	}
	return w.Workspace.Remove(ctx, name)
}

func (w *brokenCheckout) Inspect(ctx context.Context, head string) (ports.Changes, error) {
	if w.inspect != nil {
		return w.inspect(ctx, head)
	}
	return w.Workspace.Inspect(ctx, head)
}

func (w *brokenCheckout) PutBack(ctx context.Context, head, reason string) (ports.PutBack, error) {
	if w.putBack != nil {
		return w.putBack(ctx, head, reason)
	}
	return w.Workspace.PutBack(ctx, head, reason)
}

func (w *brokenCheckout) Commit(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
	if w.commit != nil {
		return w.commit(ctx, spec)
	}
	return w.Workspace.Commit(ctx, spec)
}

func (w *brokenCheckout) Verify(ctx context.Context, guard json.RawMessage) error {
	if w.verify != nil {
		return w.verify(ctx, guard)
	}
	return w.Workspace.Verify(ctx, guard)
}

// memory is the checkout that is broken.
func memory(ws ports.Workspace) *mem.Workspace {
	if b, ok := ws.(*brokenCheckout); ok {
		return memory(b.Workspace)
	}
	return ws.(*mem.Workspace)
}

// repositoryInMemory is what the suites see of a repository.
func repositoryInMemory(r *brokenRepo) Repository {
	return Repository{
		Workspaces: r, History: r.Repository, Trunk: "main", Reachable: r.Reachable,
	}
}

// breakRepo makes sites whose repository change has broken.
func breakRepo(change func(*brokenRepo)) func(testing.TB) *worksite {
	return func(t testing.TB) *worksite {
		return WorkspacesOptions{New: func(_ testing.TB, files map[string]string) Repository {
			r := &brokenRepo{Repository: mem.NewRepository(mem.NewClock(), files)}
			change(r)
			return repositoryInMemory(r)
		}}.subject(t)
	}
}

func breakTrees(change func(*brokenTrees)) func(testing.TB) *worksite {
	return breakRepo(func(r *brokenRepo) { r.trees = change })
}

func breakCheckout(change func(*brokenCheckout)) func(testing.TB) *worksite {
	return breakRepo(func(r *brokenRepo) { r.checkout = change })
}

// pretend makes sites on memory that promise what it cannot do.
func pretend(change func(*WorkspacesOptions, *Repository)) func(testing.TB) *worksite {
	return func(t testing.TB) *worksite {
		var o WorkspacesOptions
		r := repositoryInMemory(&brokenRepo{Repository: mem.NewRepository(mem.NewClock(), firstFiles)})
		change(&o, &r)
		o.New = func(testing.TB, map[string]string) Repository { return r }
		return o.subject(t)
	}
}
