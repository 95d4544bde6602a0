package mem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/agl/ports"
)

// A hold is the unfinished merge of a checkout.
type hold struct {
	head, theirs string
	branch, into string               // for the message
	made         snapshot             // the files, as Merge left them
	conflicts    []ports.ConflictPath // that Merge met
	unmerged     map[string]bool      // the paths of those that nobody has resolved; the index does not have them
}

// message is git's own for a merge of a branch.
func (h *hold) message() string {
	return fmt.Sprintf("Merge branch '%s' into %s\n", h.branch, h.into)
}

// staged returns what the index was when Merge had merged.
func (h *hold) staged() snapshot {
	index := maps.Clone(h.made)
	for _, c := range h.conflicts {
		delete(index, c.Path)
	}
	return index
}

// pristine reports whether a checkout is as Merge left it; the caller holds mu.
func (w *Workspace) pristine() bool {
	h := w.hold
	return h != nil && w.repo.branches[w.branch] == h.head && w.files.equal(h.made) &&
		len(h.unmerged) == len(h.conflicts) && w.index.equal(h.staged())
}

// An integrator is the ports.Integrator of a repository.
type integrator struct{ repo *Repository }

var _ ports.Integrator = integrator{}

// Integrator returns what lands commits in the repository's checkouts.
func (r *Repository) Integrator() ports.Integrator { return integrator{r} }

// enter locks the repository for a checkout of its own.
func (i integrator) enter(ctx context.Context, ws ports.Workspace) (*Workspace, error) {
	w, ok := ws.(*Workspace)
	if !ok || w.repo != i.repo {
		return nil, ports.Invalid.Errorf("", "the checkout, a %T, is not one of this repository", ws)
	}
	return w, w.enter(ctx)
}

// holding is enter for a checkout that must hold a merge.
func (i integrator) holding(ctx context.Context, op string, ws ports.Workspace) (*Workspace, error) {
	w, err := i.enter(ctx, ws)
	if err != nil {
		return nil, err
	}
	if w.hold == nil {
		w.repo.mu.Unlock()
		return nil, ports.Conflicted.Errorf(op, "the checkout of %s holds no merge", w.namespace)
	}
	return w, nil
}

// Merge merges by path. In a file in conflict are both sides, whole, between
// markers.
func (i integrator) Merge(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
	op := "merge " + spec.Branch
	if err := checkBranches(op, spec); err != nil {
		return ports.Merge{}, err
	}
	w, err := i.enter(ctx, ws)
	if err != nil {
		return ports.Merge{}, err
	}
	r := i.repo
	defer r.mu.Unlock()
	if _, err := r.find(op, spec.Head); err != nil {
		return ports.Merge{}, err
	}
	if _, err := r.find(op, spec.Theirs); err != nil {
		return ports.Merge{}, err
	}
	switch changes := w.changes(); {
	case w.hold != nil:
		return ports.Merge{}, ports.Conflicted.Errorf(op, "the checkout of %s holds an unfinished merge", w.namespace)
	case changes.Head != spec.Head:
		return ports.Merge{}, ports.Conflicted.Errorf(op, "the checkout of %s is at %s, not at %s", w.namespace, changes.Head, spec.Head)
	case r.reach(spec.Head)[spec.Theirs]:
		return ports.Merge{}, ports.Invalid.Errorf(op, "%s is in %s already", spec.Theirs, spec.Head)
	case !changes.Clean(spec.Head):
		return ports.Merge{}, ports.Conflicted.Errorf(op, "the checkout of %s is not clean: %+v", w.namespace, changes)
	}
	m, err := r.merge(spec.Head, spec.Theirs)
	if err != nil {
		return ports.Merge{}, err
	}
	h := &hold{
		head: spec.Head, theirs: spec.Theirs, branch: spec.Branch, into: spec.Into,
		made: m.marked(spec.Branch), conflicts: m.conflicts, unmerged: map[string]bool{},
	}
	for _, c := range h.conflicts {
		h.unmerged[c.Path] = true
	}
	w.hold, w.index = h, h.staged()
	w.set(maps.Clone(h.made))
	return r.merged(w), nil
}

// merged says what the merge of a checkout comes to, where no markers are
// left; the caller holds mu.
func (r *Repository) merged(w *Workspace) ports.Merge {
	m := ports.Merge{Message: w.hold.message()}
	for _, c := range w.hold.conflicts {
		if w.hold.unmerged[c.Path] {
			m.Conflicts = append(m.Conflicts, c)
		}
	}
	if len(m.Conflicts) == 0 {
		m.Tree = r.addTree(maps.Clone(w.index))
	}
	return m
}

// Held says what a checkout holds.
func (i integrator) Held(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
	w, err := i.enter(ctx, ws)
	if err != nil {
		return "", err
	}
	defer i.repo.mu.Unlock()
	switch {
	case w.hold == nil:
		return ports.HoldNone, nil
	case !w.holds(spec):
		return ports.HoldOther, nil
	case w.pristine():
		return ports.HoldPristine, nil
	default:
		return ports.HoldEdited, nil
	}
}

// Rehold says whether a checkout holds a merge. Nobody can commit one there.
func (i integrator) Rehold(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (bool, error) {
	w, err := i.enter(ctx, ws)
	if err != nil {
		return false, err
	}
	defer i.repo.mu.Unlock()
	return w.holds(spec), nil
}

// holds reports whether a checkout holds this very merge; the caller holds mu.
func (w *Workspace) holds(spec ports.MergeSpec) bool {
	return w.hold != nil && w.hold.theirs == spec.Theirs && w.hold.head == spec.Head && w.repo.branches[w.branch] == spec.Head
}

// Resolve stages every file but those that have markers left, and those in
// conflict that it is not told of.
func (i integrator) Resolve(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
	op := "take the resolution of the merge of " + spec.Branch
	w, err := i.holding(ctx, op, ws)
	if err != nil {
		return ports.Merge{}, err
	}
	defer i.repo.mu.Unlock()
	if !w.holds(spec) {
		return ports.Merge{}, ports.Conflicted.Errorf(op, "the checkout of %s holds another merge", w.namespace)
	}
	left := map[string]ports.ConflictPath{}
	ours, theirs := i.repo.commits[spec.Head].tree, i.repo.commits[spec.Theirs].tree
	for _, c := range were {
		line := marker(w.files[c.Path], w.hold.made[c.Path], ours[c.Path], theirs[c.Path])
		switch {
		case line > 0:
			left[c.Path] = ports.ConflictPath{Path: c.Path, Kind: ports.ConflictMarkers, Note: fmt.Sprintf("line %d", line)}
		case w.hold.unmerged[c.Path] && w.hold.made.has(c.Path, w.files[c.Path]):
			left[c.Path] = ports.ConflictPath{Path: c.Path, Kind: c.Kind, Note: "nobody has touched it"}
		default:
			delete(w.hold.unmerged, c.Path)
		}
	}
	index := maps.Clone(w.files)
	for path := range left {
		delete(index, path)
		if was, staged := w.index[path]; staged {
			index[path] = was
		}
	}
	for path := range w.hold.unmerged {
		delete(index, path)
	}
	w.index = index
	m := i.repo.merged(w)
	m.Conflicts = slices.DeleteFunc(m.Conflicts, func(c ports.ConflictPath) bool { _, ok := left[c.Path]; return ok })
	for _, c := range left {
		m.Conflicts = append(m.Conflicts, c)
		m.Tree = ""
	}
	slices.SortFunc(m.Conflicts, byPath)
	return m, nil
}

// Settle makes index and files those of a tree.
func (i integrator) Settle(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
	op := "settle a merge"
	w, err := i.holding(ctx, op, ws)
	if err != nil {
		return ports.PutBack{}, err
	}
	defer i.repo.mu.Unlock()
	to, err := i.repo.findTree(op, tree)
	if err != nil {
		return ports.PutBack{}, err
	}
	if w.files.equal(to) && w.index.equal(to) && len(w.hold.unmerged) == 0 {
		return ports.PutBack{}, nil
	}
	// What is kept is compared with a commit: the merge, without what was done since.
	merge := i.repo.commit(commit{
		tree: to, parents: []string{i.repo.branches[w.branch], w.hold.theirs}, message: "a merge before its commit\n",
		identity: operator, date: gitDate(time.Unix(0, 0)),
	})
	done := ports.PutBack{Salvage: i.repo.salvageTree(w, merge, reason)}
	w.index, w.hold.unmerged = to, nil
	w.set(maps.Clone(to))
	return done, nil
}

// Snapshot makes a commit of the files.
func (i integrator) Snapshot(ctx context.Context, ws ports.Workspace, spec ports.CommitSpec) (string, error) {
	op := "keep the files of a merge"
	if err := checkSpec(op, spec); err != nil {
		return "", err
	}
	w, err := i.holding(ctx, op, ws)
	if err != nil {
		return "", err
	}
	defer i.repo.mu.Unlock()
	if _, err := i.repo.find(op, spec.Head); err != nil {
		return "", err
	}
	return i.repo.commit(commit{
		tree: maps.Clone(w.files), parents: []string{spec.Head}, message: spec.Message, identity: spec.Identity, date: gitDate(spec.Date),
	}), nil
}

// Restore makes the files those of a snapshot.
func (i integrator) Restore(ctx context.Context, ws ports.Workspace, snapshot, reason string) (ports.PutBack, error) {
	op := "restore the files of a merge"
	w, err := i.holding(ctx, op, ws)
	if err != nil {
		return ports.PutBack{}, err
	}
	defer i.repo.mu.Unlock()
	c, err := i.repo.find(op, snapshot)
	if err != nil {
		return ports.PutBack{}, err
	}
	done := ports.PutBack{Salvage: i.repo.salvageFiles(w, snapshot, reason)}
	w.set(maps.Clone(c.tree))
	return done, nil
}

// Commit makes the merge commit.
func (i integrator) Commit(ctx context.Context, spec ports.MergeSpec, tree string, made ports.CommitSpec) (ports.Commit, error) {
	op := "commit the merge of " + spec.Branch
	if err := checkBranches(op, spec); err != nil {
		return ports.Commit{}, err
	}
	if err := checkSpec(op, made); err != nil {
		return ports.Commit{}, err
	}
	r := i.repo
	if err := r.enter(ctx); err != nil {
		return ports.Commit{}, err
	}
	defer r.mu.Unlock()
	files, err := r.findTree(op, tree)
	if err != nil {
		return ports.Commit{}, err
	}
	head, err := r.find(op, spec.Head)
	if err != nil {
		return ports.Commit{}, err
	}
	if _, err := r.find(op, spec.Theirs); err != nil {
		return ports.Commit{}, err
	}
	id := r.commit(commit{
		tree: files, parents: []string{spec.Head, spec.Theirs}, message: made.Message, identity: made.Identity, date: gitDate(made.Date),
	})
	label, namespace := placeOf(spec.Into)
	r.kept[label+"/made-"+namespace] = id
	return ports.Commit{ID: id, Tree: tree, Empty: files.equal(head.tree)}, nil
}

// placeOf returns the run and the namespace that a branch is of.
func placeOf(branch string) (label, namespace string) {
	rest, child := strings.CutPrefix(branch, "agl/_work/")
	if !child {
		return strings.TrimPrefix(branch, "agl/"), ports.Base
	}
	label, namespace, _ = strings.Cut(rest, "/")
	return label, namespace
}

// checkBranches refuses branches that are not AGL's.
func checkBranches(op string, spec ports.MergeSpec) error {
	if err := checkName(op, spec.Branch, branchName); err != nil {
		return err
	}
	return checkName(op, spec.Into, branchName)
}

// Conclude ends a merge that was committed.
func (i integrator) Conclude(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
	op := "conclude a merge"
	w, err := i.enter(ctx, ws)
	if err != nil {
		return ports.PutBack{}, err
	}
	defer i.repo.mu.Unlock()
	c, err := i.repo.find(op, commit)
	if err != nil {
		return ports.PutBack{}, err
	}
	if at := i.repo.branches[w.branch]; at != commit {
		return ports.PutBack{}, elsewhere(op, w.branch, at, commit)
	}
	if w.hold != nil && len(c.parents) == 2 && c.parents[1] == w.hold.theirs && w.changes().Clean(commit) {
		w.hold = nil
	}
	return w.putBack(commit, reason), nil
}
