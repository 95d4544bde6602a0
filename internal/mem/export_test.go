package mem

import (
	"time"

	"example.com/agl/ports"
)

// A MergeResult is what merging two commits gives.
type MergeResult struct {
	Base      string
	Tree      string
	Files     map[string]string
	Conflicts []ports.ConflictPath

	tree snapshot
}

// Merge merges two commits, in no checkout.
func (r *Repository) Merge(ours, theirs string) (MergeResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, err := r.merge(ours, theirs)
	if err != nil {
		return MergeResult{}, err
	}
	files := make(map[string]string, len(m.tree))
	for p, data := range m.tree {
		files[p] = string(data)
	}
	return MergeResult{Base: m.base, Tree: m.tree.id(), Files: files, Conflicts: m.conflicts, tree: m.tree}, nil
}

// CommitMerge commits what Merge merged.
func (r *Repository) CommitMerge(m MergeResult, ours, theirs, message, identity string, date time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commit(commit{tree: m.tree, parents: []string{ours, theirs}, message: message, identity: identity, date: gitDate(date)})
}
