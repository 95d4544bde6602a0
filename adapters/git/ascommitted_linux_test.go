package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whether there is something to put back is seen without git only where the
// answer is certain. Whatever was done to a checkout, git is asked.
func TestOnlyAnUntouchedCheckoutIsSeenToBeOneWithoutGit(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		files map[string]string // besides those of every case
		touch func(t *testing.T, w *world, dir string)
		asked bool
		left  bool // what was done is no difference to git, or ignored
	}{
		"nothing": {},
		"the index is as old as the files, which are read then": {touch: func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.Chtimes(filepath.Join(w.adminDir(w.checkout()), "index"), old, old))
		}},
		"line endings may be converted": {files: map[string]string{".gitattributes": "*.txt text\n"}, asked: true, left: true},
		"a file of the same size and time": {asked: true, touch: func(t *testing.T, w *world, dir string) {
			path := filepath.Join(dir, "a.txt")
			info, err := os.Stat(path)
			require.NoError(t, err)
			w.write(path, "TWO\n")
			require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		}},
		"a file was replaced by the same": {asked: true, left: true, touch: func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			w.write(filepath.Join(dir, "a.txt"), "one\n")
		}},
		"a mode": {asked: true, touch: func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o755))
		}},
		"a removed file": {asked: true, touch: func(t *testing.T, w *world, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "d/b.txt"))) }},
		"a new file":     {asked: true, touch: func(t *testing.T, w *world, dir string) { w.write(filepath.Join(dir, "d/new.txt"), "new\n") }},
		"a link to what was there": {asked: true, touch: func(t *testing.T, w *world, dir string) {
			require.NoError(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(w.root, "moved")))
			require.NoError(t, os.Symlink(filepath.Join(w.root, "moved"), filepath.Join(dir, "d")))
		}},
		"an ignored file": {files: map[string]string{".gitignore": "*.log\n"}, asked: true, left: true, touch: func(t *testing.T, w *world, dir string) {
			w.write(filepath.Join(dir, "build.log"), "ignored\n")
		}},
		"a repository within": {asked: true, touch: func(t *testing.T, w *world, dir string) {
			w.git(w.root, "init", "-q", filepath.Join(dir, "d"))
		}, left: true},
		"what is staged alone": {asked: true, touch: func(t *testing.T, w *world, dir string) {
			w.write(filepath.Join(dir, "a.txt"), "staged\n")
			w.git(dir, "add", "a.txt")
		}},
		"a hidden edit": {asked: true, touch: func(t *testing.T, w *world, dir string) {
			w.git(dir, "update-index", "--assume-unchanged", "a.txt")
			w.write(filepath.Join(dir, "a.txt"), "hidden\n")
		}},
		"a commit": {asked: true, touch: func(t *testing.T, w *world, dir string) { w.git(dir, "commit", "-q", "--allow-empty", "-m", "own") }},
		"an unfinished merge": {asked: true, touch: func(t *testing.T, w *world, dir string) {
			w.write(filepath.Join(w.adminDir(w.checkout()), "MERGE_HEAD"), w.base+"\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"a.txt": "one\n", "d/b.txt": "two\n", "d/e/c.txt": "three\n"}
			for path, text := range c.files {
				files[path] = text
			}
			w := newWorld(t, files)
			log := logGit(t, w)
			w.open()
			ws := w.checkout()
			if c.touch != nil {
				c.touch(t, w, ws.Dir())
			}
			before := len(log())
			done, err := ws.PutBack(t.Context(), w.base, "test")
			require.NoError(t, err)
			require.Equal(t, c.asked, len(log()) > before, "that git was asked")
			if c.left {
				require.Nil(t, done.Salvage)
			} else {
				whole(t, w, ws, w.base)
			}
		})
	}
}
