package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// WriteSalvage writes what salvage n holds into dir, which must be absent or
// empty: its files byte for byte, with executable bits and links, and the
// repositories that were moved aside at their places. What it began to write
// is removed if it fails.
func (r *Repo) WriteSalvage(ctx context.Context, label string, n int, dir string) (err error) {
	op := fmt.Sprintf("write salvage %d of %s to %s", n, label, dir)
	s, err := r.findSalvage(ctx, op, label, n)
	if err != nil {
		return err
	}
	files, err := r.listTree(ctx, s.commit)
	if err != nil {
		return r.fault(op, err)
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if err := checkPath(p); err != nil {
			return ports.Unexpected.Errorf(op, "%w; fetch it from %s with git", err, s.ref)
		}
	}
	made, err := emptyFolder(op, dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ports.Unavailable.Errorf(op, "%w", err)
	}
	defer root.Close()
	w := &salvageWriter{root: root, links: map[string]string{}}
	err = errors.Join(w.files(ctx, r, files), w.nested(filepath.Join(r.salvageFolder(label, n), "nested")))
	if err == nil {
		err = w.writeLinks()
	}
	if err != nil {
		return r.fault(op, errors.Join(err, w.undo(dir, made)))
	}
	return nil
}

// emptyFolder makes dir if it is absent.
func emptyFolder(op, dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return false, ports.Unavailable.Errorf(op, "%w", err)
		}
		return true, nil
	case err != nil:
		return false, ports.Invalid.Errorf(op, "%w", err)
	case len(entries) > 0:
		return false, ports.Conflicted.Errorf(op, "the folder is not empty; name one that is, or that does not exist")
	}
	return false, nil
}

// checkPath refuses what could be written outside the folder, what git would
// take for a repository, and names this system cannot hold.
func checkPath(p string) error {
	if !filepath.IsLocal(filepath.FromSlash(p)) || path.Clean(p) != p {
		return fmt.Errorf("%q is no path of a file in a folder, or no name on this system", p)
	}
	for name := range strings.SplitSeq(p, "/") {
		if dotGit(name) {
			return fmt.Errorf("%q is a path that git itself refuses", p)
		}
		if runtime.GOOS == "windows" && (strings.ContainsAny(name, `<>:"\|?*`) || strings.TrimRight(name, ". ") != name ||
			strings.IndexFunc(name, func(c rune) bool { return c < ' ' }) >= 0) {
			return fmt.Errorf("%q is no name on this system", p)
		}
	}
	return nil
}

// A salvageWriter writes into an empty folder. Links come last, so that
// nothing is written through one.
type salvageWriter struct {
	root  *os.Root
	tops  []string // the names in the folder that were made
	links map[string]string
}

func (w *salvageWriter) files(ctx context.Context, r *Repo, files fileTree) error {
	var paths, ids []string
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if files[p].mode != modeRepo {
			paths, ids = append(paths, p), append(ids, files[p].id)
		}
	}
	return r.readBlobs(ctx, ids, func(i int, size int64, blob io.Reader) error {
		p := paths[i]
		switch files[p].mode {
		case modeLink:
			target, err := io.ReadAll(io.LimitReader(blob, 1<<20))
			w.links[p] = string(target)
			return err
		case modeExec:
			return w.file(p, 0o777, size, blob)
		}
		return w.file(p, 0o666, size, blob)
	})
}

func (w *salvageWriter) file(p string, perm fs.FileMode, size int64, content io.Reader) error {
	if err := w.folder(path.Dir(p)); err != nil {
		return err
	}
	f, err := w.root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, content)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	w.noteTop(p)
	return errors.Join(err, f.Close())
}

func (w *salvageWriter) folder(p string) error {
	if p == "." {
		return nil
	}
	w.noteTop(p)
	return w.root.MkdirAll(p, 0o777)
}

func (w *salvageWriter) noteTop(p string) {
	top, _, _ := strings.Cut(p, "/")
	if len(w.tops) == 0 || w.tops[len(w.tops)-1] != top {
		w.tops = append(w.tops, top)
	}
}

// nested copies what was moved aside.
func (w *salvageWriter) nested(from string) error {
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil || rel == "." {
			return err
		}
		p := filepath.ToSlash(rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch d.Type() {
		case fs.ModeDir:
			return w.folder(p)
		case fs.ModeSymlink:
			w.links[p], err = os.Readlink(name)
			return err
		case 0:
			f, err := os.OpenFile(name, os.O_RDONLY|openNonblock, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			return w.file(p, info.Mode().Perm(), info.Size(), f)
		}
		return nil // a pipe or a socket
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was moved
	}
	return err
}

func (w *salvageWriter) writeLinks() error {
	for _, p := range slices.Sorted(maps.Keys(w.links)) {
		if err := w.folder(path.Dir(p)); err != nil {
			return err
		}
		if err := w.root.Symlink(w.links[p], p); err != nil {
			return err
		}
		w.noteTop(p)
	}
	return nil
}

// undo removes what was written, and dir if it was made.
func (w *salvageWriter) undo(dir string, made bool) error {
	var errs []error
	for _, top := range w.tops {
		errs = append(errs, w.root.RemoveAll(top))
	}
	if made {
		errs = append(errs, os.Remove(dir))
	}
	return errors.Join(errs...)
}
