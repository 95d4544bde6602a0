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
	head  string // the commit that was put back
	// staged is what was only staged, by the stage of the index: 1 to 3 are the
	// sides of an unfinished merge.
	staged [4]snapshot
}

// salvageTree keeps what is in a checkout and would be lost when its files and
// index become those of commit head, and its branch is there. It returns nil if
// that is nothing, and the namespace's last salvage if that holds it all. The
// caller holds mu.
func (r *Repository) salvageTree(w *Workspace, head, reason string) *ports.Salvage {
	s := r.lost(w, head)
	base, now := r.commits[head].tree, r.commits[r.branches[w.branch]].tree
	for stage, files := range w.stages() {
		for path, data := range files {
			if len(data) > 0 && !base.has(path, data) && !w.files.has(path, data) && !now.has(path, data) {
				s.staged[stage] = files
			}
		}
	}
	s.Commits = r.strays(w, head)
	return r.keepSalvage(w, s, reason)
}

// salvageFiles keeps the files alone that would be lost when they become those
// of commit head.
func (r *Repository) salvageFiles(w *Workspace, head, reason string) *ports.Salvage {
	if w.pristine() {
		return nil
	}
	return r.keepSalvage(w, r.lost(w, head), reason)
}

func (r *Repository) lost(w *Workspace, head string) salvage {
	return salvage{files: maps.Clone(w.files), head: head}
}

// stages returns what a checkout's index holds.
func (w *Workspace) stages() [4]snapshot {
	stages := [4]snapshot{w.index}
	if w.hold == nil || len(w.hold.unmerged) == 0 {
		return stages
	}
	r := w.repo
	base, err := r.mergeBase(w.hold.head, w.hold.theirs)
	if err != nil {
		return stages // it was imported so
	}
	for i, id := range []string{base, w.hold.head, w.hold.theirs} {
		stages[i+1] = snapshot{}
		for path := range w.hold.unmerged {
			if data, ok := r.commits[id].tree[path]; ok {
				stages[i+1][path] = data
			}
		}
	}
	return stages
}

// keepSalvage keeps s, unless that is nothing or is kept already.
func (r *Repository) keepSalvage(w *Workspace, s salvage, reason string) *ports.Salvage {
	changed := s.files.differing(r.commits[s.head].tree)
	now := r.commits[r.branches[w.branch]].tree
	if s.index() < 0 && len(s.Commits) == 0 && s.files.agrees(now, changed) {
		return nil // each file is in the one commit or in the other
	}
	for _, past := range slices.Backward(r.salvage[w.label]) {
		if past.Namespace == w.namespace {
			if past.holds(s, changed) {
				return &past.Salvage
			}
			break
		}
	}
	return r.addSalvage(w, s, len(changed), reason)
}

// index returns the first stage that holds something that was only staged, or
// -1.
func (s salvage) index() int {
	return slices.IndexFunc(s.staged[:], func(files snapshot) bool { return files != nil })
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
	if past.head != s.head || len(s.Commits) > 0 {
		return false
	}
	for stage, files := range s.staged {
		if files != nil && (past.staged[stage] == nil || !files.equal(past.staged[stage])) {
			return false
		}
	}
	return s.files.agrees(past.files, changed)
}

func (r *Repository) addSalvage(w *Workspace, s salvage, paths int, reason string) *ports.Salvage {
	r.numbered[w.label]++
	s.N, s.Namespace, s.Reason, s.Paths, s.Made = r.numbered[w.label], w.namespace, reason, paths, r.now()
	s.Ref = fmt.Sprintf("refs/agl/salvage/%s/%s/%d", w.label, w.namespace, s.N)
	message := fmt.Sprintf("salvage of %s/%s: %s\n\n%d\n", w.label, w.namespace, reason, s.N)
	c := commit{tree: s.files, parents: []string{s.head}, message: message, identity: operator, date: gitDate(s.Made)}
	for stage, files := range s.staged {
		if files != nil {
			side := commit{tree: files, parents: []string{s.head}, message: fmt.Sprintf("index stage %d", stage), identity: operator, date: c.date}
			c.parents = append(c.parents, r.commit(side))
		}
	}
	if s.index() >= 0 {
		s.Index = c.parents[1]
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
	leads := append(slices.Clone(w.log), r.branches[w.branch])
	if w.hold != nil {
		leads = append(leads, w.hold.theirs)
	}
	lost := r.reach(leads...)
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
