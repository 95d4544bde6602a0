package git

import (
	"context"
	"errors"
	"os"
	"strings"

	"example.com/agl/ports"
)

// sync makes the objects of a new commit survive a power cut. Git syncs only
// what it writes itself: what the agent's own git wrote before is found to be
// there and left as it is.
func (c *checkout) sync(ctx context.Context, made ports.Commit, head, own string, changes []change) error {
	ids := []string{made.ID, made.Tree}
	for _, ch := range changes {
		ids = append(ids, ch.id)
	}
	if own != head { // and what the agent's own commits hold besides
		out, err := c.run(ctx, call{read: true, long: true, args: []string{"rev-list", "--objects", "--no-object-names", own, "^" + head, "--"}})
		if err != nil {
			return err
		}
		ids = append(ids, strings.Fields(string(out))...)
	}
	return c.repo.syncObjects(ids)
}

// syncObjects syncs those of the objects that are in files of their own; packs
// are synced by whoever makes them.
func (r *Repo) syncObjects(ids []string) error {
	last, err := r.writeOutObjects(ids)
	if last == nil {
		return err
	}
	return errors.Join(err, last.Sync(), last.Close())
}

// writeOut writes out those of the objects that are in files of their own. The
// sync of whatever is written after them makes them survive a power cut.
func (r *Repo) writeOut(ids []string) error {
	last, err := r.writeOutObjects(ids)
	if last != nil {
		last.Close()
	}
	return err
}

// writeOutObjects writes out those of the objects that are in files of their
// own, and returns the last of them, open: whoever syncs a file after it makes
// all of them survive a power cut. That is how git does it, too, where
// core.fsyncMethod is batch, and it holds on the file systems for which that does.
func (r *Repo) writeOutObjects(ids []string) (last *os.File, err error) {
	for i := len(ids) - 1; i >= 0; i-- { // the commit last
		f, err := os.Open(r.loosePath(ids[i]))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return last, err
		}
		if last != nil {
			last.Close()
		}
		last = f
		if err := writeOut(f); err != nil {
			return last, err
		}
	}
	return last, nil
}
