//go:build unix && !linux

package proc

import (
	"errors"
	"syscall"
)

// startOf cannot tell when a process started; a process of another user lives
// too, and may not be signalled.
func startOf(pid int) (start uint64, ok bool) {
	err := syscall.Kill(pid, 0)
	return 0, err == nil || errors.Is(err, syscall.EPERM)
}

func onlyZombies(int) bool { return false }

func bootID() string { return "" }

func pidSpace() string { return "" }
