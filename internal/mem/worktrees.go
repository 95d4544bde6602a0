package mem

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// worktrees are one run's.
type worktrees struct {
	repo  *Repository
	label string
}

var _ ports.Worktrees = (*worktrees)(nil)

var (
	branchName = regexp.MustCompile(`^agl(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)
	plainName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	keepName   = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)
)

// checkName refuses what cannot be part of a ref.
func checkName(op, name string, form *regexp.Regexp) error {
	if form.MatchString(name) && !strings.Contains(name, "..") && !strings.Contains(name+"/", "./") && !strings.Contains(name+"/", ".lock/") {
		return nil
	}
	return ports.Invalid.Errorf(op, "%q is no name of letters, digits, '.', '_' and '-', or not one of AGL's", name)
}

// Branch returns the commit of a branch, or "". One that cannot be made
// because of another is Conflicted.
func (r *Repository) Branch(ctx context.Context, branch string) (string, error) {
	op := "look for branch " + branch
	if err := checkName(op, branch, branchName); err != nil {
		return "", err
	}
	if err := r.enter(ctx); err != nil {
		return "", err
	}
	defer r.mu.Unlock()
	return r.at(op, branch)
}

// at is Branch for a caller that holds mu.
func (r *Repository) at(op, branch string) (string, error) {
	if at := r.branches[branch]; at != "" {
		return at, nil
	}
	for other := range r.branches {
		if strings.HasPrefix(other, branch+"/") || strings.HasPrefix(branch, other+"/") {
			return "", ports.Conflicted.Errorf(op, "branch %s exists, so there cannot be a branch %s", other, branch)
		}
	}
	return "", nil
}

// elsewhere says that a branch is not where it should be.
func elsewhere(op, branch, at, want string) error {
	name := func(id string) string {
		if id == "" {
			return "missing"
		}
		return "at " + id
	}
	return ports.Conflicted.Errorf(op, "branch %s is %s, not %s", branch, name(at), name(want))
}

// Attach returns the worktrees of a run.
func (r *Repository) Attach(ctx context.Context, label string, _ ports.Lock) (ports.Worktrees, error) {
	if err := checkName("attach to run "+label, label, plainName); err != nil {
		return nil, err
	}
	return &worktrees{repo: r, label: label}, ctx.Err()
}

// Identity is always the same.
func (w *worktrees) Identity(ctx context.Context) (string, error) { return operator, ctx.Err() }

func (w *worktrees) key(namespace string) string { return w.label + "/" + namespace }

// Open returns the checkout of place.
func (w *worktrees) Open(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
	op := "open the worktree of " + place.Namespace
	if err := checkName(op, place.Namespace, plainName); err != nil {
		return nil, err
	}
	if err := checkName(op, place.Branch, branchName); err != nil {
		return nil, err
	}
	r := w.repo
	if err := r.enter(ctx); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	c, err := r.find(op, head)
	if err != nil {
		return nil, err
	}
	switch at, err := r.at(op, place.Branch); {
	case err != nil:
		return nil, err
	case at == "":
		r.branches[place.Branch] = head
	case at != head:
		return nil, elsewhere(op, place.Branch, at, head)
	}
	key := w.key(place.Namespace)
	ws := r.trees[key]
	if ws == nil {
		ws = &Workspace{
			repo: r, label: w.label, namespace: place.Namespace, branch: place.Branch,
			index: c.tree, files: maps.Clone(c.tree), log: []string{head},
		}
		r.trees[key] = ws
	}
	if ws.branch != place.Branch {
		return nil, unsupported("the checkout of %s is on branch %s, not on %s", place.Namespace, ws.branch, place.Branch)
	}
	return ws, nil
}

// Exists reports whether there is a checkout of a namespace.
func (w *worktrees) Exists(ctx context.Context, namespace string) (bool, error) {
	if err := checkName("look for the worktree of "+namespace, namespace, plainName); err != nil {
		return false, err
	}
	if err := w.repo.enter(ctx); err != nil {
		return false, err
	}
	defer w.repo.mu.Unlock()
	return w.repo.trees[w.key(namespace)] != nil, nil
}

// Move moves a branch from commit old to commit new.
func (w *worktrees) Move(ctx context.Context, branch, old, new string) error {
	op := "move branch " + branch
	if err := checkName(op, branch, branchName); err != nil {
		return err
	}
	r := w.repo
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.mu.Unlock()
	at, err := r.at(op, branch)
	switch {
	case err != nil:
		return err
	case at == new && at != "":
		return nil
	case at != old:
		return elsewhere(op, branch, at, old)
	}
	if _, err := r.find(op, new); err != nil {
		return err
	}
	r.branches[branch] = new
	return nil
}

// Keep holds a commit until Clear.
func (w *worktrees) Keep(ctx context.Context, name, commit string) error {
	op := fmt.Sprintf("keep commit %s as %q", commit, name)
	if err := checkName(op, name, keepName); err != nil {
		return err
	}
	r := w.repo
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.mu.Unlock()
	if _, err := r.find(op, commit); err != nil {
		return err
	}
	if at := r.kept[w.key(name)]; at != "" && at != commit {
		return ports.Conflicted.Errorf(op, "that name holds %s already", at)
	}
	r.kept[w.key(name)] = commit
	return nil
}

// Clear removes the run's checkouts, branches and kept commits. What is in a
// checkout and in no commit is salvaged first.
func (w *worktrees) Clear(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
	op := "clear run " + w.label
	cleared := ports.Cleared{Label: w.label}
	r := w.repo
	for branch := range branches {
		if err := checkName(op, branch, branchName); err != nil {
			return cleared, err
		}
	}
	if err := r.enter(ctx); err != nil {
		return cleared, err
	}
	defer r.mu.Unlock()
	var tips []ports.Tip
	for _, branch := range slices.Sorted(maps.Keys(branches)) {
		if at := r.branches[branch]; at != "" {
			if at != branches[branch] {
				return cleared, elsewhere(op, branch, at, branches[branch])
			}
			tips = append(tips, ports.Tip{Branch: branch, Commit: at})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.trees)) {
		_, taken := branches[r.trees[key].branch]
		if label, _, _ := strings.Cut(key, "/"); label != w.label && taken {
			return cleared, ports.Conflicted.Errorf(op, "branch %s is checked out by run %s", r.trees[key].branch, label)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.trees)) {
		if ws := r.trees[key]; ws.label == w.label {
			r.salvageTree(ws, r.branches[ws.branch], "the run was cleared")
			ws.gone = true
			delete(r.trees, key)
			cleared.Worktrees = append(cleared.Worktrees, key)
		}
	}
	for _, tip := range tips {
		delete(r.branches, tip.Branch)
		cleared.Branches = append(cleared.Branches, tip.Branch)
	}
	cleared.Tips = tips
	maps.DeleteFunc(r.kept, func(key, _ string) bool { return strings.HasPrefix(key, w.label+"/") })
	cleared.Salvage = r.salvaged(w.label)
	return cleared, nil
}
