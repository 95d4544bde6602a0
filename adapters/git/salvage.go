package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"example.com/agl/ports"
)

// salvage keeps what is in the checkout and would be lost by putting it back
// to commit head, under refs/agl/salvage/<label>/<namespace>/<n>. It returns
// nil if that is nothing, and the existing salvage if the namespace's last one
// holds it all.
//
// What is kept: every file of head, of the index, or ignored by no rule of
// head, as its bytes are (no filter, no conversion); what only the index
// holds; what an unfinished merge or rebase has in the admin folder; commits that
// only this checkout leads to; and repositories within the checkout, which are
// moved out of it, last, when all else is on the disk.
// Files that head's rules ignore stay where they are, and so do submodules
// that are at the commit head says. Modes beyond the executable bit, times and empty folders are
// not kept. If it fails, nothing was taken out of the checkout.
func (c *checkout) salvage(ctx context.Context, head, reason string) (*ports.Salvage, error) {
	return c.salvageWith(ctx, head, reason, (*salvager).all)
}

// salvageForRemoval is salvage before the checkout itself is removed, with
// what putting back would leave in it. What head's rules ignore goes.
func (c *checkout) salvageForRemoval(ctx context.Context, head, reason string) (*ports.Salvage, error) {
	return c.salvageWith(ctx, head, reason, func(s *salvager) []step {
		s.removal = true
		return s.all()
	})
}

// salvageCommits is salvage for the commits alone: for a checkout whose files
// and index stay, while its HEAD or its branch is moved to head.
func (c *checkout) salvageCommits(ctx context.Context, head, reason string) (*ports.Salvage, error) {
	return c.salvageWith(ctx, head, reason, func(s *salvager) []step { return []step{s.lookAtCommits} })
}

// A step finds something that is to be kept.
type step func(context.Context) error

func (c *checkout) salvageWith(ctx context.Context, head, reason string, steps func(*salvager) []step) (*ports.Salvage, error) {
	op := fmt.Sprintf("salvage the checkout of %s/%s", c.label, c.namespace)
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, ports.Unavailable.Errorf(op, "%w", err)
	}
	defer root.Close()
	s, err := c.newScratch("agl-salvage")
	if err != nil {
		return nil, ports.Unavailable.Errorf(op, "make a folder for the work: %w", err)
	}
	work := &salvager{checkout: c, scratch: s, files: fileReader{root: root, format: c.repo.format}, head: head, found: &contents{}}
	kept, err := work.keep(ctx, reason, steps(work))
	if err = errors.Join(err, work.close(), s.remove()); err != nil {
		return nil, c.repo.fault(op, err)
	}
	if kept == nil {
		return nil, nil
	}
	return c.repo.publicSalvage(c.label, kept), nil
}

// A salvager is one salvage of a checkout.
type salvager struct {
	checkout *checkout
	scratch  *scratch
	files    fileReader
	admin    fileReader // of the admin folder
	head     string
	removal  bool // the checkout is to be removed

	headTree fileTree
	index    *staging
	found    *contents
	put      []string // paths whose file is not head's, sorted
	removed  []string // paths of head that have none, sorted
	sides    []side
	strays   strays
	from     map[string]string // where in the checkout a nested thing is, if not at the path it is kept under
}

// A side is files that are kept beside those of the checkout, as a parent of
// the salvage's commit.
type side struct {
	name  string // "index stage 0", or operationState
	files fileTree
	stage bool // its blobs are in the repository already
}

// operationState is the side of the admin folder's files about an unfinished
// merge or rebase.
const operationState = "unfinished operation"

// all finds everything there may be to keep.
func (s *salvager) all() []step {
	return []step{s.look, s.lookAtSubmodules, s.compare, s.lookAtIndex, s.lookAtOperation, s.lookAtCommits}
}

func (s *salvager) close() error {
	if s.admin.root == nil {
		return nil
	}
	return s.admin.root.Close()
}

func (s *salvager) keep(ctx context.Context, reason string, steps []step) (*salvageRecord, error) {
	for _, find := range steps {
		if err := find(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.put)+len(s.removed)+len(s.found.nested)+len(s.sides)+len(s.strays.tips) == 0 {
		return nil, nil
	}
	if stays, err := s.stays(ctx); stays || err != nil {
		return nil, err
	}
	past, err := s.checkout.repo.salvages(ctx, s.checkout.label)
	if err != nil {
		return nil, err
	}
	last := 0
	for _, p := range past {
		last = max(last, p.n)
	}
	for _, p := range slices.Backward(past) {
		if p.namespace != s.checkout.namespace {
			continue
		}
		if same, err := s.covered(ctx, p); err != nil {
			return nil, err
		} else if same {
			return p, s.moveNested(p)
		}
		break
	}
	return s.record(ctx, last, reason)
}

// covered reports whether an earlier salvage of the same head holds all that
// is to be kept. Its stray commits need no comparing: its ref reaches them, so
// they are none now.
func (s *salvager) covered(ctx context.Context, past *salvageRecord) (bool, error) {
	if past.made.IsZero() || past.parents[0] != s.head || len(s.strays.tips) > 0 {
		return false, nil // not AGL's own, or of another head, or not all
	}
	for _, p := range s.found.nested {
		_, err := os.Lstat(s.checkout.repo.nestedPath(s.checkout.label, past.n, p))
		if err == nil || !slices.Contains(past.nested, p) {
			return false, nil // else it was killed between its ref and this move
		}
	}
	for _, side := range s.sides {
		i := slices.Index(past.sides, side.name)
		if i < 0 {
			return false, nil
		}
		files, err := s.checkout.repo.listTree(ctx, past.parents[1+i])
		if err != nil || !maps.Equal(files, side.files) {
			return false, err
		}
	}
	files, err := s.checkout.repo.listTree(ctx, past.commit)
	if err != nil {
		return false, err
	}
	for _, p := range s.put {
		if files[p] != s.found.files[p] {
			return false, nil
		}
	}
	return !slices.ContainsFunc(s.removed, func(p string) bool { return files[p] != entry{} }), nil
}

// record makes the salvage: what is in no pack yet, the commits and the ref,
// and then the moves.
func (s *salvager) record(ctx context.Context, last int, reason string) (*salvageRecord, error) {
	c := s.checkout
	if err := c.harden(ctx, s.strays, s.stagedBlobs()); err != nil {
		return nil, fmt.Errorf("keep what is staged and the commits no branch has: %w", err)
	}
	n, err := c.repo.claimSalvage(c.label, last)
	if err != nil {
		return nil, fmt.Errorf("take a number for the salvage: %w", err)
	}
	rec := &salvageRecord{
		n: n, namespace: c.namespace, ref: salvagePrefix(c.label) + c.namespace + "/" + strconv.Itoa(n),
		parents: []string{s.head}, reason: reason, made: time.Now().UTC().Truncate(time.Millisecond),
		paths: len(s.put) + len(s.removed), strays: s.strays.tips, nested: s.found.nested,
	}
	for _, side := range s.sides {
		rec.sides = append(rec.sides, side.name)
	}
	for _, p := range s.found.special {
		rec.notes = append(rec.notes, fmt.Sprintf("%q is a pipe, a socket or a device: it holds no bytes to keep", p))
	}
	if err := s.write(ctx, rec); err != nil {
		os.Remove(c.repo.salvageFolder(c.label, n)) // only if it is empty: the number was never given
		return nil, err
	}
	return rec, s.moveNested(rec)
}
