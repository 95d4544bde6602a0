package git

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// plant makes a salvage ref that AGL did not make, with a raw tree object.
func (b *bench) plant(n, tree string) {
	b.t.Helper()
	cmd := exec.Command("git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin = b.main, b.env, strings.NewReader(tree)
	id, err := cmd.Output()
	require.NoError(b.t, err)
	commit := b.gitIn(b.main, "commit-tree", "-m", "planted", strings.TrimSpace(string(id)))
	b.gitIn(b.main, "update-ref", "refs/agl/salvage/job/_base/"+n, commit)
}

func (b *bench) treeEntry(mode, name, id string) string {
	b.t.Helper()
	raw, err := hex.DecodeString(id)
	require.NoError(b.t, err)
	return mode + " " + name + "\x00" + string(raw)
}

func TestAPlantedSalvageWritesNothingOutsideItsFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "outside": "../../escape", "d/x": "evil"})
	file, link := b.gitIn(b.main, "rev-parse", b.head+":a"), b.gitIn(b.main, "rev-parse", b.head+":outside")
	folder := b.gitIn(b.main, "rev-parse", b.head+":d")
	for i, tree := range []string{
		b.treeEntry("100644", "..", file),
		b.treeEntry("40000", "..", folder),
		b.treeEntry("100644", "/tmp/x", file),
		b.treeEntry("100644", "", file),
		b.treeEntry("40000", ".git", folder),
		b.treeEntry("40000", ".GiT", folder),
		b.treeEntry("120000", "a", link) + b.treeEntry("40000", "a", folder),
		b.treeEntry("100644", "gone", strings.Repeat("ab", 20)),
	} {
		b.plant(string(rune('1'+i)), tree)
		parent := t.TempDir()
		dir := filepath.Join(parent, "x", "y", "out")
		err := b.repo.WriteSalvage(t.Context(), "job", i+1, dir)
		if i == 6 {
			require.Error(t, err) // a link first and a folder at the same place
		} else {
			require.Error(t, err, "tree %d: %q", i, tree)
		}
		require.NoDirExists(t, dir)
		require.NoFileExists(t, filepath.Join(parent, "escape"))
	}
	require.Len(t, b.list(), 8)
	require.Equal(t, "unknown: it was not written by AGL", b.list()[0].Reason)
	b.write("a", "2")
	require.Equal(t, 9, b.keep().N, "what was planted keeps its number")
}

func TestWriteSalvageAsksForAnEmptyFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.keep()
	dir := t.TempDir()
	require.NoError(t, b.repo.WriteSalvage(t.Context(), "job", 1, dir))
	require.Equal(t, map[string]string{"a": "2"}, filesIn(t, dir))
	writeInto(t, dir, "a", "mine")
	err := b.repo.WriteSalvage(t.Context(), "job", 1, dir)
	require.ErrorIs(t, err, ports.Conflicted)
	require.Equal(t, map[string]string{"a": "mine"}, filesIn(t, dir))
	err = b.repo.WriteSalvage(t.Context(), "job", 1, filepath.Join(dir, "a"))
	require.ErrorIs(t, err, ports.Invalid)
}

func TestASalvageThatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.keep()
	for _, label := range []string{"job", "other", "*", "../job", "", ".", "job/_base"} {
		n := 1
		if label == "job" {
			n = 2
		}
		require.ErrorIs(t, b.repo.DropSalvage(t.Context(), label, n), ports.NotFound, label)
		require.ErrorIs(t, b.repo.WriteSalvage(t.Context(), label, n, filepath.Join(t.TempDir(), "x")), ports.NotFound, label)
	}
	require.Len(t, b.list(), 1)
}

func TestADroppedSalvageIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.gitIn(b.dir, "init", "-q", "app")
	s := b.keep()
	require.NoError(t, b.repo.DropSalvage(t.Context(), "job", 1))
	require.Empty(t, b.list())
	require.NoDirExists(t, s.Nested[0])
	_, err := b.tryGit(b.main, "rev-parse", "--verify", "-q", s.Ref)
	require.Error(t, err)
	require.ErrorIs(t, b.repo.DropSalvage(t.Context(), "job", 1), ports.NotFound)
	require.Equal(t, 2, b.keep().N, "its number is not given again")
}

func TestAWrittenSalvageHasTheModesOfItsFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("tool", "#!x")
	b.keep()
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, b.repo.WriteSalvage(t.Context(), "job", 1, dir))
	for p, exec := range map[string]bool{"tool": true, "a": false} {
		info, err := os.Stat(filepath.Join(dir, p))
		require.NoError(t, err)
		require.Equal(t, exec, info.Mode()&0o100 != 0, p)
	}
}
