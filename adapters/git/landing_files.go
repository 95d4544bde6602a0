package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/agl/ports"
)

// Settle makes index and files those of tree, in a checkout that goes on to
// hold its merge.
func (i integrator) Settle(ctx context.Context, ws ports.Workspace, tree, reason string) (ports.PutBack, error) {
	r := i.repo
	const op = "settle a merge"
	c, err := r.holding(ctx, op, ws)
	if err == nil && !r.isOID(tree) {
		err = ports.Invalid.Errorf(op, "%q is not a full tree id", tree)
	}
	if err != nil {
		return ports.PutBack{}, err
	}
	done, err := c.settle(ctx, tree, reason)
	return done, r.fault(op, err)
}

func (c *checkout) settle(ctx context.Context, tree, reason string) (done ports.PutBack, err error) {
	at, st, err := c.look(ctx, "", &done)
	if err != nil {
		return done, err
	}
	if len(st.untracked)+len(st.changed) == 0 {
		_, err := c.run(ctx, call{read: true, args: []string{"diff-index", "--cached", "--quiet", tree, "--"}})
		var exit *exitError
		if err == nil || !errors.As(err, &exit) || exit.Code != 1 {
			return done, err
		}
	}
	// Salvage compares with a commit: what the merge is without what was done
	// since.
	who := signature{"AGL", "agl@localhost", time.Unix(0, 0).UTC()}
	merge, err := c.repo.commitTree(ctx, c.run, who, "a merge before its commit\n", tree, at.branch, c.mergeHead())
	if err != nil {
		return done, err
	}
	keep := func() (*ports.Salvage, error) {
		return c.salvageWith(ctx, merge, reason, func(s *salvager) []step {
			return []step{s.look, s.lookAtSubmodules, s.compare, s.lookAtIndex, s.lookAtCommits}
		})
	}
	if done.Salvage, err = keep(); err != nil {
		return done, err
	}
	if err := c.insist(ctx, call{long: true, args: []string{"read-tree", "--reset", "-u", tree}}); err != nil {
		return done, err
	}
	return done, c.clean(ctx, st.untracked, keep, &done)
}

// Snapshot returns a commit of the files in a checkout that holds a merge.
// Repositories within it are not part of it.
func (i integrator) Snapshot(ctx context.Context, ws ports.Workspace, spec ports.CommitSpec) (string, error) {
	r := i.repo
	const op = "keep the files of a merge"
	who, err := r.checkCommit(op, spec)
	if err != nil {
		return "", err
	}
	c, err := r.holding(ctx, op, ws)
	if err != nil {
		return "", err
	}
	id, err := c.snapshot(ctx, spec, who)
	if err != nil {
		return "", r.fault(op, err)
	}
	return id, nil
}

func (c *checkout) snapshot(ctx context.Context, spec ports.CommitSpec, who signature) (string, error) {
	x, err := c.readIndex(ctx)
	switch {
	case badIndex(err):
		return "", &ports.RejectedError{Reasons: []string{"its index cannot be read: " + reasonOf(err)}}
	case err != nil:
		return "", err
	case !isRegular(c.indexFile()): // what it held of the merge is not known any more
		return "", &ports.RejectedError{Reasons: []string{"its index is gone"}}
	}
	st, err := c.status(ctx)
	if err != nil {
		return "", err
	}
	// An unmerged path whose file is gone is no phantom: it is staged as gone.
	unmerged := func(p string) bool { return slices.Contains(x.unmerged, p) }
	except, err := c.phantoms(ctx, slices.DeleteFunc(slices.Clone(st.changed), unmerged))
	if err != nil {
		return "", err
	}
	for _, p := range st.untracked {
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			except = append(except, dir)
		}
	}
	var id string
	return id, c.withIndex(func(apart *checkout) error {
		if _, err := apart.stage(ctx, x, except); err != nil {
			return err
		}
		tree, err := apart.durableTree(ctx, spec.Head)
		if err != nil {
			return err
		}
		id, err = c.repo.commitTree(ctx, c.run, who, spec.Message, tree, spec.Head)
		return err
	})
}

// withIndex calls use with the checkout on a copy of its index, which is as old
// as the index itself: git compares the times of files with that.
func (c *checkout) withIndex(use func(*checkout) error) (err error) {
	s, err := c.newScratch("agl-index")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	info, err := os.Lstat(c.indexFile())
	if err != nil {
		return err
	}
	data, err := readRegular(c.indexFile(), 4<<30)
	if err != nil {
		return err
	}
	apart := *c
	apart.index = filepath.Join(s.dir, "index")
	if err := os.WriteFile(apart.index, data, 0o644); err != nil {
		return err
	}
	if err := os.Chtimes(apart.index, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return use(&apart)
}

// Restore makes the files of a checkout that holds a merge those of a
// snapshot. The index stays.
func (i integrator) Restore(ctx context.Context, ws ports.Workspace, snapshot, reason string) (ports.PutBack, error) {
	r := i.repo
	const op = "restore the files of a merge"
	c, err := r.holding(ctx, op, ws)
	if err == nil && !r.isOID(snapshot) {
		err = ports.Invalid.Errorf(op, "%q is not a full commit id", snapshot)
	}
	if err != nil {
		return ports.PutBack{}, err
	}
	done, err := c.restore(ctx, snapshot, reason)
	return done, r.fault(op, err)
}

func (c *checkout) restore(ctx context.Context, snapshot, reason string) (done ports.PutBack, err error) {
	if id, err := c.repo.commitOf(ctx, c.repo.common, snapshot); err != nil || id == "" {
		return done, orNotFound(err, c.repo, snapshot)
	}
	at, st, err := c.look(ctx, "", &done)
	if err != nil {
		return done, err
	}
	keep := func() (*ports.Salvage, error) {
		return c.salvageWith(ctx, snapshot, reason, func(s *salvager) []step { return []step{s.look, s.lookAtSubmodules, s.compare} })
	}
	held, err := c.held(ctx, at.branch, c.mergeHead())
	if err != nil {
		return done, err
	}
	if held != ports.HoldPristine {
		if done.Salvage, err = keep(); err != nil {
			return done, err
		}
	}
	staged, err := c.staged(ctx)
	if err != nil {
		return done, err
	}
	known := slices.AppendSeq(st.untracked, maps.Keys(staged)) // salvaged, or merged
	return done, c.withIndex(func(apart *checkout) error {
		// What the files have in common with the snapshot is not written again.
		if _, err := apart.run(ctx, call{args: []string{"read-tree", "--reset", snapshot}}); err != nil {
			return err
		}
		if err := apart.insist(ctx, call{long: true, args: []string{"checkout-index", "--all", "--force", "--quiet"}}); err != nil {
			return err
		}
		return apart.clean(ctx, known, keep, &done)
	})
}
