package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// runOwning runs git; as long as a lock file keeps it from working that own
// says is in this run's own area, and that no process holds, the file is moved
// aside and the call made once more. The caller holds the run's lock, so the
// only git that could have left it there is one that died; one that moved
// several refs left several.
func (r *Repo) runOwning(ctx context.Context, c call, label string, own func(path string) bool) ([]byte, error) {
	for {
		out, err := r.run(ctx, c)
		lock, ok := lockIn(err)
		if !ok || !filepath.IsAbs(lock) || !own(lock) || !rewound(c.stdin) || heldOpen(lock) {
			return out, err
		}
		if _, moveErr := r.moveAside(lock, label, "lock"); moveErr != nil {
			return out, err
		}
	}
}

// rewound makes what a call reads ready to be read again, if it can be.
func rewound(stdin io.Reader) bool {
	if stdin == nil {
		return true
	}
	seeker, ok := stdin.(io.Seeker)
	if !ok {
		return false
	}
	_, err := seeker.Seek(0, io.SeekStart)
	return err == nil
}

// below reports whether path is in the folder dir.
func below(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }

// ownLock reports whether a lock file is on a ref of this run.
func (r *Repo) ownLock(path, label string) bool {
	ref := filepath.Join(r.common, "refs")
	for _, dir := range []string{
		filepath.Join(ref, "heads", "agl", "_work", label),
		filepath.Join(ref, "agl", "keep", label),
		filepath.Join(ref, "agl", "salvage", label),
	} {
		if below(path, dir) {
			return true
		}
	}
	return path == filepath.Join(ref, "heads", "agl", label+".lock")
}

// moveAside moves a file or a folder into the run's salvage folder, under a
// name that says what it was, and returns where it is.
func (r *Repo) moveAside(path, label, what string) (string, error) {
	dir := filepath.Join(r.salvageDir, label, "aside")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	stamp := time.Now().UTC().Format("20060102T150405")
	for n := 1; ; n++ {
		to := filepath.Join(dir, fmt.Sprintf("%s-%s-%d", what, stamp, n))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		return to, relocate(path, to)
	}
}
