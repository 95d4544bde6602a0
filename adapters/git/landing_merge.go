package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"example.com/agl/ports"
)

// Merge merges spec.Theirs into a checkout, as git merge --no-ff --no-commit
// does: merge-tree merges, which touches nothing, and what it gives is checked
// out. So everything that speaks against it is known before.
func (i integrator) Merge(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
	r := i.repo
	op := "merge " + spec.Branch + " into " + spec.Into
	c, err := r.landing(ctx, op, ws, spec)
	if err != nil {
		return ports.Merge{}, err
	}
	m, err := c.merge(ctx, spec)
	if err != nil {
		return ports.Merge{}, r.fault(op, err)
	}
	return m, nil
}

func (c *checkout) merge(ctx context.Context, spec ports.MergeSpec) (ports.Merge, error) {
	if why, err := c.unmergeable(ctx, spec.Head); err != nil || why != "" {
		return ports.Merge{}, orConflicted(err, why)
	}
	f, at, err := c.foresee(ctx, spec.Head, spec.Theirs)
	if err != nil {
		return ports.Merge{}, err
	}
	compared := sync.OnceValues(func() ([]change, error) { return c.compare(ctx, spec.Head, f.tree) })
	var changes []change
	same := f.tree == at.tree
	if at.tree == "" || !f.clean || c.repo.ignoreCase { // else nothing can be in the way of what changes
		if changes, err = compared(); err != nil {
			return ports.Merge{}, err
		}
		same = len(changes) == 0
	}
	if same && f.clean {
		if in, err := c.repo.descends(ctx, spec.Head, spec.Theirs); err != nil || in {
			return ports.Merge{}, orInvalid(err, "commit "+spec.Theirs+" is in "+spec.Head+" already: there is nothing to land")
		}
	}
	made := ports.Merge{Message: mergeMessage(spec.Branch, spec.Into)}
	if made.Conflicts, err = c.inTheWay(changes); err != nil || len(made.Conflicts) > 0 {
		made.Blocked = true
		return made, err
	}
	if len(at.untracked) > 0 {
		return ports.Merge{}, orConflicted(nil, "it is not clean: "+list(at.untracked))
	}
	made.Conflicts = f.conflicts()
	if at.tree == "" {
		if err := c.refreshIndex(ctx); err != nil {
			return ports.Merge{}, err
		}
	}
	if err := c.checkOutMerge(ctx, spec.Head, f, changes, at.phantoms); err != nil {
		if blocked := c.blockedMeanwhile(err, compared); len(blocked) > 0 {
			return ports.Merge{Message: made.Message, Conflicts: blocked, Blocked: true}, nil
		}
		return ports.Merge{}, err
	}
	if err := c.hold(spec.Theirs, f.tree, withConflicts(made.Message, made.Conflicts)); err != nil {
		return ports.Merge{}, err
	}
	if len(made.Conflicts) > 0 {
		return made, nil
	}
	made.Tree = f.tree
	c.repo.found.tree(spec.Head, f.tree, same)
	return made, c.writeOutMerge(f.tree, at.entries, compared)
}

// orConflicted is err, or a refusal to merge in the checkout.
func orConflicted(err error, why string) error {
	if err != nil {
		return err
	}
	return ports.Conflicted.Errorf("", "no merge can be made in the checkout: %s; put it back first", why)
}

func orInvalid(err error, why string) error {
	if err != nil {
		return err
	}
	return ports.Invalid.Errorf("", "%s", why)
}

// A footing is what a merge begins on: the commit that the checkout is at, and
// what stands there beside.
type footing struct {
	tree      string      // the commit's, where nothing stands beside it, not even what is ignored; else ""
	entries   []pathEntry // of the index, where tree is not ""
	untracked []string
	phantoms  []string // tracked files that git calls changed although they are as it wrote them
}

// foresee merges theirs into head without touching anything, and looks at the
// checkout meanwhile.
func (c *checkout) foresee(ctx context.Context, head, theirs string) (f forecast, at footing, err error) {
	looked := make(chan error, 1)
	go func() {
		var err error
		at, err = c.footing(ctx, head)
		looked <- err
	}()
	f, err = c.forecast(ctx, theirs)
	lookErr := <-looked
	return f, at, cmp.Or(err, lookErr) // what cannot be merged at all is told before what is in its way
}

// footing looks at a checkout in which a merge into head is to be made.
func (c *checkout) footing(ctx context.Context, head string) (at footing, err error) {
	if entries, ok := c.asCommitted(head); ok {
		at.tree, at.entries = c.repo.found.treeOf(head), entries
		return at, nil
	}
	st, err := c.status(ctx)
	switch {
	case err != nil:
		return at, err
	case st.oid != head:
		return at, orConflicted(nil, "its HEAD is at "+st.oid)
	}
	at.untracked = st.untracked
	if len(st.tracked) == 0 {
		return at, nil
	}
	if len(st.changed) == len(st.tracked) {
		if at.phantoms, err = c.phantoms(ctx, st.changed); err != nil {
			return at, err
		}
	}
	if len(at.phantoms) < len(st.tracked) {
		return at, orConflicted(nil, "it is not clean: "+list(st.tracked))
	}
	return at, nil
}

// blockedMeanwhile returns what was put where a merge writes after that had been
// looked at, if that is why git refused.
func (c *checkout) blockedMeanwhile(refusal error, compared func() ([]change, error)) []ports.ConflictPath {
	if !wouldOverwrite(refusal) {
		return nil
	}
	changes, err := compared()
	if err != nil {
		return nil
	}
	blocked, err := c.inTheWay(changes)
	if err != nil {
		return nil
	}
	return blocked
}

// wouldOverwrite reports whether git refused to check files out because of
// files that are in no commit.
func wouldOverwrite(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && overwrites.MatchString(exit.Stderr)
}

// requiredFilter is what git says where a filter fails without which a file is
// not to be checked out, as that of LFS.
var requiredFilter = regexp.MustCompile(`smudge filter .* failed`)

var overwrites = regexp.MustCompile(`would (?:be overwritten|lose untracked)`)

// checkOutMerge makes files and index those of a merge, as git merge does: the
// files of the merged tree, and in the index the sides of what is in conflict.
func (c *checkout) checkOutMerge(ctx context.Context, head string, f forecast, changes []change, phantoms []string) error {
	if err := c.removeChanged(changes, phantoms); err != nil {
		return err
	}
	if err := c.insist(ctx, call{long: true, args: []string{"read-tree", "-m", "-u", head, f.tree}}); err != nil {
		var exit *exitError
		if errors.As(err, &exit) && requiredFilter.MatchString(exit.Stderr) {
			return &ports.UnmergeableError{Err: ports.Unavailable.Errorf("", "a file of it cannot be checked out: %w", err)}
		}
		return err
	}
	if len(f.stages) == 0 {
		return nil
	}
	var removed, put strings.Builder
	for _, s := range f.stages {
		fmt.Fprintf(&removed, "0 %s\t%s\x00", c.repo.zeroID(), s.path)
		fmt.Fprintf(&put, "%s %s %d\t%s\x00", s.mode, s.id, s.stage, s.path)
	}
	_, err := c.run(ctx, call{stdin: strings.NewReader(removed.String() + put.String()), args: []string{"update-index", "-z", "--index-info"}})
	return err
}

// refreshIndex makes the index know the times of files that were written again as
// they were. They are clean, and yet git would refuse to merge over them.
func (c *checkout) refreshIndex(ctx context.Context) error {
	_, err := c.run(ctx, call{long: true, args: []string{"update-index", "--refresh"}}) // -q would say nothing of a lock
	var exit *exitError
	if errors.As(err, &exit) && exit.Code == 1 { // of phantoms
		return nil
	}
	return err
}

// removeChanged removes those of the phantoms that the changes are about. Git
// would not write over them; nothing is lost, as it wrote them itself.
func (c *checkout) removeChanged(changes []change, phantoms []string) error {
	if len(phantoms) == 0 {
		return nil
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	phantom := map[string]bool{}
	for _, p := range phantoms {
		phantom[p] = true
	}
	for _, ch := range changes {
		if !phantom[ch.path] {
			continue
		}
		if err := root.Remove(filepath.FromSlash(ch.path)); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// writeOutMerge writes out the objects of a merged tree that was checked out over
// an index of those entries; of an unknown one, what differs tells which they are.
func (c *checkout) writeOutMerge(tree string, was []pathEntry, compared func() ([]change, error)) error {
	if was != nil {
		entries, err := c.entries()
		if err == nil {
			if ids, is := c.repo.objectsBeside(was, entries); is == tree {
				return c.repo.writeOut(ids)
			}
		}
	}
	changes, err := compared()
	if err != nil {
		return err
	}
	return c.writeOutTree(tree, changes)
}

// writeOutTree writes out a tree's objects: those that changes, what differs
// from a commit that is durable already, name. The sync of the commit that is
// made of the tree makes them durable.
func (c *checkout) writeOutTree(tree string, changes []change) error {
	ids := []string{tree}
	for _, ch := range changes {
		if ch.newMode != "000000" {
			ids = append(ids, ch.id)
		}
	}
	return c.repo.writeOut(ids)
}
