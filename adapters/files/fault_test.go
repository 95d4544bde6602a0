//go:build unix

package files_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/files"
	"example.com/agl/ports"
)

var quiet = context.Background()

// Case D9, for every user.
func TestAFileThatCannotGrowLeavesTheOldDocument(t *testing.T) {
	t.Parallel()
	out, err := other("limited", t.TempDir()).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "refused")
}

func TestErrorsOfTheFilesystemHaveTheirKindAndNameTheFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cause error
		kind  ports.Kind
		says  string
	}{
		{syscall.ENOSPC, ports.Unavailable, "no space left"},
		{syscall.EDQUOT, ports.Unavailable, "no space left"},
		{syscall.EACCES, ports.Denied, "writable"},
		{syscall.EPERM, ports.Denied, "writable"},
		{syscall.EROFS, ports.Denied, "writable"},
		{syscall.EIO, ports.Unavailable, "input/output error"},
		{syscall.EISDIR, ports.Unexpected, "move it away"},
		{syscall.ENOTDIR, ports.Unexpected, "move it away"},
	} {
		for _, err := range []error{
			&fs.PathError{Op: "write", Path: "/home/~tmp.1.1.x", Err: tt.cause},
			&os.LinkError{Op: "rename", Old: "/home/~tmp.1.1.x", New: "/home/doc", Err: tt.cause},
			errors.Join(&fs.PathError{Op: "sync", Path: "/home/~tmp.1.1.x", Err: tt.cause}, fs.ErrClosed),
		} {
			got := files.Failure("write", "/home/doc", err)
			require.Equal(t, tt.kind, ports.KindOf(got), "%v", got)
			require.ErrorIs(t, got, tt.cause)
			require.ErrorContains(t, got, "write /home/doc: ")
			require.ErrorContains(t, got, tt.says)
			require.NotContains(t, got.Error(), "~tmp")
		}
	}
	require.NoError(t, files.Failure("write", "/home/doc", nil))
}

func TestAHomeWithoutRightsIsDenied(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := files.New(home, "p")
	require.NoError(t, s.Write(quiet, label, "x", []byte("old"), ports.Durable))
	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	require.NoError(t, lock.Release())

	require.NoError(t, os.Chmod(s.Path(label, ""), 0))
	t.Run("the run's folder", func(t *testing.T) {
		asNobody(t)
		for _, err := range []error{
			s.Write(quiet, label, "x", []byte("new"), ports.Durable),
			s.Write(quiet, label, "new/x", nil, ports.Durable),
			s.Delete(quiet, label, "x"),
		} {
			require.Equal(t, ports.Denied, ports.KindOf(err), "%v", err)
		}
	})
	require.NoError(t, os.Chmod(home, 0))
	t.Run("the whole home", func(t *testing.T) {
		asNobody(t)
		s := files.New(home, "p")
		_, readErr := s.Read(quiet, label, "x")
		_, runsErr := s.Runs(quiet)
		_, lockErr := s.Lock(quiet, label)
		for _, err := range []error{readErr, runsErr, lockErr} {
			require.Equal(t, ports.Denied, ports.KindOf(err), "%v", err)
			require.ErrorContains(t, err, home)
		}
	})
	require.NoError(t, os.Chmod(home, 0o700))
	require.NoError(t, os.Chmod(s.Path(label, ""), 0o700))
	doc, err := s.Read(quiet, label, "x")
	require.NoError(t, err)
	require.Equal(t, "old", string(doc))
}

// Cases D5 and D6.
func TestALockThatAnotherProcessHoldsIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	holder, _, kill := startHolder(t, "holder", home)
	s := files.New(home, "p")
	_, err := s.Lock(quiet, label)
	var inUse *ports.InUseError
	require.ErrorAs(t, err, &inUse)
	require.Equal(t, label, inUse.Label)
	require.Regexp(t, `^process \d+, since \d{4}-`, inUse.Holder)
	require.Contains(t, inUse.Holder, " "+itoa(holder.Process.Pid)+",")
	who, err := s.Holder(quiet, label)
	require.NoError(t, err)
	require.Equal(t, inUse.Holder, who)

	out, err := other("holder", home).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Contains(t, string(out), "in use by process "+itoa(holder.Process.Pid))

	kill()
	who, err = s.Holder(quiet, label)
	require.NoError(t, err)
	require.Empty(t, who, "the holder is dead")
	lock, err := s.Lock(quiet, label)
	require.NoError(t, err)
	require.NoError(t, lock.Release())
}

// Whoever opens a pipe waits for who writes into it.
func TestAPipeInADocumentsPlaceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := files.New(t.TempDir(), "p")
	require.NoError(t, s.Write(quiet, label, "answers/other", nil, ports.Volatile))
	require.NoError(t, syscall.Mkfifo(s.Path(label, "answers/one"), 0o600))
	var corrupt *ports.CorruptError
	_, err := s.Read(quiet, label, "answers/one")
	require.ErrorAs(t, err, &corrupt)
}
