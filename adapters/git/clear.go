package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// Clear removes the run's checkouts, branches and kept commits. What is in a
// checkout and in no commit is salvaged first, except ignored files, which go
// with it.
func (w *worktrees) Clear(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
	op := "clear run " + w.label
	cleared, err := w.clear(ctx, branches)
	if err != nil {
		return cleared, w.repo.fault(op, err)
	}
	cleared.Salvage, err = w.repo.Salvaged(ctx, w.label)
	return cleared, w.repo.fault(op, err)
}

func (w *worktrees) clear(ctx context.Context, branches map[string]string) (ports.Cleared, error) {
	cleared := ports.Cleared{Label: w.label}
	tips, err := w.expected(ctx, branches)
	if err != nil {
		return cleared, err
	}
	checkouts, err := w.checkouts()
	if err != nil {
		return cleared, err
	}
	if err := w.mayRemove(ctx, checkouts, tips); err != nil {
		return cleared, err
	}
	for _, c := range checkouts {
		if err := c.remove(ctx, w); err != nil {
			return cleared, fmt.Errorf("remove the worktree %s: %w", c.dir, err)
		}
		cleared.Worktrees = append(cleared.Worktrees, c.dir)
	}
	if err := w.deleteRefs(ctx, tips); err != nil {
		return cleared, err
	}
	for _, tip := range tips {
		cleared.Branches = append(cleared.Branches, tip.Branch)
	}
	cleared.Tips = tips
	_ = os.Remove(w.folder()) // only if nothing is left in it
	return cleared, nil
}

// expected returns the branches that are there, each where it should be.
func (w *worktrees) expected(ctx context.Context, branches map[string]string) ([]ports.Tip, error) {
	var tips []ports.Tip
	for branch, want := range branches {
		if err := checkBranch(branch); err != nil {
			return nil, ports.Invalid.Errorf("", "%w", err)
		}
		at, err := w.repo.branchAt(ctx, branch)
		switch {
		case err != nil:
			return nil, err
		case at == "": // an earlier Clear came this far
		case at != want:
			return nil, elsewhere("", branch, at, want)
		default:
			tips = append(tips, ports.Tip{Branch: branch, Commit: at})
		}
	}
	slices.SortFunc(tips, func(a, b ports.Tip) int { return strings.Compare(a.Branch, b.Branch) })
	return tips, nil
}

// checkouts returns what there is of each checkout of the run: its directory,
// its note, or only its registration.
func (w *worktrees) checkouts() ([]*checkout, error) {
	ids, err := w.repo.registrations()
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*checkout)
	at := func(namespace string) *checkout {
		if byName[namespace] == nil {
			byName[namespace] = w.checkout(ports.Place{Namespace: namespace, Branch: w.branch(namespace)})
		}
		return byName[namespace]
	}
	for dir, id := range ids {
		if filepath.Dir(dir) == w.folder() {
			at(filepath.Base(dir)).gitDir = w.repo.adminDir(id)
		}
	}
	entries, err := os.ReadDir(w.folder())
	if err != nil && !missing(err) {
		return nil, err
	}
	for _, e := range entries {
		namespace := e.Name()
		if noted, ok := strings.CutPrefix(namespace, "."); ok { // a note, or what a killed writing of one left
			namespace, ok = strings.CutSuffix(strings.TrimSuffix(noted, ".new"), ".gitdir")
			if !ok {
				continue
			}
		}
		if checkName(namespace) != nil {
			continue
		}
		c := at(namespace)
		n, err := c.readNote()
		if err != nil {
			return nil, err
		}
		if n.id != "" {
			c.gitDir = w.repo.adminDir(n.id)
		}
		if c.gitDir == "" && !n.exists && isDir(c.dir) {
			delete(byName, namespace) // not AGL's: it stays
		}
	}
	var all []*checkout
	for _, c := range byName {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *checkout) int { return strings.Compare(a.namespace, b.namespace) })
	return all, nil
}

// branch is the branch of a namespace, as every run names them.
func (w *worktrees) branch(namespace string) string {
	if namespace == ports.Base {
		return "agl/" + w.label
	}
	return "agl/_work/" + w.label + "/" + namespace
}

// mayRemove refuses to go on while somebody else has a hold on what would be
// removed: a locked worktree, or a branch that is checked out elsewhere.
func (w *worktrees) mayRemove(ctx context.Context, checkouts []*checkout, tips []ports.Tip) error {
	own := make(map[string]bool)
	for _, c := range checkouts {
		own[c.dir] = true
		if c.gitDir == "" {
			continue
		}
		if reason, foreign := c.foreignLock(c.gitDir); foreign {
			return ports.Conflicted.Errorf("", "the worktree %s is locked (%s); unlock it with git worktree unlock",
				c.dir, ports.Clip(ports.Printable(reason), 200))
		}
	}
	out, err := w.run(ctx, call{read: true, args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return err
	}
	dir := ""
	for line := range strings.SplitSeq(string(out), "\x00") {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			dir = path
		}
		name, ok := strings.CutPrefix(line, "branch refs/heads/")
		if ok && !own[dir] && slices.ContainsFunc(tips, func(t ports.Tip) bool { return t.Branch == name }) {
			return ports.Conflicted.Errorf("", "branch %s is checked out in another worktree (%s); switch that to another branch first", name, dir)
		}
	}
	return nil
}

// remove removes a checkout and its registration.
func (c *checkout) remove(ctx context.Context, w *worktrees) error {
	n, err := c.readNote()
	if err != nil {
		return err
	}
	if isDir(c.dir) && c.gitDir != "" && (n.done || !n.exists) {
		if err := c.keepWork(ctx); err != nil {
			return err
		}
		if err := c.writeNote("removing", filepath.Base(c.gitDir)); err != nil {
			return err
		}
	}
	if isDir(c.dir) && c.gitDir == "" {
		if _, err := c.repo.moveAside(c.dir, c.label, c.namespace+"-checkout"); err != nil {
			return err
		}
	}
	if isDir(c.gitDir) {
		if isDir(c.dir) { // half removed or half made: git wants it whole
			if _, err := c.repair(ctx, ""); err != nil {
				return err
			}
		}
		if err := c.deregister(ctx, w); err != nil {
			return err
		}
	}
	for _, path := range []string{c.notePath() + ".new", c.notePath()} {
		if err := os.Remove(path); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// keepWork salvages what is in the checkout and in no commit.
func (c *checkout) keepWork(ctx context.Context) error {
	head, err := c.repo.branchAt(ctx, c.branch)
	if err != nil {
		return err
	}
	if len(c.damage()) > 0 {
		if _, err := c.repair(ctx, head); err != nil {
			return err
		}
	}
	var done ports.PutBack
	_, st, err := c.look(ctx, head, &done)
	if err != nil {
		return err
	}
	if st.oid == "" {
		return ports.Conflicted.Errorf("", "its branch is gone, so what is in it cannot be compared; look into it, then git worktree remove it")
	}
	_, err = c.salvageForRemoval(ctx, st.oid, "the run was cleared") // also of commits that only its reflog names
	return err
}

// deregister has git remove a checkout and its admin folder.
func (c *checkout) deregister(ctx context.Context, w *worktrees) error {
	if err := c.unlock(c.gitDir); err != nil {
		return err
	}
	held, unlock, err := c.repo.lockWorktrees(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	remove := call{long: true, args: []string{"worktree", "remove", "--force", c.dir}, files: []*os.File{held}}
	_, err = w.run(ctx, remove)
	if !notPermitted(err) {
		return err
	}
	if _, repairErr := c.repair(ctx, ""); repairErr != nil { // git wants a whole one to go on
		return errors.Join(err, repairErr)
	}
	if openErr := openFolders(c.dir); openErr != nil {
		return errors.Join(err, openErr)
	}
	_, err = w.run(ctx, remove)
	return err
}

// deleteRefs deletes the branches, each by where it is, and the refs of kept
// commits: all of them or none.
func (w *worktrees) deleteRefs(ctx context.Context, tips []ports.Tip) error {
	out, err := w.run(ctx, call{read: true, args: []string{"for-each-ref", "--format=%(refname) %(objectname)", keepRef(w.label, "")}})
	if err != nil {
		return err
	}
	var script strings.Builder
	for _, tip := range tips {
		fmt.Fprintf(&script, "option no-deref\ndelete %s %s\n", branchRef(tip.Branch), tip.Commit)
	}
	for line := range strings.Lines(string(out)) {
		fmt.Fprintf(&script, "option no-deref\ndelete %s\n", strings.TrimSpace(line))
	}
	if script.Len() == 0 {
		return nil
	}
	_, err = w.run(ctx, call{durable: true, stdin: strings.NewReader(script.String()), args: []string{"update-ref", "--stdin"}})
	return err
}
