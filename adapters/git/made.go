package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// holdMade keeps the last commit made in a namespace reachable. Nothing else
// leads to it until the caller has recorded it and moved the branch: whoever
// makes room where that failed (git gc --prune=now) would take it from the
// record.
//
// Where refs are files it writes one as git does, by a lock file, and spawns
// nothing: only this run, whose lock is held, writes it.
func (w *worktrees) holdMade(ctx context.Context, namespace, commit string) error {
	ref := keepRef(w.label, "made-"+namespace)
	if !w.repo.files {
		return w.overwriteRef(ctx, ref, commit)
	}
	path := filepath.Join(w.repo.common, filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	lock := path + ".lock"
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return w.overwriteRef(ctx, ref, commit) // git says what is in the way
	}
	_, err = f.WriteString(commit + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(lock, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(lock))
	}
	return syncFolder(filepath.Dir(path))
}

// overwriteRef makes a ref point at a commit, wherever it pointed before.
func (w *worktrees) overwriteRef(ctx context.Context, ref, commit string) error {
	_, err := w.run(ctx, call{durable: true, args: []string{"update-ref", "--no-deref", ref, commit}})
	return err
}
