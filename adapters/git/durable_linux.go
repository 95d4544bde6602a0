//go:build amd64 || arm64 || 386 || riscv64 || loong64 || s390x

package git

import (
	"errors"
	"os"
	"syscall"
)

// writeOut starts and awaits the writing of a file's pages. The sync of one
// file after it then flushes the disk's cache for all, which is how git itself
// batches.
func writeOut(f *os.File) error {
	const waitBefore, write, waitAfter = 1, 2, 4
	err := syscall.SyncFileRange(int(f.Fd()), 0, 0, waitBefore|write|waitAfter)
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ESPIPE) || errors.Is(err, syscall.EOPNOTSUPP) {
		return f.Sync()
	}
	return err
}
