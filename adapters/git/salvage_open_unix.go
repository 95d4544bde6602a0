//go:build unix

package git

import (
	"errors"
	"os"
	"syscall"
)

// openNonblock keeps the opening of a pipe from waiting for its other end.
const openNonblock = syscall.O_NONBLOCK

// otherFilesystem reports whether a rename failed because its ends are on two
// file systems.
func otherFilesystem(err error) bool { return errors.Is(err, syscall.EXDEV) }

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
