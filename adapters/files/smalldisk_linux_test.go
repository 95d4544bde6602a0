package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/files"
	"example.com/agl/ports"
)

// Case D9, on a disk of 256 KiB in a mount namespace of the helper's own.
// TestAFileThatCannotGrow is the same where the system does not let us mount.
func TestAFullDiskLeavesTheOldDocument(t *testing.T) {
	t.Parallel()
	cmd := other("small disk", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || strings.Contains(string(out), cannotMount) {
		t.Skipf("this user may not mount (%v %s); TestAFileThatCannotGrowLeavesTheOldDocument covers the rest", err, out)
	}
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "no space left")
	require.Contains(t, string(out), "make room, then resume")
}

const cannotMount = "cannot mount"

func writeToSmallDisk(home string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%s: %w", cannotMount, err)
	}
	if err := syscall.Mount("tmpfs", home, "tmpfs", 0, "size=256k"); err != nil {
		return fmt.Errorf("%s: %w", cannotMount, err)
	}
	ballast := filepath.Join(home, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 128<<10), 0o600); err != nil {
		return err
	}
	if err := writeTooMuch(home, func() error { return os.Remove(ballast) }); err != nil {
		return err
	}
	if err := syscall.Mount("", home, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	s := files.New(home, "p")
	_, lockErr := s.Lock(quiet, label)
	for _, err := range []error{s.Write(quiet, label, "x", nil, ports.Durable), lockErr} {
		if ports.KindOf(err) != ports.Denied {
			return fmt.Errorf("on a read-only disk, want Denied, got %v", err)
		}
	}
	return nil
}
