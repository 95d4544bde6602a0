package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/agl/adapters/files"
	"example.com/agl/adapters/git"
	"example.com/agl/ports"
)

// Moved gives a repository that was at old, and is now where opts say, its
// records and checkouts back: a project's name is made of its repository's
// path, so they are under another. It refuses, Conflicted and with nothing
// changed, while there is still a repository at old, while the new place has
// records of its own, and while a run is in use. A call that was killed can be
// repeated.
func Moved(ctx context.Context, old string, opts Options) (*Project, error) {
	const op = "follow the moved repository"
	p, _, err := find(ctx, opts)
	if err != nil {
		return nil, err
	}
	was, err := findMoved(p.Home, old)
	if err != nil {
		return nil, err
	}
	if was.Repo == p.Repo {
		return nil, ports.Invalid.Errorf(op, "%s is where the repository is now; name the place it was at", old)
	}
	if exists(was.Repo) {
		return nil, ports.Conflicted.Errorf(was.Repo, "there is still a repository there; a copy keeps its own records")
	}
	if exists(p.dir()) {
		return nil, ports.Conflicted.Errorf(p.dir(), "the repository has records at its new place already")
	}
	if err := unused(ctx, files.New(was.Home, was.Name)); err != nil {
		return nil, err
	}
	s, err := readSettings(was.file())
	if err != nil {
		return nil, err
	}
	if err := was.settle(opts, environmentOf(opts.Env), s); err != nil {
		return nil, err
	}
	p.Trees = filepath.Join(filepath.Dir(was.Trees), p.Name)

	// The project's folder goes last: until then the call can be repeated.
	if err := moveDir(was.Trees, p.Trees); err != nil {
		return nil, ports.Unavailable.Errorf(op, "%w", err)
	}
	if err := repair(ctx, p, opts); err != nil {
		return nil, err
	}
	if err := setRepo(was.file(), p.Repo); err != nil {
		return nil, err
	}
	if err := os.Rename(was.dir(), p.dir()); err != nil {
		return nil, ports.Unavailable.Errorf(op, "%w", err)
	}
	return p, nil
}

// findMoved returns the project of the repository that was at old, with its
// name and the common git directory it had.
func findMoved(home, old string) (*Project, error) {
	old, err := filepath.Abs(old)
	if err != nil {
		return nil, ports.Invalid.Errorf("", "the old place %q: %w", old, err)
	}
	old = realPath(old)
	for _, common := range []string{filepath.Join(old, ".git"), old} {
		p := &Project{Name: projectName(common), Repo: common, Home: home}
		if exists(p.dir()) {
			return p, nil
		}
	}
	return nil, ports.NotFound.Errorf("", "no records of a repository at %s are in %s", old, home)
}

// exists reports whether something is at path, or may be.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// unused refuses while a process holds one of the runs.
func unused(ctx context.Context, store ports.Store) error {
	labels, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	for _, label := range labels {
		holder, err := store.Holder(ctx, label)
		if err != nil {
			return err
		}
		if holder != "" {
			return &ports.InUseError{Label: label, Holder: holder}
		}
	}
	return nil
}

// moveDir moves a folder; having been moved before, or never made, is fine.
func moveDir(from, to string) error {
	if !exists(from) {
		return nil
	}
	return os.Rename(from, to)
}

// repair makes the repository and the checkouts at their new place find each
// other.
func repair(ctx context.Context, p *Project, opts Options) error {
	repo, err := git.Open(ctx, git.Options{Repo: opts.where(), Trees: p.Trees, SalvageDir: p.salvage(), Env: opts.Env})
	if err != nil {
		return err
	}
	var dirs []string
	err = filepath.WalkDir(p.Trees, func(path string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.Trees, path) // both come from the walk
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == p.Trees:
			return filepath.SkipAll // no run has a checkout
		case err != nil:
			return err
		case strings.Count(rel, string(filepath.Separator)) == 1 && entry.IsDir():
			dirs = append(dirs, path)
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		return ports.Unavailable.Errorf("find the checkouts", "%w", err)
	}
	return repo.Repair(ctx, dirs)
}
