package git

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// contents are what is in a checkout that putting it back could destroy.
type contents struct {
	files   fileTree        // what a tree can hold
	nested  []string        // what none can: nested repositories, which are moved
	special []string        // pipes, sockets and devices: they hold no bytes
	stays   map[string]bool // submodules of head with a repository of their own: put back leaves those at head's commit
}

// A candidate is something in the checkout that no path of head or of the
// index names: kept if the rules of head do not ignore it, or in any case.
type candidate struct {
	path   string
	kind   fs.FileMode // its type bits
	nested bool
	forced bool // it is where head or the index has something: git overwrites it even if it is ignored
}

// A scanner walks a checkout by itself, because git lists neither what hides
// behind a rule the agent wrote, nor what lies in a folder with a .git.
type scanner struct {
	root *os.Root
	head fileTree
	// known are the files of head and of the index, and folders all that are
	// above one. What is there counts as tracked.
	known, folders map[string]bool
	found          *contents
	next           []candidate
}

// scan finds what is in the checkout: every file that head or the index knows,
// and every other that the ignore rules of head do not ignore.
func (c *checkout) scan(ctx context.Context, s *scratch, root *os.Root, head fileTree, ix *staging) (*contents, error) {
	w := &scanner{
		root: root, head: head, known: map[string]bool{}, folders: map[string]bool{"": true},
		found: &contents{files: fileTree{}, stays: map[string]bool{}},
	}
	for _, t := range append(ix.stages[:], head) {
		for p := range t {
			w.know(p)
		}
	}
	if err := w.walk(""); err != nil {
		return nil, err
	}
	rules := c.rulesOf(s, head)
	defer rules.close()
	for len(w.next) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		level := w.next
		w.next = nil
		ignored, err := rules.ignored(ctx, level)
		if err != nil {
			return nil, err
		}
		for i, cand := range level {
			if ignored[i] {
				continue
			}
			if err := w.take(cand); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(w.found.nested)
	slices.Sort(w.found.special)
	return w.found, rules.close()
}

func (w *scanner) know(file string) {
	w.known[file] = true
	for dir := folderOf(file); !w.folders[dir]; dir = folderOf(dir) {
		w.folders[dir] = true
	}
}

// walk looks at everything in a folder that is above a known file.
func (w *scanner) walk(dir string) error { return w.children(dir, false) }

func (w *scanner) children(dir string, forced bool) error {
	f, err := w.root.Open(cmp.Or(dir, "."))
	if err != nil {
		return cannotRead(dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return cannotRead(dir, err)
	}
	for _, e := range entries {
		if err := w.look(path.Join(dir, e.Name()), e.Type(), forced); err != nil {
			return err
		}
	}
	return nil
}

// look decides what the thing at p is to salvage.
func (w *scanner) look(p string, kind fs.FileMode, forced bool) error {
	name := path.Base(p)
	forced = forced || w.known[p] || w.folders[p]
	switch {
	case p == ".git":
		return nil // the checkout's own
	case dotGit(name), strings.EqualFold(name, ".gitmodules") && kind == fs.ModeSymlink && !w.known[p]:
		// git refuses a tree with either. A .git met here lies in a folder with
		// tracked files.
		w.next = append(w.next, candidate{path: p, kind: kind, nested: true, forced: true})
		return nil
	case kind != fs.ModeDir:
		if w.known[p] {
			w.file(p, kind)
			return nil
		}
	default:
		_, err := w.root.Lstat(p + "/.git")
		repo := err == nil
		switch {
		case repo && w.head[p].mode == modeRepo:
			w.found.stays[p] = true
			return nil
		case w.folders[p]:
			return w.walk(p)
		case repo:
			w.next = append(w.next, candidate{path: p, kind: kind, nested: true, forced: forced})
			return nil
		}
	}
	w.next = append(w.next, candidate{path: p, kind: kind, forced: forced})
	return nil
}

// take takes a candidate that is not ignored.
func (w *scanner) take(c candidate) error {
	switch {
	case c.nested:
		w.found.nested = append(w.found.nested, c.path)
		return nil
	case c.kind == fs.ModeDir:
		return w.children(c.path, c.forced)
	}
	w.file(c.path, c.kind)
	return nil
}

func (w *scanner) file(p string, kind fs.FileMode) {
	switch kind {
	case 0:
		w.found.files[p] = entry{mode: modeFile}
	case fs.ModeSymlink:
		w.found.files[p] = entry{mode: modeLink}
	default:
		w.found.special = append(w.found.special, p)
	}
}

// dotGit reports whether some file system takes name for .git: git refuses to
// fetch a tree with it. HFS+ ignores some characters; NTFS ignores dots and
// spaces at the end, ends a name at a colon, and has a second name for it.
func dotGit(name string) bool {
	visible := strings.Map(func(c rune) rune {
		switch {
		case c >= 0x200c && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x206a && c <= 0x206f, c == 0xfeff:
			return -1
		}
		return c
	}, name)
	if strings.EqualFold(visible, ".git") {
		return true
	}
	for part := range strings.SplitSeq(name, `\`) {
		part, _, _ = strings.Cut(part, ":")
		part = strings.TrimRight(part, ". ")
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return false
}

// folderOf is path.Dir with "" for the top.
func folderOf(p string) string {
	dir, _, ok := cutLast(p)
	if !ok {
		return ""
	}
	return dir
}

func cutLast(p string) (dir, name string, ok bool) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "", p, false
	}
	return p[:i], p[i+1:], true
}

func cannotRead(p string, err error) error {
	return fmt.Errorf("%q cannot be read, so it cannot be kept; make it readable or move it out of the checkout: %w", cmp.Or(p, "."), err)
}
