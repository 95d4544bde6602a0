package git

import (
	"path/filepath"
	"strings"
)

// A guard is compared after whatever happened since, and that may be that the
// repository was moved: files in it are named by the folder they are in.
const (
	inAdmin  = "admin:"  // the checkout's own folder in the repository
	inCommon = "common:" // the common git directory
)

// named returns g by names.
func (c *checkout) named(g *guard) *guard {
	files := make(map[string]guarded, len(g.Files))
	for path, state := range g.Files {
		files[c.nameOf(path)] = state
	}
	return &guard{Format: g.Format, Files: files}
}

func (c *checkout) nameOf(path string) string {
	for _, place := range []struct{ name, dir string }{{inAdmin, c.gitDir}, {inCommon, c.repo.common}} {
		if below(path, place.dir) {
			return place.name + filepath.ToSlash(path[len(place.dir)+1:])
		}
	}
	return path
}

// pathOf returns the path of a name, and whether it is in the repository.
func (c *checkout) pathOf(name string) (path string, inside bool) {
	if rel, ok := strings.CutPrefix(name, inAdmin); ok {
		return filepath.Join(c.gitDir, filepath.FromSlash(rel)), true
	}
	if rel, ok := strings.CutPrefix(name, inCommon); ok {
		return filepath.Join(c.repo.common, filepath.FromSlash(rel)), true
	}
	return name, false
}
