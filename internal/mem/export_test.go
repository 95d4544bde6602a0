package mem

import "time"

// CommitMerge commits what Merge merged.
func (r *Repository) CommitMerge(m MergeResult, ours, theirs, message, identity string, date time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commit(commit{tree: m.tree, parents: []string{ours, theirs}, message: message, identity: identity, date: gitDate(date)})
}
