package mem

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing/fstest"

	"example.com/agl/ports"
)

// A Workspace is a checkout in memory.
type Workspace struct {
	repo                     *Repository
	label, namespace, branch string

	// Guarded by repo.mu.
	index snapshot     // what is tracked
	files snapshot     // changed by set alone
	view  fstest.MapFS // of files; nil if they have changed since it was made
	log   []string     // the commits it was filled with
	hold  *hold        // its unfinished merge; nil if there is none
	gone  bool         // it was cleared
}

var _ ports.Workspace = (*Workspace)(nil)

// set changes the files; the caller holds mu.
func (w *Workspace) set(files snapshot) {
	if files == nil {
		files = snapshot{}
	}
	w.files, w.view = files, nil
}

// WriteFile writes a file of the checkout. What cannot be told from git wraps
// ErrUnsupported.
func (w *Workspace) WriteFile(ctx context.Context, name string, data []byte) error {
	if err := w.enter(ctx); err != nil {
		return err
	}
	defer w.repo.mu.Unlock()
	if err := checkPath(name, w.files, w.index); err != nil {
		return err
	}
	w.files[name] = append([]byte{}, data...)
	w.set(w.files)
	return nil
}

// Remove removes a file of the checkout, or all that are in a folder; with
// them go the folders that are empty then, as git does.
func (w *Workspace) Remove(ctx context.Context, name string) error {
	if err := w.enter(ctx); err != nil {
		return err
	}
	defer w.repo.mu.Unlock()
	if err := checkForm(name); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := w.files[dir]; ok {
			return pathError(name, syscall.ENOTDIR)
		}
	}
	maps.DeleteFunc(w.files, func(file string, _ []byte) bool { return file == name || strings.HasPrefix(file, name+"/") })
	w.set(w.files)
	return nil
}

// Dir is empty: there is no folder.
func (w *Workspace) Dir() string { return "" }

// Tree returns the files, as they are whenever they are read.
func (w *Workspace) Tree() fs.FS { return tree{w} }

// A tree is the live view of a checkout's files.
type tree struct{ w *Workspace }

// now returns the files as they are. A view is never changed once it is made,
// so what was opened stays as it was.
func (t tree) now() fstest.MapFS {
	w := t.w
	w.repo.mu.Lock()
	defer w.repo.mu.Unlock()
	if w.view == nil {
		w.view = make(fstest.MapFS, len(w.files))
		for name, data := range w.files {
			w.view[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		}
	}
	return w.view
}

func (t tree) Open(name string) (fs.File, error)          { return t.now().Open(name) }
func (t tree) ReadFile(name string) ([]byte, error)       { return t.now().ReadFile(name) }
func (t tree) Stat(name string) (fs.FileInfo, error)      { return t.now().Stat(name) }
func (t tree) ReadDir(name string) ([]fs.DirEntry, error) { return t.now().ReadDir(name) }

// enter locks the repository for a checkout that is still there.
func (w *Workspace) enter(ctx context.Context) error {
	if err := w.repo.enter(ctx); err != nil {
		return err
	}
	if w.gone {
		w.repo.mu.Unlock()
		return w.isGone()
	}
	return nil
}

func (w *Workspace) isGone() error {
	return ports.NotFound.Errorf("", "the checkout of %s/%s was removed", w.label, w.namespace)
}

// Guard has nothing to guard.
func (w *Workspace) Guard(ctx context.Context) (json.RawMessage, error) {
	return json.RawMessage("null"), ctx.Err()
}

// Verify has nothing to compare.
func (w *Workspace) Verify(ctx context.Context, _ json.RawMessage) error { return ctx.Err() }

// Inspect says how the checkout differs from the commit its branch is at.
func (w *Workspace) Inspect(ctx context.Context, _ string) (ports.Changes, error) {
	if err := w.enter(ctx); err != nil {
		return ports.Changes{}, err
	}
	defer w.repo.mu.Unlock()
	return w.changes(), nil
}

// listed is how many paths of a kind Inspect tells.
const listed = 100

func (w *Workspace) changes() ports.Changes {
	c := ports.Changes{Head: w.repo.branches[w.branch]}
	head := w.repo.commits[c.Head].tree
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if _, tracked := w.index[path]; !tracked && !w.unmerged(path) && len(c.Untracked) < listed {
			c.Untracked = append(c.Untracked, path)
		}
	}
	tracked := w.index.differing(head)
	if w.hold != nil {
		tracked = slices.AppendSeq(tracked, maps.Keys(w.hold.unmerged))
	}
	for path, data := range w.index {
		if !w.files.has(path, data) {
			tracked = append(tracked, path)
		}
	}
	slices.Sort(tracked)
	tracked = slices.Compact(tracked)
	c.Tracked = tracked[:min(len(tracked), listed)]
	return c
}

// PutBack makes files, index and branch those of head, and keeps what was
// there.
func (w *Workspace) PutBack(ctx context.Context, head, reason string) (ports.PutBack, error) {
	if err := w.enter(ctx); err != nil {
		return ports.PutBack{}, err
	}
	r := w.repo
	defer r.mu.Unlock()
	if _, err := r.find("put the checkout of "+w.namespace+" back", head); err != nil {
		return ports.PutBack{}, err
	}
	return w.putBack(head, reason), nil
}

// putBack is PutBack to a commit that there is, for a caller that holds mu.
func (w *Workspace) putBack(head, reason string) ports.PutBack {
	var done ports.PutBack
	if w.hold == nil && w.changes().Clean(head) {
		return done
	}
	r := w.repo
	base := r.commits[head].tree
	if w.pristine() && w.hold.head == head { // it can be merged again
		done.Salvage = r.salvageCommits(w, head, reason)
	} else {
		done.Salvage = r.salvageTree(w, head, reason)
	}
	r.branches[w.branch] = head
	w.index, w.log, w.hold = base, append(w.log, head), nil
	w.set(maps.Clone(base))
	return done
}

// unmerged reports whether a path is in conflict in a merge that is held.
func (w *Workspace) unmerged(path string) bool { return w.hold != nil && w.hold.unmerged[path] }

// checkSpec refuses a commit that git would refuse.
func checkSpec(op string, spec ports.CommitSpec) error {
	name, email, ok := strings.Cut(strings.TrimSuffix(spec.Identity, ">"), " <")
	switch {
	case !ok || name == "" || strings.ContainsAny(email, ">") || !strings.HasSuffix(spec.Identity, ">") || strings.ContainsAny(spec.Identity, "\n\x00"):
		return ports.Invalid.Errorf(op, "%q is no identity of the form Name <email>", spec.Identity)
	case strings.ContainsRune(spec.Message, 0):
		return ports.Invalid.Errorf(op, "the message holds a NUL, which git cannot store")
	case spec.Date.Unix() < 0:
		return unsupported("the commit's date is %v", spec.Date)
	}
	return nil
}

// Commit makes a commit of the files.
func (w *Workspace) Commit(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
	op := "commit what is in the checkout of " + w.namespace
	if err := checkSpec(op, spec); err != nil {
		return ports.Commit{}, err
	}
	if err := w.enter(ctx); err != nil {
		return ports.Commit{}, err
	}
	r := w.repo
	defer r.mu.Unlock()
	base, err := r.find(op, spec.Head)
	if err != nil {
		return ports.Commit{}, err
	}
	if w.hold != nil {
		return ports.Commit{}, &ports.RejectedError{Reasons: []string{"a merge is unfinished"}}
	}
	at, own := r.branches[w.branch], spec.Head
	if r.reach(at)[spec.Head] {
		own = at
	}
	w.index = maps.Clone(w.files)
	c := ports.Commit{ID: spec.Head, Tree: w.index.id(), Empty: w.index.equal(base.tree)}
	if c.Empty {
		own = spec.Head
	} else {
		c.ID = r.commit(commit{
			tree: w.index, parents: []string{own}, message: spec.Message, identity: spec.Identity, date: gitDate(spec.Date),
		})
		r.kept[w.label+"/made-"+w.namespace] = c.ID
	}
	if at == spec.Head {
		return c, nil
	}
	if !r.reach(own)[at] && at != "" {
		if s := r.salvageCommits(w, spec.Head, "the agent made commits that are not on top of "+spec.Head); s != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("commits that do not stand on the last one of %s are kept as salvage %d", w.branch, s.N))
		}
	}
	if own != spec.Head {
		c.Notes = append(c.Notes, "commits that were on its branch are below this one")
	}
	r.branches[w.branch] = spec.Head
	return c, nil
}
