package porttest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

func TestBrokenEndingsOfMergesAreFound(t *testing.T) {
	t.Parallel()
	find(t, integratorRules(), []broken[*landsite]{
		{fault: "settling takes what is there for granted", rule: "what a gate left is put back", says: "the files of the checkout", fresh: breakLanding(func(b *brokenIntegrator) {
			b.settle = func(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
				return ports.PutBack{}, nil
			}
		})},
		{fault: "settling drops what a gate left", rule: "what a gate left is put back", says: "nothing was salvaged", fresh: breakLanding(func(b *brokenIntegrator) {
			b.settle = func(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
				_, err := b.Integrator.Settle(ctx, ws, tree, reason)
				return ports.PutBack{}, err
			}
		})},
		{fault: "settling salvages always", rule: "a resolution is settled", fresh: breakLanding(func(b *brokenIntegrator) {
			b.settle = func(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
				if err := memory(ws).WriteFile(context.Background(), "scratch", nil); err != nil {
					return ports.PutBack{}, err
				}
				return b.Integrator.Settle(ctx, ws, tree, reason)
			}
		})},
		{fault: "settling ends the merge", rule: "a resolution is settled", fresh: breakLanding(func(b *brokenIntegrator) {
			b.settle = func(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
				done, err := b.Integrator.Settle(ctx, ws, tree, reason)
				files := b.files(ws)
				_, _ = ws.PutBack(ctx, b.head(ctx, mainBranch), reason)
				for path := range files {
					err = errors.Join(err, write(ws, files, path))
				}
				return done, err
			}
		})},
		{fault: "settles where no merge is held", rule: "a tree that is not there is not settled", fresh: breakLanding(func(b *brokenIntegrator) {
			b.settle = func(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
				done, err := b.Integrator.Settle(ctx, ws, tree, reason)
				if ports.KindOf(err) == ports.Conflicted {
					return ws.PutBack(ctx, b.head(ctx, mainBranch), reason)
				}
				return done, err
			}
		})},
		{fault: "a snapshot is what is staged", rule: "a snapshot has the files as they are", fresh: breakLanding(func(b *brokenIntegrator) {
			b.snapshot = func(ctx context.Context, ws ports.Workspace, spec ports.CommitSpec) (string, error) {
				files := b.files(ws)
				memory(ws).Remove(context.Background(), "added by hand")
				kept, err := b.Integrator.Snapshot(ctx, ws, spec)
				return kept, errors.Join(err, write(ws, files, "added by hand"))
			}
		})},
		{fault: "a snapshot resolves", rule: "a snapshot has the files as they are", says: "what is unmerged after it", fresh: breakLanding(func(b *brokenIntegrator) {
			b.snapshot = func(ctx context.Context, ws ports.Workspace, made ports.CommitSpec) (string, error) {
				kept, err := b.Integrator.Snapshot(ctx, ws, made)
				theirs := b.head(ctx, place("kid").Branch)
				_, _ = b.Integrator.Resolve(ctx, ws, ports.MergeSpec{Head: made.Head, Theirs: theirs}, clashes)
				return kept, err
			}
		})},
		{fault: "restoring resolves", rule: "a snapshot is restored", says: "what is unmerged", fresh: breakLanding(func(b *brokenIntegrator) {
			b.restore = func(ctx context.Context, ws ports.Workspace, snapshot, reason string) (ports.PutBack, error) {
				tree, err := b.repo.Tree(ctx, snapshot)
				if err != nil {
					return ports.PutBack{}, err
				}
				return b.Integrator.Settle(ctx, ws, tree, reason)
			}
		})},
		{fault: "restoring loses what is there", rule: "restoring loses nothing", fresh: breakLanding(func(b *brokenIntegrator) {
			b.restore = func(ctx context.Context, ws ports.Workspace, snapshot, reason string) (ports.PutBack, error) {
				done, err := b.Integrator.Restore(ctx, ws, snapshot, reason)
				done.Salvage = nil
				return done, err
			}
		})},
		{fault: "a snapshot of anything", rule: "what is no merge has no snapshot", fresh: breakLanding(func(b *brokenIntegrator) {
			b.snapshot = func(ctx context.Context, ws ports.Workspace, spec ports.CommitSpec) (string, error) {
				kept, err := b.Integrator.Snapshot(ctx, ws, spec)
				if ports.KindOf(err) == ports.Conflicted {
					return spec.Head, nil
				}
				return kept, err
			}
		})},
		{fault: "commits what is in the checkout", rule: "a merge commit has exactly its tree", fresh: breakLanding(func(b *brokenIntegrator) {
			var last ports.Workspace
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				last = ws
				return b.Integrator.Merge(ctx, ws, spec)
			}
			b.commit = func(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
				if m, err := b.Integrator.Resolve(ctx, last, spec, clashes); err == nil && m.Tree != "" {
					tree = m.Tree
				}
				return b.Integrator.Commit(ctx, spec, tree, commit)
			}
		})},
		{fault: "a commit moves the branch", rule: "a commit moves nothing", fresh: breakLanding(func(b *brokenIntegrator) {
			b.commit = func(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
				made, err := b.Integrator.Commit(ctx, spec, tree, commit)
				if err == nil {
					err = b.land(ctx, spec, ports.Merge{Tree: tree, Message: commit.Message})
				}
				return made, err
			}
		})},
		{fault: "the parents are the other way round", rule: "a merge commit has both parents", fresh: breakLanding(func(b *brokenIntegrator) {
			b.commit = func(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
				spec.Head, spec.Theirs = spec.Theirs, spec.Head
				return b.Integrator.Commit(ctx, spec, tree, commit)
			}
		})},
		{fault: "an empty merge is no commit", rule: "an empty merge commit is made", fresh: breakLanding(func(b *brokenIntegrator) {
			b.commit = func(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
				made, err := b.Integrator.Commit(ctx, spec, tree, commit)
				if made.Empty {
					made.ID = spec.Head
				}
				return made, err
			}
		})},
		{fault: "strips a message", rule: "a message is used as it is written", fresh: breakLanding(func(b *brokenIntegrator) {
			b.commit = func(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
				commit.Message = strings.ReplaceAll(commit.Message, "# no comment\n", "")
				return b.Integrator.Commit(ctx, spec, tree, commit)
			}
		})},
		{fault: "commits a revision", rule: "what is not there is not committed", fresh: breakLanding(func(b *brokenIntegrator) {
			b.commit = func(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
				if tree == "HEAD" {
					tree, _ = b.repo.Tree(ctx, spec.Head)
				}
				return b.Integrator.Commit(ctx, spec, tree, commit)
			}
		})},
		{fault: "concluding leaves the files", rule: "what else is there is salvaged", fresh: breakLanding(func(b *brokenIntegrator) {
			b.conclude = func(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
				files := b.files(ws)
				done, err := b.Integrator.Conclude(ctx, ws, commit, reason)
				for path := range files {
					err = errors.Join(err, write(ws, files, path))
				}
				return done, err
			}
		})},
		{fault: "concludes what it holds", rule: "concluding may be repeated", fresh: breakLanding(func(b *brokenIntegrator) {
			b.conclude = func(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
				if held, _ := b.Integrator.Held(ctx, ws, ports.MergeSpec{}); held == ports.HoldNone {
					return ports.PutBack{}, ports.Conflicted.Errorf("", "there is no merge to conclude")
				}
				return b.Integrator.Conclude(ctx, ws, commit, reason)
			}
		})},
		{fault: "salvages what was landed", rule: "a concluded merge is over", fresh: breakLanding(func(b *brokenIntegrator) {
			b.conclude = func(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
				if err := memory(ws).WriteFile(context.Background(), "scratch", nil); err != nil {
					return ports.PutBack{}, err
				}
				return b.Integrator.Conclude(ctx, ws, commit, reason)
			}
		})},
		{fault: "concluding moves the branch", rule: "a branch that was not moved is not concluded", fresh: breakLanding(func(b *brokenIntegrator) {
			b.conclude = func(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
				return ws.PutBack(ctx, commit, reason)
			}
		})},
		{fault: "concludes merges of its process", rule: "a recorded landing is finished", fresh: breakLanding(func(b *brokenIntegrator) {
			mine := false
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				mine = true
				return b.Integrator.Merge(ctx, ws, spec)
			}
			b.conclude = func(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
				if !mine {
					return ports.PutBack{}, nil
				}
				return b.Integrator.Conclude(ctx, ws, commit, reason)
			}
		})},
		{fault: "clearing gives a merge up", rule: "clearing loses no merge", fresh: func(t testing.TB) *landsite {
			return IntegratorOptions{New: func(_ testing.TB, files map[string]string) Repository {
				repo := mem.NewRepository(mem.NewClock(), files)
				r := landsInMemory(repo, nil, nil)
				r.Workspaces = &brokenRepo{Repository: repo, trees: droppingSalvage}
				return r
			}}.subject(t)
		}},
	})
}

// head returns where a branch is.
func (b *brokenIntegrator) head(ctx context.Context, branch string) string {
	at, _ := b.repo.Branch(ctx, branch)
	return at
}
