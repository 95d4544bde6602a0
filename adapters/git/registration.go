package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A note is what AGL keeps about a checkout beside it, where an agent in the
// checkout cannot write: which of the repository's admin folders is its own,
// and how far making it got. Without it a checkout could be redirected to
// another admin folder, and a half-made one could not be told from one that
// holds work.
type note struct {
	made, removing bool   // neither: it is being made, and nobody has worked in it
	done           bool   // made and not being removed
	id             string // of the admin folder
	exists         bool
}

func (c *checkout) notePath() string {
	return filepath.Join(filepath.Dir(c.dir), "."+c.namespace+".gitdir") // no namespace begins with a dot
}

func (c *checkout) readNote() (note, error) {
	data, err := readRegular(c.notePath(), 4096)
	if missing(err) {
		return note{}, nil
	}
	if err != nil {
		return note{}, err
	}
	word, id, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	n := note{exists: true, id: id, made: word == "made", removing: word == "removing"}
	if id != filepath.Base(id) && id != "" {
		return note{}, fmt.Errorf("%s names no admin folder: %q", c.notePath(), id)
	}
	n.done = n.made && id != ""
	return n, nil
}

func (c *checkout) writeNote(word, id string) error {
	return replaceFile(c.notePath(), strings.TrimSpace(word+" "+id)+"\n")
}

// adminDir is the folder in the repository that makes a directory a worktree.
func (r *Repo) adminDir(id string) string { return filepath.Join(r.common, "worktrees", id) }

// gitLine is what the .git file of a checkout holds.
func (c *checkout) gitLine() string { return "gitdir: " + c.gitDir + "\n" }

// registrations returns the ids of the repository's worktrees, by the
// directory each is for.
func (r *Repo) registrations() (map[string]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil && !missing(err) {
		return nil, err
	}
	ids := make(map[string]string, len(entries))
	for _, e := range entries {
		data, err := readRegular(filepath.Join(r.adminDir(e.Name()), "gitdir"), 64<<10)
		if err != nil {
			continue // half-made or damaged: git does not list it either
		}
		ids[filepath.Dir(strings.TrimSuffix(string(data), "\n"))] = e.Name()
	}
	return ids, nil
}

// lockReason is what AGL locks a worktree with while it makes it, so that a
// half-made one can be told to be its own.
func (c *checkout) lockReason() string { return "agl is making " + c.dir }

// foreignLock returns the reason with which somebody else locked the worktree
// of an admin folder.
func (c *checkout) foreignLock(admin string) (reason string, foreign bool) {
	data, err := readRegular(filepath.Join(admin, "locked"), 64<<10)
	if err != nil {
		return "", false
	}
	reason = strings.TrimSpace(string(data))
	// git itself writes "initializing" while an add is under way; in a folder
	// of AGL's, whose lock is held, that add has died.
	return reason, reason != c.lockReason() && reason != "initializing"
}

// unlock takes AGL's own lock off an admin folder.
func (c *checkout) unlock(admin string) error {
	if _, foreign := c.foreignLock(admin); foreign {
		return nil
	}
	if err := os.Remove(filepath.Join(admin, "locked")); err != nil && !missing(err) {
		return err
	}
	return nil
}

// damage says what is wrong with the files that tie the checkout to its admin
// folder, a line each. Git must not work in it until they are right: it could
// be led to stage, or to clean, somewhere else.
func (c *checkout) damage() []string {
	if !isDir(c.dir) {
		return []string{c.dir + " is not a directory any more"}
	}
	var lines []string
	if !isDir(c.gitDir) {
		lines = append(lines, c.gitDir+" was replaced or removed")
	}
	if link := c.linkedRefs(); link != "" {
		lines = append(lines, link+" is a link")
	}
	if line, err := readRegular(filepath.Join(c.dir, ".git"), 64<<10); err != nil || string(line) != c.gitLine() {
		lines = append(lines, "its .git is not the file that AGL made; it was replaced or removed")
	}
	for _, link := range c.links() {
		if got, err := readRegular(link.path, 64<<10); err != nil || string(got) != link.holds {
			lines = append(lines, link.path+" was replaced or removed")
		}
	}
	if !c.refUsable(filepath.Join(c.gitDir, "HEAD"), false) {
		lines = append(lines, filepath.Join(c.gitDir, "HEAD")+" was replaced or removed")
	}
	if file := c.looseRef(); !c.refUsable(file, true) {
		lines = append(lines, file+" holds no commit id")
	}
	return lines
}

// linkedRefs returns the first of AGL's own folders for refs that was replaced
// by a link: a ref would be written where it leads.
func (c *checkout) linkedRefs() string {
	for _, name := range []string{"refs/heads/agl", "refs/heads/agl/_work", "refs/heads/agl/_work/" + c.label, "refs/agl", "refs/agl/keep", "refs/agl/salvage"} {
		path := filepath.Join(c.repo.common, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return path
		}
	}
	return ""
}

// A link is a file of the admin folder that names another place.
type link struct{ path, holds string }

func (c *checkout) links() []link {
	return []link{
		{filepath.Join(c.gitDir, "commondir"), "../..\n"},
		{filepath.Join(c.gitDir, "gitdir"), filepath.Join(c.dir, ".git") + "\n"},
	}
}

// repair makes the checkout's directory, its .git and its admin folder what
// they were. What stands in their place is moved into the salvage folder, and
// told; a .git becomes a salvage of its own if head, the commit to compare
// with, is known.
func (c *checkout) repair(ctx context.Context, head string) (notes []string, err error) {
	aside := func(path, what string) error {
		if _, err := os.Lstat(path); missing(err) {
			return nil
		}
		to, err := c.repo.moveAside(path, c.label, c.namespace+"-"+what)
		if err != nil {
			return fmt.Errorf("move %s out of the way: %w", path, err)
		}
		notes = append(notes, fmt.Sprintf("%s was not AGL's own and was moved to %s", path, to))
		return nil
	}
	if !isDir(c.dir) {
		if err := aside(c.dir, "checkout"); err != nil {
			return notes, err
		}
		if err := os.MkdirAll(c.dir, 0o777); err != nil {
			return notes, err
		}
	}
	if !isDir(c.gitDir) {
		if err := aside(c.gitDir, "admin"); err != nil {
			return notes, err
		}
		if err := os.MkdirAll(c.gitDir, 0o777); err != nil {
			return notes, err
		}
		notes = append(notes, c.gitDir+" was removed and has been made again")
	}
	for _, link := range c.links() {
		if got, err := readRegular(link.path, 64<<10); err == nil && string(got) == link.holds {
			continue
		}
		if err := aside(link.path, filepath.Base(link.path)); err != nil {
			return notes, err
		}
		if err := replaceFile(link.path, link.holds); err != nil {
			return notes, err
		}
	}
	for link := c.linkedRefs(); link != ""; link = c.linkedRefs() {
		if err := aside(link, "refs"); err != nil {
			return notes, err
		}
	}
	if file := c.looseRef(); !c.refUsable(file, true) {
		if err := aside(file, "branch"); err != nil {
			return notes, err
		}
	}
	if file := filepath.Join(c.gitDir, "HEAD"); !c.refUsable(file, false) {
		if err := aside(file, "HEAD"); err != nil {
			return notes, err
		}
		if err := c.attach(ctx); err != nil {
			return notes, err
		}
	}
	path := filepath.Join(c.dir, ".git")
	if line, err := readRegular(path, 64<<10); err == nil && string(line) == c.gitLine() {
		return notes, nil
	}
	switch _, err := os.Lstat(path); {
	case err != nil:
		notes = append(notes, path+" was removed and has been made again")
	case head != "":
		kept, err := c.salvageForeign(ctx, head, "its .git was replaced")
		if err != nil {
			return notes, err
		}
		notes = append(notes, fmt.Sprintf("%s was not AGL's own; it is kept as salvage %d", path, kept.N))
	default:
		if err := aside(path, "git"); err != nil {
			return notes, err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return notes, err
	}
	_, err = f.WriteString(c.gitLine())
	return notes, errors.Join(err, f.Close())
}
