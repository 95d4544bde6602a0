package mem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"testing/fstest"

	"example.com/agl/ports"
)

// A Workspace is a checkout in memory. Agents write to it by WriteFile and
// Remove.
type Workspace struct {
	repo             *Repository
	label, namespace string
	head             string   // the commit its index is at
	files            snapshot // guarded by repo.mu
}

var _ ports.Workspace = (*Workspace)(nil)

// WriteFile writes a file of the checkout.
func (w *Workspace) WriteFile(path string, data []byte) error {
	if !fs.ValidPath(path) || path == "." {
		return ports.Invalid.Errorf("", "%q is no path in a checkout", path)
	}
	w.repo.mu.Lock()
	defer w.repo.mu.Unlock()
	w.files[path] = bytes.Clone(data)
	return nil
}

// Remove removes a file of the checkout, if it is there.
func (w *Workspace) Remove(path string) {
	w.repo.mu.Lock()
	defer w.repo.mu.Unlock()
	delete(w.files, path)
}

// Dir is empty: there is no folder.
func (w *Workspace) Dir() string { return "" }

// Tree returns the files as they are now.
func (w *Workspace) Tree() fs.FS {
	w.repo.mu.Lock()
	defer w.repo.mu.Unlock()
	tree := fstest.MapFS{}
	for path, data := range w.files {
		tree[path] = &fstest.MapFile{Data: bytes.Clone(data), Mode: 0o644}
	}
	return tree
}

// Guard has nothing to guard.
func (w *Workspace) Guard(context.Context) (json.RawMessage, error) {
	return json.RawMessage("null"), nil
}

// Verify has nothing to compare.
func (w *Workspace) Verify(context.Context, json.RawMessage) error { return nil }

// Inspect says how the checkout differs from head.
func (w *Workspace) Inspect(_ context.Context, head string) (ports.Changes, error) {
	w.repo.mu.Lock()
	defer w.repo.mu.Unlock()
	c := ports.Changes{Head: head}
	base := w.repo.commits[head].tree
	for path, data := range w.files {
		was, tracked := base[path]
		switch {
		case !tracked:
			c.Untracked = append(c.Untracked, path)
		case !bytes.Equal(was, data):
			c.Tracked = append(c.Tracked, path)
		}
	}
	for path := range base {
		if _, there := w.files[path]; !there {
			c.Tracked = append(c.Tracked, path)
		}
	}
	slices.Sort(c.Tracked)
	slices.Sort(c.Untracked)
	return c, nil
}

// PutBack makes the files those of head, and keeps what was there.
func (w *Workspace) PutBack(_ context.Context, head, reason string) (ports.PutBack, error) {
	r := w.repo
	r.mu.Lock()
	defer r.mu.Unlock()
	base, ok := r.commits[head]
	if !ok {
		return ports.PutBack{}, ports.Unexpected.Errorf("put back", "commit %s is not in the repository", head)
	}
	var done ports.PutBack
	if !equal(w.files, base.tree) && !equal(w.files, r.commits[w.head].tree) {
		done.Salvage = r.keep(w, reason)
	}
	w.files, w.head = maps.Clone(base.tree), head
	if w.files == nil {
		w.files = snapshot{}
	}
	return done, nil
}

// keep salvages a checkout's files, unless the last salvage has the same. The
// caller holds mu.
func (r *Repository) keep(w *Workspace, reason string) *ports.Salvage {
	list := r.salvage[w.label]
	n := 1
	if len(list) > 0 {
		last := list[len(list)-1]
		if last.Namespace == w.namespace && equal(last.files, w.files) {
			return &last.Salvage
		}
		n = last.N + 1
	}
	files := maps.Clone(w.files)
	s := ports.Salvage{
		N: n, Namespace: w.namespace, Reason: reason, Paths: len(files), Made: r.now(),
		Ref: fmt.Sprintf("refs/agl/salvage/%s/%s/%d", w.label, w.namespace, n),
	}
	s.Commit = r.commit(commit{tree: files, parents: []string{w.head}, message: reason})
	r.salvage[w.label] = append(list, kept{s, files})
	return &s
}

// Commit makes a commit of the files.
func (w *Workspace) Commit(_ context.Context, spec ports.CommitSpec) (ports.Commit, error) {
	r := w.repo
	r.mu.Lock()
	defer r.mu.Unlock()
	base, ok := r.commits[spec.Head]
	if !ok {
		return ports.Commit{}, ports.Unexpected.Errorf("commit", "commit %s is not in the repository", spec.Head)
	}
	c := ports.Commit{ID: spec.Head, Tree: w.files.id(), Empty: equal(w.files, base.tree)}
	if !c.Empty {
		c.ID = r.commit(commit{tree: maps.Clone(w.files), parents: []string{spec.Head}, message: spec.Message})
		w.head = c.ID
	}
	return c, nil
}
