//go:build !unix

package git

import (
	"errors"
	"syscall"
)

// openNonblock is not needed: there are no pipes among files here.
const openNonblock = 0

// otherFilesystem reports whether a rename failed because its ends are on two
// volumes: ERROR_NOT_SAME_DEVICE.
func otherFilesystem(err error) bool { return errors.Is(err, syscall.Errno(17)) }

// syncFolder does nothing: a folder cannot be synced here.
func syncFolder(string) error { return nil }
