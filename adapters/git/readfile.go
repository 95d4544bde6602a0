package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// errIrregular says that a path an agent can write to holds something that is
// no ordinary file of an ordinary size.
var errIrregular = errors.New("it is not a regular file of a usual size")

// readRegular reads a file of at most limit bytes. It neither follows a link
// nor waits at a pipe.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, errIrregular)
	}
	return readLinked(path, limit)
}

// readLinked is readRegular for a file that may be a link to one, as people
// keep their configuration.
func readLinked(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s: %w", path, errIrregular)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// missing reports whether err says that a path, or a folder on the way to it,
// does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// replaceFile writes a small file whole, in place of whatever has its name.
// What a killed one leaves has a name of its own, and is overwritten by the
// next.
func replaceFile(path, content string) error {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !missing(err) {
		return err
	}
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // which follows no link
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(next, path)
	}
	return err
}
