package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"example.com/agl/ports"
)

// Read returns a document as it is in its file.
func (s *Store) Read(ctx context.Context, label, name string) ([]byte, error) {
	path, err := s.document(ctx, label, name)
	if err != nil {
		return nil, err
	}
	if isNoFile(path) {
		return nil, &ports.CorruptError{File: path, Err: errors.New("it is not a file")}
	}
	doc, err := os.ReadFile(path)
	switch {
	case err == nil:
		return doc, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, ports.NotFound.Errorf("", "run %q has no %s (%s does not exist)", label, name, path)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return nil, &ports.CorruptError{File: path, Err: errors.New("it is not a file")}
	default:
		return nil, failure("read", path, err)
	}
}

// isNoFile reports whether something else is there, a folder, or a pipe, whose
// reader would wait for ever.
func isNoFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// Names returns the base names of the documents in a run's folder, sorted.
// The folder "" is the run's own.
func (s *Store) Names(ctx context.Context, label, folder string) ([]string, error) {
	if err := s.check(ctx, label, folder); err != nil {
		return nil, err
	}
	entries, err := readDir(s.Path(label, folder))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && checkElement(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Runs returns the labels of the runs that have a document, sorted.
func (s *Store) Runs(ctx context.Context) ([]string, error) {
	if err := s.check(ctx, "runs", ""); err != nil {
		return nil, err
	}
	entries, err := readDir(s.runs)
	if err != nil {
		return nil, err
	}
	var labels []string
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !e.IsDir() || checkElement(e.Name()) != nil {
			continue
		}
		has, err := hasDocument(filepath.Join(s.runs, e.Name()))
		if err != nil {
			return nil, err
		}
		if has {
			labels = append(labels, e.Name())
		}
	}
	return labels, nil
}

func hasDocument(dir string) (bool, error) {
	entries, err := readDir(dir)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && checkElement(e.Name()) == nil }) {
		return true, nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if has, err := hasDocument(filepath.Join(dir, e.Name())); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// readDir returns a folder's entries by name; none if there is no such folder.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil:
		return entries, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.ENOTDIR):
		return nil, ports.Unexpected.Errorf("", "%s is not a folder; move it away", dir)
	default:
		return nil, failure("list", dir, err)
	}
}
