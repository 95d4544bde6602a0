package git

import (
	"context"
	"slices"
	"strings"
	"sync"

	"example.com/agl/ports"
)

// Commit makes the merge commit of exactly tree. Merge and Resolve have written
// out the objects of the tree; to sync the commit flushes the disk for all.
func (i integrator) Commit(ctx context.Context, spec ports.MergeSpec, tree string, commit ports.CommitSpec) (ports.Commit, error) {
	r := i.repo
	op := "commit the merge of " + spec.Branch
	err := r.checkMerge(op, spec)
	if err == nil && !r.isOID(tree) {
		err = ports.Invalid.Errorf(op, "%q is not a full tree id", tree)
	}
	if err != nil {
		return ports.Commit{}, err
	}
	commit.Head = spec.Head
	who, err := r.checkCommit(op, commit)
	if err != nil {
		return ports.Commit{}, err
	}
	made, err := r.commitMerge(ctx, spec, tree, commit.Message, who)
	if err != nil {
		return ports.Commit{}, r.fault(op, err)
	}
	return made, nil
}

func (r *Repo) commitMerge(ctx context.Context, spec ports.MergeSpec, tree, message string, who signature) (made ports.Commit, err error) {
	made.Tree = tree
	if made.Empty, err = r.isEmpty(ctx, spec.Head, tree); err != nil {
		return made, err
	}
	label, namespace := placeOf(spec.Into)
	w := r.attached(label)
	if made.ID, err = r.commitTree(ctx, w.run, who, message, tree, spec.Head, spec.Theirs); err != nil {
		return made, err
	}
	r.found.merge(made.ID, spec.Theirs)
	r.found.commit(made.ID, tree)
	return made, w.holdMade(ctx, namespace, made.ID)
}

// placeOf returns the run and the namespace that a branch of AGL's is of.
func placeOf(branch string) (label, namespace string) {
	if rest, ok := strings.CutPrefix(branch, "agl/_work/"); ok {
		label, namespace, _ = strings.Cut(rest, "/")
		return label, namespace
	}
	return strings.TrimPrefix(branch, "agl/"), ports.Base
}

// isEmpty reports whether tree is that of commit head.
func (r *Repo) isEmpty(ctx context.Context, head, tree string) (bool, error) {
	if empty, known := r.found.isEmpty(head, tree); known {
		return empty, nil
	}
	was, err := r.Tree(ctx, head)
	return was == tree, err
}

// Conclude ends the merge in a checkout whose branch is at the merge's commit.
func (i integrator) Conclude(ctx context.Context, ws ports.Workspace, commit, reason string) (ports.PutBack, error) {
	r := i.repo
	const op = "conclude a merge"
	c, err := r.checkoutOf(ctx, op, ws)
	if err == nil && !r.isOID(commit) {
		err = ports.Invalid.Errorf(op, "%q is not a full commit id", commit)
	}
	if err != nil {
		return ports.PutBack{}, err
	}
	done, err := c.conclude(ctx, commit, reason)
	return done, r.fault(op, err)
}

func (c *checkout) conclude(ctx context.Context, commit, reason string) (ports.PutBack, error) {
	at, err := c.repo.branchAt(ctx, c.branch)
	if err != nil {
		return ports.PutBack{}, err
	}
	if at != commit {
		if id, err := c.repo.commitOf(ctx, c.repo.common, commit); err != nil || id == "" {
			return ports.PutBack{}, orNotFound(err, c.repo, commit)
		}
		return ports.PutBack{}, elsewhere("", c.branch, at, commit)
	}
	if theirs := c.mergeHead(); theirs != "" && isDir(c.gitDir) {
		ours, err := c.repo.merged(ctx, commit, theirs)
		if err != nil {
			return ports.PutBack{}, err
		}
		if ours { // else it is another merge, to be salvaged
			if err := c.release(); err != nil {
				return ports.PutBack{}, err
			}
		}
	}
	return c.putBack(ctx, commit, reason)
}

// merged reports whether theirs is the second parent of commit.
func (r *Repo) merged(ctx context.Context, commit, theirs string) (bool, error) {
	if known := r.found.theirs(commit); known != "" {
		return known == theirs, nil
	}
	out, err := r.run(ctx, call{read: true, args: []string{"rev-list", "--parents", "--max-count=1", commit, "--"}})
	fields := strings.Fields(string(out))
	return len(fields) == 3 && fields[2] == theirs, err
}

// findings are what this process has seen of merges and commits a moment ago.
// They spare the usual landing the processes that would ask git for it.
type findings struct {
	mu      sync.Mutex
	trees   []seenTree
	merges  [][2]string // a commit, and its second parent
	commits [][2]string // a commit, and its tree
}

// A seenTree is a tree that was compared with that of a commit.
type seenTree struct {
	head, tree string
	same       bool
}

// remembered is how many findings of a kind are kept: more than landings that
// are under way at once.
const remembered = 256

func (f *findings) tree(head, tree string, same bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trees = append(f.trees[max(0, len(f.trees)-remembered):], seenTree{head, tree, same})
}

func (f *findings) isEmpty(head, tree string) (same, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range slices.Backward(f.trees) {
		if t.head == head && t.tree == tree {
			return t.same, true
		}
	}
	return false, false
}

func (f *findings) merge(commit, theirs string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.merges = remember(f.merges, commit, theirs)
}

func (f *findings) theirs(commit string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return recall(f.merges, commit)
}

func (f *findings) commit(commit, tree string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if recall(f.commits, commit) == "" { // many worktrees are opened at one
		f.commits = remember(f.commits, commit, tree)
	}
}

// treeOf returns the tree of a commit; "" if it is not known.
func (f *findings) treeOf(commit string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return recall(f.commits, commit)
}

// remember adds what was found of a commit, and forgets what is oldest.
func remember(list [][2]string, commit, found string) [][2]string {
	return append(list[max(0, len(list)-remembered):], [2]string{commit, found})
}

// recall returns what was found of a commit last; "" if nothing is remembered.
func recall(list [][2]string, commit string) string {
	for _, m := range slices.Backward(list) {
		if m[0] == commit {
			return m[1]
		}
	}
	return ""
}
