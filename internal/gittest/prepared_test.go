package gittest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
)

func TestWhatIsPreparedOnceIsCopiedWhole(t *testing.T) {
	t.Parallel()
	var made int
	folder := func() string {
		dir := filepath.Join(t.TempDir(), "a")
		gittest.Prepared(t, dir, t.Name(), func() {
			made++
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "empty", "er"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "read"), []byte("only\x00"), 0o400))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run"), nil, 0o700))
			require.NoError(t, os.Symlink("../gone", filepath.Join(dir, "link")))
		})
		return dir
	}
	first := folder()
	require.NoError(t, os.Remove(filepath.Join(first, "read"))) // what becomes of the first is its own affair
	copied := folder()
	require.Equal(t, 1, made)
	for name, mode := range map[string]os.FileMode{"empty/er": os.ModeDir | 0o700, "read": 0o400, "run": 0o700} {
		info, err := os.Lstat(filepath.Join(copied, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}
	data, err := os.ReadFile(filepath.Join(copied, "read"))
	require.NoError(t, err)
	require.Equal(t, "only\x00", string(data))
	target, err := os.Readlink(filepath.Join(copied, "link"))
	require.NoError(t, err)
	require.Equal(t, "../gone", target)
}

func TestEachRepositoryIsItsOwn(t *testing.T) {
	t.Parallel()
	one := gittest.New(t, map[string]string{"a.txt": "one\n"})
	two := gittest.New(t, map[string]string{"b.txt": "two\n"})
	require.Equal(t, "a.txt", one.Git("ls-files"))
	require.Equal(t, "b.txt", two.Git("ls-tree", "--name-only", "main"))
	require.Equal(t, "Tess Ter", two.Git("log", "-1", "--format=%an"))
	require.Empty(t, two.Git("status", "--porcelain"))
}
