package git

import (
	"context"
	"io/fs"
	"os"
	"slices"

	"example.com/agl/ports"
)

// A checkout is a linked worktree of the repository, outside it.
type checkout struct {
	repo      *Repo
	label     string
	namespace string
	branch    string // short name
	dir       string
	gitDir    string     // the admin folder recorded when it was made
	index     string     // the index file; "" for its own
	locked    bool       // the caller holds the run's lock
	files     []*os.File // the run lock's descriptors, for git children
}

// run runs git on the checkout: on the recorded admin folder and on this
// directory, whatever the files in it say.
func (c *checkout) run(ctx context.Context, cl call) ([]byte, error) {
	cl.gitDir, cl.workTree, cl.files = c.gitDir, c.dir, append(cl.files, c.files...)
	if c.index != "" {
		cl.env = append(slices.Clone(cl.env), "GIT_INDEX_FILE="+c.index)
	}
	if !c.locked {
		return c.repo.run(ctx, cl)
	}
	return c.repo.runOwning(ctx, cl, c.label, func(path string) bool {
		return below(path, c.gitDir) || c.repo.ownLock(path, c.label)
	})
}

// Dir is the checkout's absolute path.
func (c *checkout) Dir() string { return c.dir }

// Tree is the checkout's files without git's own, to read. A link that leads
// out of the checkout cannot be opened.
func (c *checkout) Tree() fs.FS { return files(c.dir) }

// Inspect says how the checkout differs from commit head. A checkout whose own
// git files were replaced differs in ".git"; git does not look further then.
func (c *checkout) Inspect(ctx context.Context, head string) (ports.Changes, error) {
	op := "inspect " + c.dir
	spoiled := ports.Changes{Tracked: []string{".git"}}
	if len(c.damage()) > 0 { // git could be led elsewhere
		return spoiled, nil
	}
	st, err := c.status(ctx)
	if badIndex(err) || noSuchObject(err) {
		return spoiled, nil
	}
	if err != nil {
		return ports.Changes{}, c.repo.fault(op, err)
	}
	at, err := c.heads(ctx)
	if err != nil {
		return ports.Changes{}, c.repo.fault(op, err)
	}
	changes := ports.Changes{
		Head: st.oid, Detached: !at.attached,
		Tracked: st.tracked[:min(len(st.tracked), listed)], Untracked: st.untracked[:min(len(st.untracked), listed)],
	}
	if at.branch != head && st.oid == head {
		changes.Head = at.branch // the branch was moved, and HEAD left behind
	}
	return changes, nil
}

// listed is how many paths of a kind are told.
const listed = 100

// files is a checkout as an fs.FS.
type files string

func (f files) Open(name string) (fs.File, error) {
	if name == ".git" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.FS().Open(name)
	if folder, ok := file.(fs.ReadDirFile); ok && name == "." {
		return topFolder{folder}, err
	}
	return file, err
}

// A topFolder is the checkout's own folder, opened.
type topFolder struct{ fs.ReadDirFile }

// ReadDir reads the folder without git's own file.
func (f topFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := f.ReadDirFile.ReadDir(n)
	if kept := withoutGit(entries); n <= 0 || len(kept) > 0 || len(entries) == 0 {
		return kept, err
	}
	return f.ReadDir(n)
}

func withoutGit(entries []fs.DirEntry) []fs.DirEntry {
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
}

func (f files) Stat(name string) (fs.FileInfo, error) {
	if name == ".git" {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fs.Stat(root.FS(), name)
}

func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), name)
	if name == "." {
		entries = withoutGit(entries)
	}
	return entries, err
}
