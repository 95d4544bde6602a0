//go:build unix

package git

import (
	"errors"
	"os"
	"syscall"
)

// openNonblock keeps an open from waiting at a pipe an agent made.
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
