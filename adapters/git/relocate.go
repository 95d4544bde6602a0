package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// relocate moves a file or folder to where nothing is, durably. To another
// file system it is copied, compared, and only then removed here.
func relocate(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists already", to)
	}
	if err := makeFolder(filepath.Dir(to)); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if otherFilesystem(err) {
		return copyOver(from, to)
	}
	return errors.Join(err, syncFolder(filepath.Dir(to)), syncFolder(filepath.Dir(from)))
}

// copyOver moves by copying: what is at to is whole, and on the disk, before
// anything is removed.
func copyOver(from, to string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(to), ".moving-")
	if err != nil {
		return err
	}
	defer removeTree(tmp)
	copied := filepath.Join(tmp, "copy")
	if err := copyFiles(from, copied); err != nil {
		return err
	}
	if err := compareFiles(from, copied); err != nil {
		return err
	}
	if err := os.Rename(copied, to); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(to)); err != nil {
		return err
	}
	return removeTree(from)
}

// copyFiles copies a file or folder, with modes and links, and syncs it. Pipes
// and sockets, such as those of git's own daemons, hold nothing and are left
// out.
func copyFiles(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case 0:
		return copyRegular(from, to, info)
	case fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case fs.ModeDir:
	default:
		return nil
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyFiles(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(syncFolder(to), os.Chmod(to, info.Mode().Perm()|0o700))
}

func copyRegular(from, to string, info fs.FileInfo) error {
	src, err := os.OpenFile(from, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Chmod(info.Mode().Perm()), dst.Sync(), dst.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// compareFiles reports what is different, or missing, in a copy.
func compareFiles(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		q := filepath.Join(to, rel)
		same := true
		switch d.Type() {
		case 0:
			same, err = sameBytes(p, q)
		case fs.ModeSymlink:
			a, errA := os.Readlink(p)
			b, errB := os.Readlink(q)
			same, err = a == b, errors.Join(errA, errB)
		case fs.ModeDir:
			_, err = os.Lstat(q)
		}
		if err == nil && !same {
			err = fmt.Errorf("%s changed while it was copied", p)
		}
		return err
	})
}

func sameBytes(a, b string) (bool, error) {
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	rx, ry := bufio.NewReaderSize(x, 64<<10), bufio.NewReaderSize(y, 64<<10)
	for {
		px, errX := rx.Peek(32 << 10)
		py, errY := ry.Peek(32 << 10)
		if !bytes.Equal(px, py) {
			return false, nil
		}
		if errX != nil || errY != nil {
			if errX == io.EOF && errY == io.EOF {
				return true, nil
			}
			return false, errors.Join(errX, errY)
		}
		rx.Discard(len(px))
		ry.Discard(len(py))
	}
}

// removeTree removes a file or folder, also folders that are not writable.
func removeTree(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// makeFolder makes a folder and those above it, durably.
func makeFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if err := makeFolder(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}
