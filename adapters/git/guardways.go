package git

import (
	"os"
	"path/filepath"
)

// What may stand on git's way to a file it writes for AGL.
const (
	linked = "is a link to " // the target follows
	waits  = "is neither a file nor a folder"
)

// guardWays takes note of the links and pipes among the files and folders that
// AGL's git writes to. Git follows most links: through one that an agent
// planted it would append to a log, replace an index or put objects somewhere
// else. At a pipe it waits until somebody ends it.
func (c *checkout) guardWays(g *guard) error {
	c.guardWay(g, c.gitDir, "index")
	c.guardWay(g, c.gitDir, "logs/HEAD")
	for _, ref := range []string{branchRef(c.branch), keepRef(c.label, ""), "refs/agl/salvage/" + c.label + "/" + c.namespace} {
		c.guardWay(g, c.repo.common, ref)
		c.guardWay(g, c.repo.common, "logs/"+ref)
	}
	c.guardWay(g, c.repo.common, "objects")
	objects := filepath.Join(c.repo.common, "objects")
	entries, err := os.ReadDir(objects)
	for _, e := range entries {
		if !e.IsDir() { // there are 256 folders, and the listing tells what they are
			c.guardWay(g, objects, e.Name())
		}
	}
	return err
}

// guardWay takes note of the links and pipes on the way from root to a file.
func (c *checkout) guardWay(g *guard, root, file string) {
	for path := filepath.Join(root, file); path != root; path = filepath.Dir(path) {
		info, err := os.Lstat(path)
		switch {
		case err != nil || info.IsDir() || info.Mode().IsRegular():
		case info.Mode()&os.ModeSymlink == 0:
			g.Files[path] = guarded{State: waits}
		default:
			if target, err := os.Readlink(path); err == nil {
				g.Files[path] = guarded{State: linked + target}
			}
		}
	}
}
