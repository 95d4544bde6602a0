package porttest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A brokenHistory is a good one but for the methods that are set.
type brokenHistory struct {
	*mem.Repository
	branch   func() (string, error)
	resolve  func(ctx context.Context, rev string) (string, error)
	contains func(ctx context.Context, ancestor, descendant string) (bool, error)
	tree     func(ctx context.Context, commit string) (string, error)
	message  func(ctx context.Context, commit string) (string, error)
}

func (h *brokenHistory) Default(ctx context.Context) (string, error) {
	if h.branch != nil {
		return h.branch()
	}
	return h.Repository.Default(ctx)
}

func (h *brokenHistory) Resolve(ctx context.Context, rev string) (string, error) {
	if h.resolve != nil {
		return h.resolve(ctx, rev)
	}
	return h.Repository.Resolve(ctx, rev)
}

func (h *brokenHistory) Contains(ctx context.Context, ancestor, descendant string) (bool, error) {
	if h.contains != nil {
		return h.contains(ctx, ancestor, descendant)
	}
	return h.Repository.Contains(ctx, ancestor, descendant)
}

func (h *brokenHistory) Tree(ctx context.Context, commit string) (string, error) {
	if h.tree != nil {
		return h.tree(ctx, commit)
	}
	return h.Repository.Tree(ctx, commit)
}

func (h *brokenHistory) Message(ctx context.Context, commit string) (string, error) {
	if h.message != nil {
		return h.message(ctx, commit)
	}
	return h.Repository.Message(ctx, commit)
}

func breakHistory(change func(*brokenHistory)) func(testing.TB) *site {
	return func(t testing.TB) *site {
		return HistoryOptions{New: func(_ testing.TB, files map[string]string) Repository {
			h := &brokenHistory{Repository: mem.NewRepository(mem.NewClock(), files)}
			change(h)
			r := repositoryInMemory(&brokenRepo{Repository: h.Repository})
			r.History = h
			return r
		}}.subject(t)
	}
}

func TestABrokenHistoryIsFound(t *testing.T) {
	t.Parallel()
	find(t, historyRules, []broken[*site]{
		{fault: "the last branch is the default", rule: "the default is the operator's branch", fresh: breakHistory(func(h *brokenHistory) {
			h.branch = func() (string, error) { return mainBranch, nil }
		})},
		{fault: "an id is taken on trust", rule: "a revision that names none is NotFound", fresh: breakHistory(func(h *brokenHistory) {
			h.resolve = func(ctx context.Context, rev string) (string, error) {
				if len(rev) == 40 {
					return rev, nil
				}
				return h.Repository.Resolve(ctx, rev)
			}
		})},
		{fault: "nothing is no error", rule: "a revision that names none is NotFound", fresh: breakHistory(func(h *brokenHistory) {
			h.resolve = func(ctx context.Context, rev string) (string, error) {
				id, err := h.Repository.Resolve(ctx, rev)
				if ports.KindOf(err) == ports.NotFound {
					err = nil
				}
				return id, err
			}
		})},
		{fault: "a short id stays short", rule: "a revision names a commit", fresh: breakHistory(func(h *brokenHistory) {
			h.resolve = func(ctx context.Context, rev string) (string, error) {
				id, err := h.Repository.Resolve(ctx, rev)
				if strings.HasPrefix(id, rev) {
					id = rev
				}
				return id, err
			}
		})},
		{fault: "no commit contains itself", rule: "a commit contains what it stands on", fresh: breakHistory(func(h *brokenHistory) {
			h.contains = func(ctx context.Context, ancestor, descendant string) (bool, error) {
				ok, err := h.Repository.Contains(ctx, ancestor, descendant)
				return ok && ancestor != descendant, err
			}
		})},
		{fault: "looks the other way", rule: "a commit contains what it stands on", fresh: breakHistory(func(h *brokenHistory) {
			h.contains = func(ctx context.Context, ancestor, descendant string) (bool, error) {
				return h.Repository.Contains(ctx, descendant, ancestor)
			}
		})},
		{fault: "looks at one parent", rule: "a commit contains what it stands on", fresh: breakHistory(func(h *brokenHistory) {
			h.contains = func(ctx context.Context, ancestor, descendant string) (bool, error) {
				commits, err := h.Commits("", descendant)
				return err == nil && (ancestor == descendant || len(commits) > 1 && commits[len(commits)-2].ID == ancestor), err
			}
		})},
		{fault: "what is not there contains nothing", rule: "a commit that is not there is NotFound", fresh: breakHistory(func(h *brokenHistory) {
			h.contains = func(ctx context.Context, ancestor, descendant string) (bool, error) {
				ok, _ := h.Repository.Contains(ctx, ancestor, descendant)
				return ok, nil
			}
		})},
		{fault: "what is not there contains itself", rule: "a commit that is not there is NotFound", fresh: breakHistory(func(h *brokenHistory) {
			h.contains = func(ctx context.Context, ancestor, descendant string) (bool, error) {
				if ancestor == descendant {
					return true, nil
				}
				return h.Repository.Contains(ctx, ancestor, descendant)
			}
		})},
		{fault: "a tree a commit", rule: "a tree is its files", fresh: breakHistory(func(h *brokenHistory) {
			h.tree = func(_ context.Context, commit string) (string, error) { return commit, nil }
		})},
		{fault: "contents without names", rule: "a tree is its files", fresh: breakHistory(func(h *brokenHistory) {
			h.tree = func(_ context.Context, commit string) (string, error) {
				return strings.Join(slices.Sorted(maps.Values(h.Files(commit))), ""), nil
			}
		})},
		{fault: "the subject alone", rule: "a message is told without its end", fresh: breakHistory(func(h *brokenHistory) {
			h.message = func(ctx context.Context, commit string) (string, error) {
				message, err := h.Repository.Message(ctx, commit)
				message, _, _ = strings.Cut(message, "\n")
				return message, err
			}
		})},
		{fault: "with a line's end", rule: "a message is told without its end", fresh: breakHistory(func(h *brokenHistory) {
			h.message = func(ctx context.Context, commit string) (string, error) {
				message, err := h.Repository.Message(ctx, commit)
				return message + "\n", err
			}
		})},
		{fault: "a kind for a cancelled question", rule: "a cancelled question has no kind", fresh: breakHistory(func(h *brokenHistory) {
			h.tree = func(ctx context.Context, commit string) (string, error) {
				tree, err := h.Repository.Tree(ctx, commit)
				if err != nil {
					err = ports.Unavailable.Errorf("", "%w", err)
				}
				return tree, err
			}
		})},
	})
}
