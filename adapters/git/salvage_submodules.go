package git

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// absorbedGits is where the git directories of submodules that have no files in
// the checkout are kept, a path that nothing in a checkout can have: what was
// committed in them may be nowhere else.
const absorbedGits = ".git/modules"

// lookAtSubmodules decides which submodules of head are kept like any other
// repository in the checkout: where putting back leaves them, those at another
// commit than head says, because git would go on calling them changed, and the
// next step commit that. Where the checkout is removed, all of them.
func (s *salvager) lookAtSubmodules(ctx context.Context) error {
	for _, p := range slices.Sorted(maps.Keys(s.found.stays)) {
		if !s.removal {
			same, err := s.checkout.submoduleAt(ctx, p, s.headTree[p].id)
			if err != nil {
				return err
			}
			if same {
				continue
			}
		}
		delete(s.found.stays, p)
		s.found.nested = append(s.found.nested, p)
	}
	slices.Sort(s.found.nested)
	if !s.removal {
		return nil
	}
	left, err := s.checkout.absorbed()
	if err != nil {
		return err
	}
	for _, p := range s.found.nested {
		delete(left, s.checkout.gitDirOf(p))
	}
	if len(left) == 0 {
		return nil
	}
	from, err := filepath.Rel(s.checkout.dir, filepath.Join(s.checkout.gitDir, "modules"))
	if err != nil {
		return err
	}
	s.found.nested = append(s.found.nested, absorbedGits)
	s.from = map[string]string{absorbedGits: filepath.ToSlash(from)}
	return nil
}

// submoduleAt reports whether a submodule's HEAD is at a commit. One whose
// HEAD cannot be read is not.
func (c *checkout) submoduleAt(ctx context.Context, p, commit string) (bool, error) {
	dir := filepath.Join(c.dir, filepath.FromSlash(p))
	out, err := c.shared(ctx, call{
		gitDir: filepath.Join(dir, ".git"), workTree: dir, read: true,
		args: []string{"rev-parse", "--verify", "--quiet", "HEAD"}, // no object is looked for, so none is fetched
	})
	var exit *exitError
	if errors.As(err, &exit) {
		return false, nil
	}
	return strings.TrimSpace(string(out)) == commit, err
}

// gitDirOf returns the git directory that the .git file of a repository in the
// checkout names; "" if it is none.
func (c *checkout) gitDirOf(p string) string {
	dir := filepath.Join(c.dir, filepath.FromSlash(p))
	text, err := readRegular(filepath.Join(dir, ".git"), 64<<10)
	if err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	if target, err = filepath.EvalSymlinks(target); err != nil {
		return ""
	}
	return target
}

// absorbed returns the git directories of submodules in the checkout's admin
// folder.
func (c *checkout) absorbed() (map[string]bool, error) {
	admin, err := filepath.EvalSymlinks(c.gitDir)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(admin, "modules"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if _, err := os.Lstat(filepath.Join(p, "HEAD")); err != nil {
			return nil
		}
		found[p] = true
		return fs.SkipDir // those in it go with it
	})
	if missing(err) {
		return nil, nil
	}
	return found, err
}
