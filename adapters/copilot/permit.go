package copilot

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// decide answers what the agent asks permission for. Nobody is there to be asked,
// so that what a role may do is allowed, and all else is refused: what its
// restrictions deny, although it has no tool for it, files that are not of its
// checkout, and whatever AGL does not know. why is what the model is told; ""
// allows it.
func decide(p permission, task ports.Task) (name, why string) {
	denied := func(r ports.Restriction) bool { return slices.Contains(task.Restrictions, r) }
	switch p.Kind {
	case "read", "custom-tool":
		return p.Kind, ""
	case "shell":
		if len(task.Restrictions) == 0 {
			return p.Kind, ""
		}
		return p.Kind, "You run no commands."
	case "url":
		if !denied(ports.NoNetwork) {
			return p.Kind, ""
		}
		return p.Kind, "You reach no network."
	case "write":
		switch {
		case denied(ports.NoWrite):
			return "write", "You change no files."
		case !inside(p.files(), task.Dir):
			return "write outside of the checkout", "You write files in your working directory alone."
		case denied(ports.NoVCS) && ofVersionControl(p.files(), task.Dir):
			return "write to version control", "You leave version control alone."
		}
		return p.Kind, ""
	default:
		return cmp.Or(vendorprog.Word(p.Kind), "a permission"), "Nobody can approve this."
	}
}

// files returns the files that are to be written.
func (p permission) files() []string {
	files := []string{cmp.Or(p.Resolved, p.File)}
	for _, edit := range p.Edits {
		for _, side := range []string{edit.Before.Path, edit.After.Path} {
			if side != "" {
				files = append(files, side)
			}
		}
	}
	return files
}

// inside reports whether all files are in the checkout, or among those that
// programs keep for a while.
func inside(files []string, checkout string) bool {
	for _, file := range files {
		if file == "" {
			return false
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(checkout, file)
		}
		if !within(file, checkout) && !within(file, os.TempDir()) {
			return false
		}
	}
	return true
}

// ofVersionControl reports whether a file is git's own, whatever its letters are:
// on some systems they are all the same.
func ofVersionControl(files []string, checkout string) bool {
	for _, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(checkout, file)
		}
		rel, err := filepath.Rel(resolve(checkout), resolve(file))
		if err != nil {
			return true
		}
		for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
			if strings.EqualFold(name, ".git") {
				return true
			}
		}
	}
	return false
}

// within reports whether a file is in a folder, wherever links lead.
func within(file, dir string) bool {
	rel, err := filepath.Rel(resolve(dir), resolve(file))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolve follows the links in a path, of which the end may not be there yet.
func resolve(path string) string {
	path = filepath.Clean(path)
	for range maxLinks {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			return resolved
		}
		dir := filepath.Dir(path)
		if dir == path {
			return path
		}
		path = filepath.Join(resolve(dir), filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil { // it is not there, or no link
			return path
		}
		// What a link names need not be there either: it is made by who writes.
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = filepath.Clean(target)
	}
	return string(filepath.Separator) // links that lead to one another are in no folder
}

// maxLinks is how many links a path may lead over.
const maxLinks = 40
