package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/agl/ports"
)

// Delete removes a document.
func (s *Store) Delete(ctx context.Context, label, name string) error {
	path, err := s.document(ctx, label, name)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.IsDir(), errors.Is(err, syscall.ENOTDIR):
		return ports.Unexpected.Errorf("", "%s is not a file; move it away", path)
	case err == nil:
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failure("delete", path, err)
}

// Remove removes all of a run's documents, last the one called last, and the
// folders. It can be repeated if it was interrupted: the last document goes
// only when the disk knows that the others are gone.
func (s *Store) Remove(ctx context.Context, label, last string) error {
	if err := s.check(ctx, label, last); err != nil {
		return err
	}
	dir := s.Path(label, "")
	s.unsettle(dir)
	if err := removeFolder(ctx, dir, last); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		return failure("remove", dir, err)
	}
	return nil
}

// removeFolder removes a folder; last is the path in it of what goes last.
func removeFolder(ctx context.Context, dir, last string) error {
	entries, err := readDir(dir)
	if err != nil {
		return err
	}
	last, deeper, _ := strings.Cut(last, "/")
	found := false
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Name() == last {
			found = true
			continue
		}
		path := filepath.Join(dir, e.Name())
		if err := os.RemoveAll(path); err != nil {
			return failure("remove", path, err)
		}
	}
	if found {
		if err := syncFolder(dir); err != nil {
			return failure("remove", dir, err)
		}
		path := filepath.Join(dir, last)
		if deeper != "" && isFolder(path) {
			err = removeFolder(ctx, path, deeper)
		} else {
			err = os.RemoveAll(path)
		}
		if err != nil {
			return failure("remove", path, err)
		}
	}
	switch err := os.Remove(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrExist):
		return ports.Unavailable.Errorf("remove "+dir, "something was written into it meanwhile; try again")
	default:
		return failure("remove", dir, err)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
