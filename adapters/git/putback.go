package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// PutBack makes files, index, HEAD and branch stand at commit head. Ignored
// files stay.
func (c *checkout) PutBack(ctx context.Context, head, reason string) (ports.PutBack, error) {
	op := "put " + c.dir + " back"
	if !c.repo.isOID(head) {
		return ports.PutBack{}, ports.Invalid.Errorf(op, "%q is not a full commit id", head)
	}
	done, err := c.putBack(ctx, head, reason)
	return done, c.repo.fault(op, err)
}

func (c *checkout) putBack(ctx context.Context, head, reason string) (done ports.PutBack, err error) {
	if len(c.damage()) > 0 {
		if done.Notes, err = c.repair(ctx, head); err != nil {
			return done, err
		}
	}
	if at, err := c.heads(ctx); err == nil && at.standsAt(head) && len(c.unfinished()) == 0 {
		if _, ok := c.asCommitted(head); ok {
			return done, nil
		}
	}
	was, st, err := c.look(ctx, head, &done)
	if err != nil {
		return done, err
	}
	if was.standsAt(head) && st.oid == head && st.clean() && len(c.unfinished()) == 0 {
		return done, nil
	}
	if done.Salvage, err = c.salvageHold(ctx, head, reason); err != nil {
		return done, fmt.Errorf("salvage what is there (nothing was put back): %w", err)
	}
	if err := c.reset(ctx, was, head); err != nil {
		return done, err // never clean after a failed reset
	}
	keep := func() (*ports.Salvage, error) { return c.salvage(ctx, head, reason) }
	if err := c.clean(ctx, st.untracked, keep, &done); err != nil {
		return done, err
	}
	return done, c.mustBeAt(ctx, head, &done)
}

// look reads heads and status. What keeps git from telling a status is put
// right first: an index it cannot read is moved aside, a branch or HEAD at what
// is no commit is put back to head, and folders that are closed to it are
// opened, as far as they are the user's.
func (c *checkout) look(ctx context.Context, head string, done *ports.PutBack) (heads, status, error) {
	was, err := c.heads(ctx)
	if err != nil {
		return heads{}, status{}, err
	}
	st, err := c.status(ctx)
	if st.closed && openFolders(c.dir) == nil {
		st, err = c.status(ctx)
	}
	if badIndex(err) {
		to, err := c.repo.moveAside(filepath.Join(c.gitDir, "index"), c.label, c.namespace+"-index")
		if err != nil {
			return heads{}, status{}, err
		}
		done.Notes = append(done.Notes, "the index could not be read; it was moved to "+to)
		return c.look(ctx, head, done)
	}
	if noSuchObject(err) && head != "" && !(was.attached && was.branch == head) {
		if err := c.restoreRefs(ctx, was, head); err != nil {
			return heads{}, status{}, err
		}
		done.Notes = append(done.Notes, "its branch or HEAD was at what is no commit; it is at "+head+" again")
		return c.look(ctx, head, done)
	}
	return was, st, err
}

// badIndex reports whether a git call failed because of what the index holds.
func badIndex(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && indexUnreadable.MatchString(exit.Stderr)
}

var indexUnreadable = regexp.MustCompile(`index file corrupt|index file smaller than expected|bad index|bad signature|` +
	`index file open failed|unordered stage entries|index uses .* extension|malformed name field`)

// reset ends what is unfinished and moves HEAD, branch, index and tracked
// files to head.
func (c *checkout) reset(ctx context.Context, was heads, head string) error {
	if err := c.endOperations(); err != nil {
		return err
	}
	if err := c.restoreRefs(ctx, was, head); err != nil {
		return err
	}
	return c.insist(ctx, call{long: true, args: []string{"reset", "--hard", "--quiet", head, "--"}})
}

// cleanRounds is how often what was untracked may uncover more that is: each
// round takes ignore rules away that were one folder deeper.
const cleanRounds = 100

// clean removes what is untracked. An ignore rule that the agent added to a
// tracked file went with the reset, one in an untracked file goes with the
// cleaning, and either uncovers what it hid: keep salvages that if it is not
// known to be salvaged.
func (c *checkout) clean(ctx context.Context, known []string, keep func() (*ports.Salvage, error), done *ports.PutBack) error {
	kept := make(map[string]bool, len(known))
	for _, p := range known {
		kept[p] = true
	}
	var before []string
	for range cleanRounds {
		st, err := c.status(ctx)
		if err != nil || len(st.untracked) == 0 || slices.Equal(st.untracked, before) {
			return err
		}
		if slices.ContainsFunc(st.untracked, func(p string) bool { return !kept[p] }) {
			more, err := keep()
			switch {
			case err != nil:
				return fmt.Errorf("salvage what an ignore rule hid: %w", err)
			case more != nil && done.Salvage == nil:
				done.Salvage = more
			case more != nil && more.N != done.Salvage.N:
				done.Notes = append(done.Notes, fmt.Sprintf("what appeared meanwhile is kept as salvage %d", more.N))
			}
		}
		for _, p := range st.untracked {
			kept[p] = true
		}
		before = st.untracked
		if err := c.insist(ctx, call{long: true, args: []string{"clean", "-f", "-d", "--quiet"}}); err != nil {
			return err
		}
	}
	return nil
}

// mustBeAt checks that putting back did what it is for.
func (c *checkout) mustBeAt(ctx context.Context, head string, done *ports.PutBack) error {
	st, err := c.status(ctx)
	if err == nil && len(st.changed) > 0 {
		st, err = c.rewriteMissing(ctx, st)
	}
	if err != nil {
		return err
	}
	switch {
	case st.oid != head:
		return ports.Unexpected.Errorf("", "it is at commit %q instead of %s; something else works in it", st.oid, head)
	case len(st.untracked) > 0:
		return ports.Unexpected.Errorf("", "files are in it again or cannot be removed: %s; end what writes there", list(st.untracked))
	}
	if len(st.tracked) > 0 {
		done.Notes = append(done.Notes, "git calls these changed right after writing them, because their line endings or a filter "+
			"do not give back what was committed: "+list(st.tracked))
	}
	return nil
}

// rewriteMissing writes the tracked files that are not there, over nothing, and
// returns the status after that. Where a folder was moved away and a link to it
// left in its place, a reset finds the files through the link as they were, and
// they are gone with the link.
func (c *checkout) rewriteMissing(ctx context.Context, st status) (status, error) {
	var gone strings.Builder
	for _, p := range st.changed {
		if _, err := os.Lstat(filepath.Join(c.dir, filepath.FromSlash(p))); missing(err) {
			gone.WriteString(p + "\x00")
		}
	}
	if gone.Len() == 0 {
		return st, nil
	}
	_, err := c.run(ctx, call{long: true, stdin: strings.NewReader(gone.String()), args: []string{"checkout-index", "--index", "--quiet", "-z", "--stdin"}})
	if err != nil {
		return st, err
	}
	return c.status(ctx)
}
