package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/agl/ports"
)

// Open returns the checkout of place, its branch at head. It refuses to take
// over a directory or a registration that is not AGL's own.
func (w *worktrees) Open(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
	op := "open the worktree of " + place.Namespace
	err := errors.Join(checkName(place.Namespace), checkBranch(place.Branch))
	if err == nil && !w.repo.isOID(head) {
		err = fmt.Errorf("%q is not a full commit id", head)
	}
	if err != nil {
		return nil, ports.Invalid.Errorf(op, "%w", err)
	}
	at, err := w.repo.Branch(ctx, place.Branch)
	if err != nil {
		return nil, w.repo.fault(op, err)
	}
	if at != "" && at != head {
		return nil, elsewhere(op, place.Branch, at, head)
	}
	c := w.checkout(place)
	if err := c.open(ctx, w, at == "", head); err != nil {
		return nil, w.repo.fault(op, err)
	}
	return c, nil
}

// open finds out what there is of the checkout and makes the rest.
func (c *checkout) open(ctx context.Context, w *worktrees, newBranch bool, head string) error {
	n, err := c.readNote()
	if err != nil {
		return err
	}
	if info, err := os.Lstat(c.dir); err == nil && n.done {
		c.gitDir = c.repo.adminDir(n.id)
		if newBranch {
			if err := w.setRef(ctx, branchRef(c.branch), "", head); err != nil {
				return err
			}
		}
		return c.readopt(ctx, info.IsDir())
	}
	if err := os.MkdirAll(w.folder(), 0o777); err != nil {
		return err
	}
	ids, err := c.repo.registrations()
	if err != nil {
		return err
	}
	have, err := c.makeRoom(ctx, w, n, ids[c.dir])
	if err != nil {
		return err
	}
	return c.make(ctx, w, have, ids[c.dir], newBranch, head)
}

// readopt makes an existing checkout usable as it is. What an agent may have
// done to it is for PutBack; only what is missing is made again, because
// nothing is lost by that.
func (c *checkout) readopt(ctx context.Context, dir bool) error {
	if err := c.unlock(c.gitDir); err != nil {
		return err
	}
	if at := c.links()[1]; isDir(c.gitDir) { // the folder of the checkouts was moved
		was, err := readRegular(at.path, 64<<10)
		if err == nil && string(was) != at.holds && !isDir(filepath.Dir(strings.TrimSpace(string(was)))) {
			if err := replaceFile(at.path, at.holds); err != nil {
				return err
			}
		}
	}
	line, lineErr := readRegular(filepath.Join(c.dir, ".git"), 64<<10)
	if !dir || lineErr != nil && !missing(lineErr) {
		return nil
	}
	switch {
	case c.moved(string(line)):
		if err := os.Remove(filepath.Join(c.dir, ".git")); err != nil {
			return err
		}
	case missing(lineErr), !isDir(c.gitDir):
	default:
		return nil
	}
	_, err := c.repair(ctx, "")
	return err
}

// moved reports whether a .git file names the admin folder where it was before
// the repository was moved.
func (c *checkout) moved(line string) bool {
	was := strings.TrimSpace(strings.TrimPrefix(line, "gitdir:"))
	return line != c.gitLine() && filepath.Base(was) == filepath.Base(c.gitDir) && !isDir(was)
}

// What makeRoom can find.
type standing int

const (
	nothing  standing = iota // the checkout is to be made
	halfMade                 // it is registered, and making it goes on
	unnoted                  // it is registered and whole, but its note is lost: what is in it may be work
)

// makeRoom settles what stands where the checkout goes. id is the admin folder
// registered for the directory, if there is one.
func (c *checkout) makeRoom(ctx context.Context, w *worktrees, n note, id string) (standing, error) {
	entries, err := os.ReadDir(c.dir)
	switch {
	case missing(err) && !isNotFolder(c.dir):
		return nothing, c.dropRegistration(ctx, w, id)
	case err != nil:
		return nothing, ports.Conflicted.Errorf("", "%s is in the way and is no directory; move it away", c.dir)
	case !n.exists && id != "":
		return unnoted, nil
	case !n.exists && len(entries) > 0:
		return nothing, ports.Conflicted.Errorf("", "%s holds files and is no worktree of this repository; move it away", c.dir)
	}
	empty := len(entries) == 0 || len(entries) == 1 && entries[0].Name() == ".git" && entries[0].Type().IsRegular()
	if id != "" {
		c.gitDir = c.repo.adminDir(id)
		if len(c.damage()) == 0 {
			return halfMade, nil
		}
		if !empty {
			_, err := c.repair(ctx, "")
			return halfMade, err
		}
	}
	if !empty { // AGL's own, but not provably so any more
		_, err := c.repo.moveAside(c.dir, c.label, c.namespace+"-checkout")
		return nothing, err
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(c.dir, e.Name())); err != nil {
			return nothing, err
		}
	}
	if err := os.Remove(c.dir); err != nil {
		return nothing, err
	}
	return nothing, c.dropRegistration(ctx, w, id)
}

// isNotFolder reports whether something other than a folder is at path.
func isNotFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// dropRegistration removes the admin folder of a worktree whose directory is
// gone. It is by name, never by prune, which would also drop what others have
// on a disk that is not there today.
func (c *checkout) dropRegistration(ctx context.Context, w *worktrees, id string) error {
	if id == "" {
		return nil
	}
	admin := c.repo.adminDir(id)
	if reason, foreign := c.foreignLock(admin); foreign {
		return ports.Conflicted.Errorf("", "the worktree %s is locked (%s) and its directory is gone; unlock it with git worktree unlock",
			c.dir, ports.Clip(ports.Printable(reason), 200))
	}
	if err := c.unlock(admin); err != nil {
		return err
	}
	held, unlock, err := c.repo.lockWorktrees(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = w.run(ctx, call{args: []string{"worktree", "remove", "--force", c.dir}, files: []*os.File{held}})
	return err
}

// make makes what makeRoom did not find. The branch is made meanwhile: HEAD
// names it only when both are there.
func (c *checkout) make(ctx context.Context, w *worktrees, have standing, id string, newBranch bool, head string) error {
	branch := make(chan error, 1)
	go func() {
		var err error
		if newBranch {
			err = w.setRef(ctx, branchRef(c.branch), "", head)
		}
		branch <- err
	}()
	var err error
	if have == nothing {
		id, err = c.register(ctx, w, head)
	}
	if err = errors.Join(err, <-branch); err != nil {
		return err
	}
	c.gitDir = c.repo.adminDir(id)
	if have == unnoted {
		if err := c.writeNote("made", id); err != nil {
			return err
		}
		return c.readopt(ctx, true)
	}
	if err := c.attach(ctx); err != nil {
		return err
	}
	if err := c.fill(ctx, head); err != nil {
		return err
	}
	if err := c.unfit(ctx); err != nil {
		return err
	}
	if err := c.unlock(c.gitDir); err != nil {
		return err
	}
	return c.writeNote("made", id)
}

// register adds an empty worktree and returns the id of its admin folder. Git
// fails at adding two at once, so this is under the repository's lock.
func (c *checkout) register(ctx context.Context, w *worktrees, head string) (string, error) {
	if err := c.writeNote("making", ""); err != nil {
		return "", err
	}
	held, unlock, err := c.repo.lockWorktrees(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	_, err = w.run(ctx, call{files: []*os.File{held}, args: []string{
		"worktree", "add", "--no-checkout", "--detach", "--lock", "--reason", c.lockReason(), c.dir, head,
	}})
	if err != nil {
		return "", err
	}
	line, err := readRegular(filepath.Join(c.dir, ".git"), 64<<10)
	if err != nil {
		return "", err
	}
	admin := strings.TrimSpace(strings.TrimPrefix(string(line), "gitdir:"))
	if filepath.Dir(admin) != filepath.Join(c.repo.common, "worktrees") {
		return "", fmt.Errorf("git made the worktree's folder at %s, not in %s", admin, c.repo.common)
	}
	return filepath.Base(admin), nil
}

// fill writes the files of head into a checkout nobody has worked in.
func (c *checkout) fill(ctx context.Context, head string) error {
	select {
	case c.repo.filling <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.repo.filling }()
	if _, err := c.run(ctx, call{long: true, args: []string{"reset", "--hard", "--quiet", head, "--"}}); err != nil {
		return err
	}
	c.learnTree(head)
	return nil
}
