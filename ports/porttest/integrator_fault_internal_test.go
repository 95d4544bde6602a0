package porttest

import (
	"context"
	"testing"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A brokenIntegrator is a good one but for the methods that are set.
type brokenIntegrator struct {
	ports.Integrator
	repo     *mem.Repository
	merge    func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error)
	held     func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error)
	resolve  func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error)
	settle   func(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error)
	snapshot func(ctx context.Context, ws ports.Workspace, spec ports.CommitSpec) (string, error)
	rehold   func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (bool, error)
	restore  func(ctx context.Context, ws ports.Workspace, snapshot, reason string) (ports.PutBack, error)
	commit   func(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error)
	conclude func(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error)
}

func (b *brokenIntegrator) Merge(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
	if b.merge != nil {
		return b.merge(ctx, memory(ws), spec)
	}
	return b.Integrator.Merge(ctx, memory(ws), spec)
}

func (b *brokenIntegrator) Held(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
	if b.held != nil {
		return b.held(ctx, memory(ws), spec)
	}
	return b.Integrator.Held(ctx, memory(ws), spec)
}

func (b *brokenIntegrator) Rehold(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (bool, error) {
	if b.rehold != nil {
		return b.rehold(ctx, memory(ws), spec)
	}
	return b.Integrator.Rehold(ctx, memory(ws), spec)
}

func (b *brokenIntegrator) Resolve(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
	if b.resolve != nil {
		return b.resolve(ctx, memory(ws), spec, were)
	}
	return b.Integrator.Resolve(ctx, memory(ws), spec, were)
}

func (b *brokenIntegrator) Settle(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
	if b.settle != nil {
		return b.settle(ctx, memory(ws), tree, reason)
	}
	return b.Integrator.Settle(ctx, memory(ws), tree, reason)
}

func (b *brokenIntegrator) Snapshot(ctx context.Context, ws ports.Workspace, spec ports.CommitSpec) (string, error) {
	if b.snapshot != nil {
		return b.snapshot(ctx, memory(ws), spec)
	}
	return b.Integrator.Snapshot(ctx, memory(ws), spec)
}

func (b *brokenIntegrator) Restore(ctx context.Context, ws ports.Workspace, snapshot, reason string) (ports.PutBack, error) {
	if b.restore != nil {
		return b.restore(ctx, memory(ws), snapshot, reason)
	}
	return b.Integrator.Restore(ctx, memory(ws), snapshot, reason)
}

func (b *brokenIntegrator) Commit(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
	if b.commit != nil {
		return b.commit(ctx, spec, tree, commit)
	}
	return b.Integrator.Commit(ctx, spec, tree, commit)
}

func (b *brokenIntegrator) Conclude(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
	if b.conclude != nil {
		return b.conclude(ctx, memory(ws), commit, reason)
	}
	return b.Integrator.Conclude(ctx, memory(ws), commit, reason)
}

// landsInMemory returns a repository whose integrator, and whose every later
// process's, change has broken; checkout may break its checkouts.
func landsInMemory(repo *mem.Repository, change func(*brokenIntegrator), checkout func(*brokenCheckout)) Repository {
	in := &brokenIntegrator{Integrator: repo.Integrator(), repo: repo}
	if change != nil {
		change(in)
	}
	r := repositoryInMemory(&brokenRepo{Repository: repo, checkout: checkout})
	r.Integrator = in
	r.Reopen = func() (Repository, error) {
		doc, err := repo.Export()
		if err != nil {
			return Repository{}, err
		}
		again, err := mem.ImportRepository(mem.NewClock(), doc)
		if err != nil {
			return Repository{}, err
		}
		return landsInMemory(again, change, checkout), nil
	}
	r.Parents = func(commit string) ([]string, error) {
		list, err := repo.Commits("", commit)
		if err != nil {
			return nil, err
		}
		return list[len(list)-1].Parents, nil
	}
	return r
}

// breakLanding makes sites whose integrator change has broken.
func breakLanding(change func(*brokenIntegrator)) func(testing.TB) *landsite {
	return breakHolds(change, nil)
}

// breakHolds makes sites whose checkouts are broken as well.
func breakHolds(change func(*brokenIntegrator), checkout func(*brokenCheckout)) func(testing.TB) *landsite {
	return func(t testing.TB) *landsite {
		return IntegratorOptions{New: func(_ testing.TB, files map[string]string) Repository {
			return landsInMemory(mem.NewRepository(mem.NewClock(), files), change, checkout)
		}}.subject(t)
	}
}

// overpromise makes sites on memory that promise what it cannot do.
func overpromise(change func(*IntegratorOptions)) func(testing.TB) *landsite {
	return func(t testing.TB) *landsite {
		o := IntegratorOptions{New: func(_ testing.TB, files map[string]string) Repository {
			return landsInMemory(mem.NewRepository(mem.NewClock(), files), nil, nil)
		}}
		change(&o)
		return o.subject(t)
	}
}
