//go:build unix

package git

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

func TestPipesAndSocketsAreNotedAndNothingWaitsForThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "tracked": "1", ".gitignore": "run/\n"})
	b.write("a", "2")
	b.remove("tracked")
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "run"), 0o755))
	for _, p := range []string{"tracked", "pipe", "run/ignored"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(b.dir, p), 0o644))
	}
	require.NoError(t, syscall.Mknod(filepath.Join(b.dir, "socket"), syscall.S_IFSOCK|0o644, 0))
	require.NoError(t, os.Remove(filepath.Join(b.gitDir, "ORIG_HEAD")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.gitDir, "ORIG_HEAD"), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := b.salvage(ctx, b.head, "x")
	require.NoError(t, err)
	require.Equal(t, []string{
		`"pipe" is a pipe, a socket or a device: it holds no bytes to keep`,
		`"socket" is a pipe, a socket or a device: it holds no bytes to keep`,
		`"tracked" is a pipe, a socket or a device: it holds no bytes to keep`,
	}, s.Notes)
	require.Equal(t, map[string]string{"a": "2", ".gitignore": "run/\n"}, b.written(1))
}

func TestAFileThatBecameAPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "x"), 0o644))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	_, err = fileReader{root: root, format: "sha1"}.identify("x", false, make([]byte, 10))
	require.ErrorIs(t, err, errChanged)
}

func TestAnUnreadableFileFailsTheSalvage(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.write("secret", "x")
	b.write("locked/inside", "y")
	files := filesIn(t, b.dir)
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "secret"), 0))
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "locked"), 0))
	s, err := b.salvage(t.Context(), b.head, "x")
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "locked"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "secret"), 0o644))
	if os.Geteuid() == 0 { // root reads it
		require.NoError(t, err)
		require.Equal(t, files, b.written(s.N))
		return
	}
	b.requireUntouched(files, err)
	require.ErrorContains(t, err, `"locked" cannot be read`)
	require.Equal(t, ports.Unavailable, ports.KindOf(err))
}
