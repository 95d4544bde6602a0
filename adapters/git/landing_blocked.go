package git

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// An obstacles finder tells what is in a checkout where a merge would write,
// and is in no commit: git overwrites what is ignored without a word.
type obstacles struct {
	root    *os.Root
	fold    bool            // the file system has one file for names that differ in case
	was, is map[string]bool // the files that the changes are about: before and after
	found   map[string]ports.ConflictPath
	listed  map[string][]fs.DirEntry
}

// inTheWay returns what the changes to a clean checkout would overwrite, or
// what keeps them from being made, sorted by path: at most 100 paths.
func (c *checkout) inTheWay(changes []change) ([]ports.ConflictPath, error) {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	o := &obstacles{
		root: root, fold: c.repo.ignoreCase, was: map[string]bool{}, is: map[string]bool{},
		found: map[string]ports.ConflictPath{}, listed: map[string][]fs.DirEntry{},
	}
	modes := map[string]string{}
	for _, ch := range changes {
		o.was[ch.path] = o.was[ch.path] || isFileMode(ch.oldMode)
		if isFileMode(ch.newMode) {
			o.is[ch.path], modes[ch.path] = true, ch.newMode
		}
	}
	folded := map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(modes)) {
		if o.was[p] {
			continue
		}
		if other, ok := folded[strings.ToLower(p)]; ok && o.fold {
			o.add(p, "differs only in case from "+other)
		}
		folded[strings.ToLower(p)] = p
		if err := o.look(p, modes[p] == modeRepo); err != nil {
			return nil, err
		}
	}
	blocked := slices.SortedFunc(maps.Values(o.found), func(a, b ports.ConflictPath) int { return cmp.Compare(a.Path, b.Path) })
	return blocked[:min(len(blocked), listed)], nil
}

// isFileMode reports whether a mode in git's raw format is of a file, a link
// or a submodule.
func isFileMode(mode string) bool { return mode != "000000" && mode != "040000" }

func (o *obstacles) add(path, note string) {
	o.found[path] = ports.ConflictPath{Path: path, Kind: ports.ConflictOverwrite, Note: note}
}

// look finds what is where p is to be written.
func (o *obstacles) look(p string, folder bool) error {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		kind, name, err := o.at(p[:i])
		switch {
		case err != nil:
			return err
		case kind == nil || !kind.IsDir() && o.goes(name):
			return nil // nothing is there, or a file that the merge removes
		case !kind.IsDir():
			o.add(name, "where the folder of "+ports.Printable(p)+" goes")
			return nil
		}
	}
	there, name, err := o.at(p)
	switch {
	case err != nil || there == nil || o.goes(name) && !there.IsDir():
		return err
	case there.IsDir() && folder:
		return nil
	case there.IsDir():
		return o.below(p, p)
	case name != p:
		o.add(p, "differs only in case from "+ports.Printable(name))
	default:
		o.add(p, "")
	}
	return nil
}

// goes reports whether the merge removes a file.
func (o *obstacles) goes(p string) bool { return o.was[p] && !o.is[p] }

// below finds the files in a folder where p is to be written, but those that
// the merge removes.
func (o *obstacles) below(dir, p string) error {
	entries, err := o.list(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if err := o.below(name, p); err != nil {
				return err
			}
		case !o.goes(name):
			o.add(name, "where the file "+ports.Printable(p)+" goes")
		}
		if len(o.found) > listed {
			return nil
		}
	}
	return nil
}

// at returns what is at a path, nil if there is nothing, and how its name is
// spelled there.
func (o *obstacles) at(p string) (fs.FileInfo, string, error) {
	name := p
	if o.fold {
		entries, err := o.list(path.Dir(p))
		if err != nil {
			return nil, p, err
		}
		for _, e := range entries {
			if e.Name() == path.Base(p) {
				name = p
				break
			}
			if strings.EqualFold(e.Name(), path.Base(p)) {
				name = path.Join(path.Dir(p), e.Name())
			}
		}
	}
	info, err := o.root.Lstat(name)
	if missing(err) {
		return nil, name, nil
	}
	return info, name, err
}

func (o *obstacles) list(dir string) ([]fs.DirEntry, error) {
	if entries, ok := o.listed[dir]; ok {
		return entries, nil
	}
	f, err := o.root.Open(dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	o.listed[dir] = entries
	return entries, err
}
