package mem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"example.com/agl/ports"
)

// A salvage is one with what it holds.
type salvage struct {
	ports.Salvage
	files snapshot
	head  string   // the commit that was put back
	index snapshot // nil if nothing was only staged
}

// salvageTree keeps what is in a checkout and would be lost when its files and
// index become those of base, and its branch is at head. It returns nil if that
// is nothing, which a merge is that nobody has touched: it can be made again.
// It returns the namespace's last salvage if that holds it all. The caller
// holds mu.
func (r *Repository) salvageTree(w *Workspace, head string, base snapshot, reason string) *ports.Salvage {
	now := r.commits[r.branches[w.branch]].tree
	s := salvage{files: maps.Clone(w.files), head: head}
	if w.pristine() {
		return nil
	}
	changed := w.files.differing(base)
	for path, data := range w.index {
		if len(data) > 0 && !base.has(path, data) && !w.files.has(path, data) && !now.has(path, data) {
			s.index = w.index
		}
	}
	s.Commits = r.strays(w, head)
	if s.index == nil && len(s.Commits) == 0 && w.files.agrees(now, changed) {
		return nil // each file is in the one commit or in the other
	}
	list := r.salvage[w.label]
	for _, past := range slices.Backward(list) {
		if past.Namespace == w.namespace {
			if past.holds(s, changed) {
				return &past.Salvage
			}
			break
		}
	}
	return r.addSalvage(w, s, len(changed), reason)
}

// salvageCommits keeps the commits alone that only this checkout leads to. The
// caller holds mu.
func (r *Repository) salvageCommits(w *Workspace, head, reason string) *ports.Salvage {
	s := salvage{files: r.commits[head].tree, head: head, Salvage: ports.Salvage{Commits: r.strays(w, head)}}
	if len(s.Commits) == 0 {
		return nil
	}
	return r.addSalvage(w, s, 0, reason)
}

// holds reports whether an earlier salvage has all of s, which differs from
// its head at the paths changed.
func (past salvage) holds(s salvage, changed []string) bool {
	if past.head != s.head || len(s.Commits) > 0 || s.index != nil && !s.index.equal(past.index) {
		return false
	}
	return s.files.agrees(past.files, changed)
}

func (r *Repository) addSalvage(w *Workspace, s salvage, paths int, reason string) *ports.Salvage {
	r.numbered[w.label]++
	s.N, s.Namespace, s.Reason, s.Paths, s.Made = r.numbered[w.label], w.namespace, reason, paths, r.now()
	s.Ref = fmt.Sprintf("refs/agl/salvage/%s/%s/%d", w.label, w.namespace, s.N)
	message := fmt.Sprintf("salvage of %s/%s: %s\n\n%d\n", w.label, w.namespace, reason, s.N)
	c := commit{tree: s.files, parents: []string{s.head}, message: message, identity: operator, date: gitDate(s.Made)}
	if s.index != nil {
		s.Index = r.commit(commit{tree: s.index, parents: []string{s.head}, message: "index", identity: operator, date: c.date})
		c.parents = append(c.parents, s.Index)
	}
	c.parents = append(c.parents, s.Commits...)
	s.Commit = r.commit(c)
	r.salvage[w.label] = append(r.salvage[w.label], s)
	return &s.Salvage
}

// strays returns the commits that a checkout alone leads to, those from which
// the others are reached. They are lost when it is put back to head.
func (r *Repository) strays(w *Workspace, head string) []string {
	refs := r.refs()
	refs["refs/heads/"+w.branch] = head
	safe := r.reach(slices.Collect(maps.Values(refs))...)
	lost := r.reach(append(w.log, r.branches[w.branch])...)
	maps.DeleteFunc(lost, func(id string, _ bool) bool { return safe[id] })
	tips := maps.Clone(lost)
	for id := range lost {
		for _, p := range r.commits[id].parents {
			delete(tips, p)
		}
	}
	return slices.Sorted(maps.Keys(tips))
}

// Salvaged lists what was salvaged in a run.
func (r *Repository) Salvaged(ctx context.Context, label string) ([]ports.Salvage, error) {
	if err := r.enter(ctx); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	return r.salvaged(label), nil
}

func (r *Repository) salvaged(label string) []ports.Salvage {
	list := make([]ports.Salvage, len(r.salvage[label]))
	for i, s := range r.salvage[label] {
		list[i] = s.Salvage
	}
	return list
}

// numberedAs returns the position of a salvage by its number.
func (r *Repository) numberedAs(op, label string, n int) (int, error) {
	i := slices.IndexFunc(r.salvage[label], func(s salvage) bool { return s.N == n })
	if i < 0 {
		return 0, ports.NotFound.Errorf(op, "run %s has no salvage %d", label, n)
	}
	return i, nil
}

// WriteSalvage writes a salvage's files into dir.
func (r *Repository) WriteSalvage(ctx context.Context, label string, n int, dir string) error {
	op := fmt.Sprintf("write salvage %d of %s to %s", n, label, dir)
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.mu.Unlock()
	i, err := r.numberedAs(op, label, n)
	if err != nil {
		return err
	}
	switch entries, err := os.ReadDir(dir); {
	case len(entries) > 0:
		return ports.Conflicted.Errorf(op, "the folder is not empty")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return ports.Invalid.Errorf(op, "%w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	for path, data := range r.salvage[label][i].files {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return ports.Unavailable.Errorf(op, "%w", err)
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return ports.Unavailable.Errorf(op, "%w", err)
		}
	}
	return nil
}

// DropSalvage gives up a salvage; its number is not given again.
func (r *Repository) DropSalvage(ctx context.Context, label string, n int) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.mu.Unlock()
	i, err := r.numberedAs(fmt.Sprintf("drop salvage %d of %s", n, label), label, n)
	if err != nil {
		return err
	}
	r.salvage[label] = slices.Delete(r.salvage[label], i, i+1)
	return nil
}
