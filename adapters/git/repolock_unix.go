//go:build unix && !solaris && !aix

package git

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f against other processes, and says whether it could.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
