//go:build unix

package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// wrapGit makes the repository use a git that runs script first, for one
// command.
func (b *bench) wrapGit(command, script string) {
	b.t.Helper()
	real, err := exec.LookPath("git")
	require.NoError(b.t, err)
	dir := b.t.TempDir()
	text := "#!/bin/sh\ncase \" $* \" in *' " + command + " '*) " + script + ";; esac\nexec " + real + " \"$@\"\n"
	gittest.Program(b.t, filepath.Join(dir, "git"), text)
	b.repo.git = filepath.Join(dir, "git")
}

// requireUntouched requires that a salvage failed without any effect.
func (b *bench) requireUntouched(files map[string]string, err error) {
	b.t.Helper()
	require.Error(b.t, err)
	require.Equal(b.t, files, filesIn(b.t, b.dir))
	require.Empty(b.t, b.gitIn(b.main, "for-each-ref", "refs/agl/"))
	entries, readErr := os.ReadDir(filepath.Join(b.repo.salvageDir, "job"))
	if readErr == nil {
		require.Empty(b.t, entries)
	}
	require.NoDirExists(b.t, filepath.Join(b.gitDir, "agl-salvage"))
}

func TestAFailedWriteLeavesTheCheckoutAsItIs(t *testing.T) {
	t.Parallel()
	big := make([]byte, 1<<20)
	_, _ = rand.Read(big)
	for _, test := range []struct {
		name, command string
		fail          func(b *bench) (undo func())
		kind          ports.Kind
	}{
		{"the disk is full while the pack is written", "fast-import", func(b *bench) func() {
			b.wrapGit("fast-import", "ulimit -f 64")
			return func() { b.repo.git = "git" }
		}, ports.Unavailable},
		{"the object folder cannot be written", "fast-import", func(b *bench) func() {
			pack := filepath.Join(b.main, ".git/objects/pack")
			require.NoError(b.t, os.RemoveAll(pack))
			require.NoError(b.t, os.WriteFile(pack, nil, 0o644))
			return func() { require.NoError(b.t, os.Remove(pack)) }
		}, ports.Unexpected},
		{"the ref cannot be written", "fast-import", func(b *bench) func() {
			lock := filepath.Join(b.main, ".git/refs/agl/salvage/job/_base/1.lock")
			require.NoError(b.t, os.MkdirAll(filepath.Dir(lock), 0o755))
			require.NoError(b.t, os.WriteFile(lock, nil, 0o644))
			return func() { require.NoError(b.t, os.Remove(lock)) }
		}, ports.Unavailable},
		{"git is missing a part", "fast-import", func(b *bench) func() {
			b.wrapGit("fast-import", "exit 3")
			return func() { b.repo.git = "git" }
		}, ports.Unexpected},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a": "1"})
			b.write("big", string(big))
			b.write("a", "2")
			b.gitIn(b.dir, "init", "-q", "app")
			files := filesIn(t, b.dir)
			undo := test.fail(b)
			s, err := b.salvage(t.Context(), b.head, "x")
			require.Nil(t, s)
			undo()
			b.requireUntouched(files, err)
			require.Equal(t, test.kind, ports.KindOf(err), "%v", err)
			require.NotContains(t, err.Error(), "closed pipe")
			s = b.keep()
			require.Equal(t, 1, s.N)
			require.Equal(t, files, b.written(1))
		})
	}
}

func TestACancelledSalvageEndsAtOnceAndHasNoEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.write("large", strings.Repeat("0123456789abcdef", 1<<16))
	files := filesIn(t, b.dir)
	started := filepath.Join(t.TempDir(), "started")
	require.NoError(t, syscall.Mkfifo(started, 0o644))
	b.wrapGit("fast-import", "head -c 1000 >/dev/null; echo >"+started+"; exec sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(started)
		cancel()
	}()
	_, err := b.salvage(ctx, b.head, "x")
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, ports.KindOf(err))
	b.requireUntouched(files, err)
}

func TestAStreamThatIsCutAnywhereMakesNoRef(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	b.write("a", "2")
	b.write("new", "x\n")
	b.write("staged", "y")
	b.agent("add", "staged")
	b.remove("staged")
	scratch, err := b.newScratch("agl-salvage")
	require.NoError(t, err)
	root, err := os.OpenRoot(b.dir)
	require.NoError(t, err)
	defer root.Close()
	s := &salvager{checkout: b.checkout, scratch: scratch, head: b.head, files: fileReader{root: root, format: "sha1"}}
	for _, step := range []func(context.Context) error{s.look, s.compare, s.lookAtIndex, s.lookAtCommits} {
		require.NoError(t, step(t.Context()))
	}
	var stream bytes.Buffer
	rec := &salvageRecord{n: 1, namespace: "_base", ref: "refs/agl/salvage/job/_base/1", parents: []string{b.head}, made: time.Now(), sides: []string{"index stage 0"}}
	require.NoError(t, s.stream(newImportStream(&stream), rec))
	feed := func(data []byte) error {
		cmd := exec.Command("git", "fast-import", "--quiet", "--date-format=raw")
		cmd.Dir, cmd.Env, cmd.Stdin = b.main, b.env, bytes.NewReader(data)
		return cmd.Run()
	}
	for n := 0; n < stream.Len()-len("done\n"); n += 41 {
		if err := feed(stream.Bytes()[:n]); n >= len("feature done\n") {
			require.Error(t, err, "the first %d bytes", n)
		}
		require.Empty(t, b.gitIn(b.main, "for-each-ref", "refs/agl/"))
	}
	require.NoError(t, feed(stream.Bytes()))
	require.Equal(t, filesIn(t, b.dir), b.filesOf(b.main, rec.ref))
}

func TestNoPackIsLeftEmpty(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "b": "2"})
	b.write("b", "1") // nothing new but a tree and a commit
	b.keep()
	entries, err := os.ReadDir(filepath.Join(b.main, ".git/objects/pack"))
	require.NoError(t, err)
	require.Len(t, entries, 2, "one pack and its index, no temporary file and no .keep")
	b.keep()
	again, err := os.ReadDir(filepath.Join(b.main, ".git/objects/pack"))
	require.NoError(t, err)
	require.Len(t, again, 2)
}

func TestAFileThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeInto(t, dir, "log", "one\n")
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	read := func(changes int) (content string, err error) {
		err = fileReader{root: root, format: "sha1"}.read("log", false, func(_ string, _ int64, r io.Reader) error {
			data, err := io.ReadAll(r)
			content = string(data)
			if changes > 0 {
				changes--
				f, openErr := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_WRONLY, 0)
				require.NoError(t, openErr)
				_, _ = f.WriteString("more\n")
				require.NoError(t, f.Close())
			}
			return err
		})
		return content, err
	}
	content, err := read(2)
	require.NoError(t, err)
	require.Equal(t, "one\nmore\nmore\n", content)
	_, err = read(1000)
	require.ErrorIs(t, err, errChanged)
	require.ErrorContains(t, err, `"log" cannot be kept`)
	require.NoError(t, os.Truncate(filepath.Join(dir, "log"), 0))
}

func TestABlobThatEndsEarlyLeavesTheStreamWellFormed(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	s := newImportStream(&buf)
	_, err := s.blob(5, strings.NewReader("abc"))
	require.ErrorIs(t, err, errChanged)
	require.NoError(t, s.done())
	require.Equal(t, "feature done\nblob\nmark :1\ndata 5\nabc\x00\x00\ndone\n", buf.String())
}

func TestALargeFileIsStreamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	part := make([]byte, 1<<20)
	_, _ = rand.Read(part)
	b.write("large", strings.Repeat(string(part), 10))
	b.roundTrip()
}

func TestManyFilesAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1"})
	for i := range 400 {
		b.write(filepath.Join("gen", string(rune('a'+i%26)), strings.Repeat("x", i%40+1)+string(rune('a'+i%23))), strings.Repeat("y", i))
	}
	want := filesIn(t, b.dir)
	s := b.keep()
	require.Equal(t, want, b.written(s.N))
	require.Equal(t, s, b.keep())
}
