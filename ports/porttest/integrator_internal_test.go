package porttest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/agl/ports"
)

func TestEveryRuleOfIntegratorHasItsNameAndItsSentence(t *testing.T) {
	t.Parallel()
	names(t, integratorRules())
}

func TestTheMemoryThatIsBrokenIsGood(t *testing.T) {
	t.Parallel()
	grade(t, integratorRules(), breakLanding(nil))
}

func TestBrokenMergesAreFound(t *testing.T) {
	t.Parallel()
	find(t, integratorRules(), []broken[*landsite]{
		{fault: "commits what it merges", rule: "a merge is in the checkout and on no branch", says: "branch agl/run-1 is at", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				if err == nil {
					err = b.land(ctx, spec, m)
				}
				return m, err
			}
		})},
		{fault: "tells the tree of theirs", rule: "a merged tree is that of its files", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				if m.Tree != "" {
					m.Tree, _ = b.repo.Tree(ctx, spec.Theirs)
				}
				return m, err
			}
		})},
		{fault: "lists the conflicts in the message", rule: "the message names both branches", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				if len(m.Conflicts) > 0 {
					m.Message += "\n# Conflicts:\n#\ta.txt\n"
				}
				return m, err
			}
		})},
		{fault: "fast-forwards", rule: "a branch that is behind is merged too", says: "the checkout holds \"\"", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				if behind, _ := b.repo.Contains(ctx, spec.Head, spec.Theirs); !behind {
					return b.Integrator.Merge(ctx, ws, spec)
				}
				tree, _ := b.repo.Tree(ctx, spec.Theirs)
				_, err := ws.PutBack(ctx, spec.Theirs, "fast-forward")
				return ports.Merge{Tree: tree}, err
			}
		})},
		{fault: "does not hold what changes no file", rule: "what changes no file is merged too", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				if tree, _ := b.repo.Tree(ctx, spec.Head); tree == m.Tree {
					_, err = ws.PutBack(ctx, spec.Head, "nothing to merge")
				}
				return m, err
			}
		})},
		{fault: "makes room for a merge", rule: "a checkout that is not clean is not merged into", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				if _, err := ws.PutBack(ctx, spec.Head, "tidy"); err != nil {
					return ports.Merge{}, err
				}
				return b.Integrator.Merge(ctx, ws, spec)
			}
		})},
		{fault: "gives up the merge that is held", rule: "one merge at a time is held", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				if held, _ := b.Integrator.Held(ctx, ws, spec); held != ports.HoldNone {
					_, _ = ws.PutBack(ctx, spec.Head, "another merge")
				}
				return b.Integrator.Merge(ctx, ws, spec)
			}
		})},
		{fault: "says of nothing that it was merged", rule: "what is in already is not merged", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				if in, _ := b.repo.Contains(ctx, spec.Theirs, spec.Head); in {
					m.Tree, err = b.repo.Tree(ctx, spec.Head)
				}
				return m, err
			}
		})},
		{fault: "merges what a name says", rule: "unknown commits are not merged", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				if id, err := b.repo.Resolve(ctx, spec.Theirs); err == nil {
					spec.Theirs = id
				}
				return b.Integrator.Merge(ctx, ws, spec)
			}
		})},
		{fault: "stops at the first conflict", rule: "conflicts are told by path and kind", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				m.Conflicts = m.Conflicts[:min(len(m.Conflicts), 1)]
				return m, err
			}
		})},
		{fault: "takes ours", rule: "a file in conflict has both sides", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				for _, p := range m.Conflicts {
					if text, ok := b.repo.Files(spec.Head)[p.Path]; ok {
						err = errors.Join(err, memory(ws).WriteFile(context.Background(), p.Path, []byte(text)))
					}
				}
				return m, err
			}
		})},
		{fault: "a removal wins", rule: "who removed and who changed makes no difference", says: "the files of the checkout", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				for _, p := range m.Conflicts {
					if p.Kind == ports.ConflictDeleteModify {
						memory(ws).Remove(context.Background(), p.Path)
					}
				}
				return m, err
			}
		})},
		{fault: "marks what is no text", rule: "what is no text is in conflict whole", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				for _, p := range m.Conflicts {
					err = errors.Join(err, memory(ws).WriteFile(context.Background(), p.Path, []byte("<<<<<<< HEAD\n\x00ours\n=======\n\x00theirs\n>>>>>>> x\n")))
				}
				return m, err
			}
		})},
		{fault: "tells a hundred conflicts", rule: "many conflicts are all told", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				m.Conflicts = m.Conflicts[:min(len(m.Conflicts), 100)]
				return m, err
			}
		})},
		{fault: "quotes paths", rule: "many conflicts are all told", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				m, err := b.Integrator.Merge(ctx, ws, spec)
				for i, p := range m.Conflicts {
					m.Conflicts[i].Path = strings.ReplaceAll(p.Path, "\t", `\t`)
				}
				return m, err
			}
		})},
		{fault: "promises criss-crosses", rule: "a criss-cross is merged", fresh: overpromise(func(o *IntegratorOptions) { o.CrissCross = true })},
		{fault: "promises renames", rule: "a renamed file takes the other's changes", fresh: overpromise(func(o *IntegratorOptions) { o.Renames = true })},
		{fault: "promises ignored files", rule: "a file that is in the way blocks the merge", fresh: overpromise(func(o *IntegratorOptions) { o.Ignored = true })},
		{fault: "promises modes", rule: "modes are merged", fresh: overpromise(func(o *IntegratorOptions) { o.Modes = true })},
		{fault: "one landing at a time, badly", rule: "different checkouts are landed in at once", fresh: breakLanding(func(b *brokenIntegrator) {
			var mu sync.Mutex
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				if !mu.TryLock() {
					return ports.Merge{}, ports.Unavailable.Errorf("", "the repository is locked")
				}
				return b.Integrator.Merge(ctx, ws, spec)
			}
		})},
		{fault: "merges under a cancelled context", rule: "a cancelled landing changes nothing", says: "Merge", fresh: breakLanding(func(b *brokenIntegrator) {
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				return b.Integrator.Merge(context.WithoutCancel(ctx), ws, spec)
			}
		})},
		{fault: "a child lands once", rule: "one child lands several times", fresh: breakLanding(func(b *brokenIntegrator) {
			landed := map[string]bool{}
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				if landed[spec.Branch] {
					return ports.Merge{}, ports.Conflicted.Errorf("", "%s was landed", spec.Branch)
				}
				landed[spec.Branch] = true
				return b.Integrator.Merge(ctx, ws, spec)
			}
		})},
	})
}

// land commits a merge and moves the branch.
func (b *brokenIntegrator) land(ctx context.Context, landed ports.MergeSpec, m ports.Merge) error {
	made, err := b.Integrator.Commit(ctx, landed, m.Tree, spec(landed.Head, m.Message))
	if err != nil {
		return err
	}
	trees, err := b.repo.Attach(ctx, run, nil)
	if err != nil {
		return err
	}
	return trees.Move(ctx, landed.Into, landed.Head, made.ID)
}

func TestBrokenHoldsAreFound(t *testing.T) {
	t.Parallel()
	find(t, integratorRules(), []broken[*landsite]{
		{fault: "knows only that there is a merge", rule: "whatever was done in a merge is an edit", fresh: breakLanding(func(b *brokenIntegrator) {
			b.held = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
				held, err := b.Integrator.Held(ctx, ws, spec)
				if held == ports.HoldEdited {
					held = ports.HoldPristine
				}
				return held, err
			}
		})},
		{fault: "every merge is held", rule: "a merge is held until it is ended", fresh: breakLanding(func(b *brokenIntegrator) {
			b.rehold = func(context.Context, ports.Workspace, ports.MergeSpec) (bool, error) { return true, nil }
		})},
		{fault: "an edited merge is none", rule: "a merge is held until it is ended", fresh: breakLanding(func(b *brokenIntegrator) {
			b.rehold = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (bool, error) {
				held, err := b.Integrator.Held(ctx, ws, spec)
				return held == ports.HoldPristine, err
			}
		})},
		{fault: "every merge is its own", rule: "another merge is another", fresh: breakLanding(func(b *brokenIntegrator) {
			b.held = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
				held, err := b.Integrator.Held(ctx, ws, spec)
				if held == ports.HoldOther {
					held = ports.HoldEdited
				}
				return held, err
			}
		})},
		{fault: "a dirty checkout is an edited merge", rule: "no merge is held before and after", fresh: breakLanding(func(b *brokenIntegrator) {
			b.held = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
				held, err := b.Integrator.Held(ctx, ws, spec)
				if changes, _ := ws.Inspect(ctx, spec.Head); held == ports.HoldNone && !changes.Clean(spec.Head) {
					held = ports.HoldEdited
				}
				return held, err
			}
		})},
		{fault: "remembers that something was done", rule: "a merge is pristine by its content", fresh: breakLanding(func(b *brokenIntegrator) {
			touched := false
			b.held = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
				held, err := b.Integrator.Held(ctx, ws, spec)
				touched = touched || held == ports.HoldEdited
				if touched {
					held = ports.HoldEdited
				}
				return held, err
			}
		})},
		{fault: "asking stages", rule: "asking changes nothing", fresh: breakLanding(func(b *brokenIntegrator) {
			b.held = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
				held, err := b.Integrator.Held(ctx, ws, spec)
				if held == ports.HoldEdited {
					_, err = b.Integrator.Resolve(ctx, ws, spec, clashes)
				}
				return held, err
			}
		})},
		{fault: "knows the merges of its process", rule: "a hold outlives its process", fresh: breakLanding(func(b *brokenIntegrator) {
			mine := false
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				mine = true
				return b.Integrator.Merge(ctx, ws, spec)
			}
			b.held = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
				if !mine {
					return ports.HoldNone, nil
				}
				return b.Integrator.Held(ctx, ws, spec)
			}
		})},
		{fault: "a step commits a merge", rule: "a checkout that holds a merge cannot be committed", fresh: breakHolds(nil, func(w *brokenCheckout) {
			w.commit = func(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
				made, err := w.Workspace.Commit(ctx, spec)
				if _, rejected := errors.AsType[*ports.RejectedError](err); rejected {
					return ports.Commit{ID: spec.Head}, nil
				}
				return made, err
			}
		})},
		{fault: "putting back leaves a merge that changes no file", rule: "what changes no file is merged too", says: "put back", fresh: breakHolds(nil, func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				if changes, _ := w.Inspect(ctx, head); changes.Clean(head) {
					return ports.PutBack{}, nil
				}
				return w.Workspace.PutBack(ctx, head, reason)
			}
		})},
		{fault: "puts back without salvage", rule: "what a person typed is never lost", fresh: breakHolds(nil, func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				done, err := w.Workspace.PutBack(ctx, head, reason)
				done.Salvage = nil
				return done, err
			}
		})},
		{fault: "salvages nothing that was merged", rule: "what was staged is not lost either", fresh: breakHolds(nil, func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				done, err := w.Workspace.PutBack(ctx, head, reason)
				if done.Salvage != nil {
					s := *done.Salvage
					s.Index = ""
					done.Salvage = &s
				}
				return done, err
			}
		})},
		{fault: "salvages whatever is not in a commit", rule: "an untouched merge leaves no salvage", fresh: breakHolds(nil, func(w *brokenCheckout) {
			w.putBack = func(ctx context.Context, head, reason string) (ports.PutBack, error) {
				if changes, _ := w.Inspect(ctx, head); !changes.Clean(head) {
					if err := memory(w).WriteFile(context.Background(), "touched", nil); err != nil {
						return ports.PutBack{}, err
					}
				}
				return w.Workspace.PutBack(ctx, head, reason)
			}
		})},
	})
}

func TestBrokenResolutionsAreFound(t *testing.T) {
	t.Parallel()
	resolve := func(fn func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error)) func(testing.TB) *landsite {
		return breakLanding(func(b *brokenIntegrator) {
			b.resolve = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
				return fn(b, ctx, ws, spec, were)
			}
		})
	}
	find(t, integratorRules(), []broken[*landsite]{
		{fault: "stages what was in conflict alone", rule: "a resolution is what is in the checkout", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			files := b.files(ws)
			memory(ws).Remove(context.Background(), "added by hand")
			m, err := b.Integrator.Resolve(ctx, ws, spec, were)
			return m, errors.Join(err, write(ws, files, "added by hand"))
		})},
		{fault: "a removed file is not resolved", rule: "a file in conflict may be removed", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			files := b.files(ws)
			were = slices.DeleteFunc(slices.Clone(were), func(p ports.ConflictPath) bool { _, there := files[p.Path]; return !there })
			return b.Integrator.Resolve(ctx, ws, spec, were)
		})},
		{fault: "takes what has no markers", rule: "what nobody has touched is a conflict still", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			files := b.files(ws)
			for _, p := range were {
				memory(ws).WriteFile(context.Background(), p.Path, []byte("decided\n"))
			}
			if m, err := b.Integrator.Resolve(ctx, ws, spec, were); err != nil || m.Tree == "" {
				return m, err
			}
			for _, p := range were {
				if err := write(ws, files, p.Path); err != nil {
					return ports.Merge{}, err
				}
			}
			return b.Integrator.Resolve(ctx, ws, spec, nil)
		})},
		{fault: "takes markers", rule: "markers that are left are conflicts", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			files := b.files(ws)
			for _, p := range were {
				memory(ws).Remove(context.Background(), p.Path)
			}
			m, err := b.Integrator.Resolve(ctx, ws, spec, were)
			for _, p := range were {
				err = errors.Join(err, write(ws, files, p.Path))
			}
			return m, err
		})},
		{fault: "says nothing of where", rule: "markers that are left are conflicts", says: "does not note the line", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			m, err := b.Integrator.Resolve(ctx, ws, spec, were)
			for i := range m.Conflicts {
				m.Conflicts[i].Note = ""
			}
			return m, err
		})},
		{fault: "an underline is a marker", rule: "what only looks like a marker is none", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			m, err := b.Integrator.Resolve(ctx, ws, spec, were)
			for _, p := range were {
				if bytes.Contains([]byte("\n"+b.files(ws)[p.Path]), []byte("\n=======")) {
					m.Tree, m.Conflicts = "", append(m.Conflicts, ports.ConflictPath{Path: p.Path, Kind: ports.ConflictMarkers, Note: "line 1"})
				}
			}
			return m, err
		})},
		{fault: "looks for markers everywhere", rule: "what only looks like a marker is none", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			for path := range b.files(ws) {
				if !slices.ContainsFunc(were, func(p ports.ConflictPath) bool { return p.Path == path }) {
					were = append(slices.Clone(were), ports.ConflictPath{Path: path, Kind: ports.ConflictContent})
				}
			}
			return b.Integrator.Resolve(ctx, ws, spec, were)
		})},
		{fault: "stages every conflict", rule: "a conflict that nobody was told of stays", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			return b.Integrator.Resolve(ctx, ws, spec, slices.Concat(were, clashes))
		})},
		{fault: "forgets the message", rule: "what is resolved may be taken again", fresh: resolve(func(b *brokenIntegrator, ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
			m, err := b.Integrator.Resolve(ctx, ws, spec, were)
			m.Message = ""
			return m, err
		})},
		{fault: "takes whatever is held", rule: "only its own merge is resolved", fresh: breakLanding(func(b *brokenIntegrator) {
			var last ports.MergeSpec
			b.merge = func(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
				last = spec
				return b.Integrator.Merge(ctx, ws, spec)
			}
			b.resolve = func(ctx context.Context, ws ports.Workspace, _ ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
				return b.Integrator.Resolve(ctx, ws, last, were)
			}
		})},
	})
}

// files returns the files of a checkout.
func (b *brokenIntegrator) files(ws ports.Workspace) map[string]string {
	files := map[string]string{}
	_ = fs.WalkDir(ws.Tree(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			data, _ := fs.ReadFile(ws.Tree(), path)
			files[path] = string(data)
		}
		return err
	})
	return files
}

// write writes one of files again, if it is among them.
func write(ws ports.Workspace, files map[string]string, path string) error {
	if text, ok := files[path]; ok {
		return memory(ws).WriteFile(context.Background(), path, []byte(text))
	}
	return nil
}
