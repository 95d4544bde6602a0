package intercept

import (
	"context"

	"example.com/agl/ports"
)

type integrator struct {
	in ports.Integrator
	i  interceptor
}

func (g integrator) Merge(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
	return take(ctx, g.i, "merge", func() (ports.Merge, error) { return g.in.Merge(ctx, Unwrap(ws), spec) })
}

func (g integrator) Held(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
	return ask(ctx, g.i, "held", func() (ports.Hold, error) { return g.in.Held(ctx, Unwrap(ws), spec) })
}

func (g integrator) Rehold(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (bool, error) {
	return take(ctx, g.i, "rehold", func() (bool, error) { return g.in.Rehold(ctx, Unwrap(ws), spec) })
}

func (g integrator) Resolve(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
	return take(ctx, g.i, "take the resolution", func() (ports.Merge, error) { return g.in.Resolve(ctx, Unwrap(ws), spec, were) })
}

// Settle passes on what was done even where the rest failed.
func (g integrator) Settle(ctx context.Context, ws ports.Workspace, tree, reason string) (done ports.PutBack, err error) {
	err = g.i.change(ctx, "settle", func() (err error) { done, err = g.in.Settle(ctx, Unwrap(ws), tree, reason); return err })
	return done, err
}

func (g integrator) Snapshot(ctx context.Context, ws ports.Workspace, spec ports.CommitSpec) (string, error) {
	return take(ctx, g.i, "snapshot", func() (string, error) { return g.in.Snapshot(ctx, Unwrap(ws), spec) })
}

// Restore passes on what was done even where the rest failed.
func (g integrator) Restore(ctx context.Context, ws ports.Workspace, snapshot, reason string) (done ports.PutBack, err error) {
	err = g.i.change(ctx, "restore", func() (err error) { done, err = g.in.Restore(ctx, Unwrap(ws), snapshot, reason); return err })
	return done, err
}

func (g integrator) Commit(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
	return take(ctx, g.i, "commit the merge", func() (ports.Commit, error) { return g.in.Commit(ctx, spec, tree, commit) })
}

// Conclude passes on what was done even where the rest failed.
func (g integrator) Conclude(ctx context.Context, ws ports.Workspace, commit, reason string) (done ports.PutBack, err error) {
	err = g.i.change(ctx, "conclude", func() (err error) { done, err = g.in.Conclude(ctx, Unwrap(ws), commit, reason); return err })
	return done, err
}
