package files

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const errReadOnly = windows.ERROR_WRITE_PROTECT

func noRoom(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncFolder does nothing: Windows has no call for it, NTFS journals names.
func syncFolder(string) error { return nil }

// lockAt is a byte beyond every record: locked bytes cannot be read.
func lockAt() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1} }

// tryLock takes f's lock, or reports that somebody else has it.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockAt())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockAt())
}
