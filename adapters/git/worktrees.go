package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/agl/ports"
)

// worktrees are the checkouts of one run.
type worktrees struct {
	repo   *Repo
	label  string
	locked bool       // the caller holds the run's lock
	files  []*os.File // the lock's descriptors, for git children
}

var (
	_ ports.Workspaces = (*Repo)(nil)
	_ ports.History    = (*Repo)(nil)
	_ ports.Integrator = integrator{}
	_ ports.Worktrees  = (*worktrees)(nil)
	_ ports.Workspace  = (*checkout)(nil)
)

var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// checkName refuses a label or namespace that could lead out of its folder.
func checkName(name string) error {
	if !plainName.MatchString(name) || strings.Contains(name, "..") {
		return fmt.Errorf("%q is not a name of letters, digits, '.', '_' and '-'", name)
	}
	return nil
}

// Attach returns the worktrees of a run. Without a lock (nil) no lock file
// that a dead git left is moved aside.
func (r *Repo) Attach(_ context.Context, label string, lock ports.Lock) (ports.Worktrees, error) {
	if err := checkName(label); err != nil {
		return nil, ports.Invalid.Errorf("attach to run "+label, "%w", err)
	}
	w := &worktrees{repo: r, label: label}
	if lock != nil {
		w.locked, w.files = true, lock.Files()
	}
	r.runs.Store(label, w)
	return w, nil
}

// attached returns the worktrees of a run as they were last attached to.
func (r *Repo) attached(label string) *worktrees {
	if w, ok := r.runs.Load(label); ok {
		return w.(*worktrees)
	}
	return &worktrees{repo: r, label: label}
}

// run runs git on the common directory, for this run.
func (w *worktrees) run(ctx context.Context, c call) ([]byte, error) {
	c.files = append(c.files, w.files...)
	if !w.locked {
		return w.repo.run(ctx, c)
	}
	return w.repo.runOwning(ctx, c, w.label, func(path string) bool { return w.repo.ownLock(path, w.label) })
}

// folder is where the run's checkouts are.
func (w *worktrees) folder() string { return filepath.Join(w.repo.trees, w.label) }

// Exists reports whether the checkout of a namespace has been made.
func (w *worktrees) Exists(_ context.Context, namespace string) (bool, error) {
	op := "look for the worktree of " + namespace
	if err := checkName(namespace); err != nil {
		return false, ports.Invalid.Errorf(op, "%w", err)
	}
	c := w.checkout(ports.Place{Namespace: namespace})
	note, err := c.readNote()
	if err != nil {
		return false, w.repo.fault(op, err)
	}
	return note.done && isDir(c.dir), nil
}

// Identity returns the committer of the commits to be made.
func (w *worktrees) Identity(ctx context.Context) (string, error) {
	const op = "find the committer"
	who, err := w.repo.identity(ctx, "COMMITTER")
	var exit *exitError
	if errors.As(err, &exit) { // git knows of none, which can be mended
		return "", ports.Unavailable.Errorf(op, "%w", err)
	}
	return who, w.repo.fault(op, err)
}

// identity returns who commits ("AUTHOR", "COMMITTER"), as "Name <email>".
func (r *Repo) identity(ctx context.Context, role string) (string, error) {
	out, err := r.run(ctx, call{gitDir: r.gitDir, read: true, args: []string{"var", "GIT_" + role + "_IDENT"}})
	if err != nil {
		return "", err
	}
	ident := strings.TrimSpace(string(out))
	if end := strings.LastIndexByte(ident, '>'); end > 0 {
		return ident[:end+1], nil
	}
	return "", fmt.Errorf("git says %q, which names nobody", ident)
}

// checkout is the checkout of a place, as it would be: nothing is looked at.
func (w *worktrees) checkout(place ports.Place) *checkout {
	return &checkout{
		repo: w.repo, label: w.label, locked: w.locked, files: w.files,
		namespace: place.Namespace, branch: place.Branch,
		dir: filepath.Join(w.folder(), place.Namespace),
	}
}
