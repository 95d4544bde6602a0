package git

import (
	"errors"
	"os"
	"path/filepath"
)

// A scratch is a folder for one salvage, or for comparing files, in the
// checkout's admin folder, where nothing of it can be left for longer than the
// checkout: one that was killed is removed by the next of its name. It holds a git directory of its own for the
// repository, so that an index, or a report of a crash, lands in it.
type scratch struct{ dir, gitDir string }

func (c *checkout) newScratch(name string) (*scratch, error) {
	dir := filepath.Join(c.gitDir, name)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	s := &scratch{dir: dir, gitDir: filepath.Join(dir, "git")}
	if err := os.MkdirAll(s.gitDir, 0o755); err != nil {
		return nil, err
	}
	return s, errors.Join(
		os.WriteFile(filepath.Join(s.gitDir, "HEAD"), []byte("ref: refs/heads/agl-salvage\n"), 0o644),
		os.WriteFile(filepath.Join(s.gitDir, "commondir"), []byte(c.repo.common+"\n"), 0o644),
	)
}

func (s *scratch) remove() error { return os.RemoveAll(s.dir) }
