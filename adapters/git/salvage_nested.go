package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// foreignGit is the name under which a .git that replaced the checkout's own
// is kept. Under its own name, whoever looks at the salvage with git would run
// what it is configured to.
const foreignGit = "foreign.git"

// salvageForeign moves what is at the checkout's .git into a salvage of its
// own. It is for a .git that is not the one the checkout was made with.
func (c *checkout) salvageForeign(ctx context.Context, head, reason string) (*ports.Salvage, error) {
	return c.salvageWith(ctx, head, reason, func(s *salvager) []step {
		return []step{func(context.Context) error {
			s.found.nested, s.from = []string{foreignGit}, map[string]string{foreignGit: ".git"}
			return nil
		}}
	})
}

// moveNested moves the repositories in the checkout to the salvage's folder.
// If one cannot be moved, those that were are moved back.
func (s *salvager) moveNested(rec *salvageRecord) error {
	c := s.checkout
	place := func(p string) (from, to string) {
		return filepath.Join(c.dir, filepath.FromSlash(cmp.Or(s.from[p], p))), c.repo.nestedPath(c.label, rec.n, p)
	}
	move := func(p string) error {
		from, to := place(p)
		if err := relocate(from, to); err != nil {
			return fmt.Errorf("move %s to %s: %w", from, to, err)
		}
		return nil
	}
	repos := slices.DeleteFunc(slices.Clone(s.found.nested), func(p string) bool { return p == absorbedGits })
	for i, p := range repos {
		err := move(p)
		if err == nil {
			continue
		}
		for _, q := range slices.Backward(repos[:i]) {
			from, to := place(q)
			err = errors.Join(err, relocate(to, from))
		}
		return err
	}
	for _, p := range repos {
		from, to := place(p)
		if err := c.relink(from, to); err != nil {
			return fmt.Errorf("%s was moved to %s, but not all that belongs to it: %w", from, to, err)
		}
	}
	if len(repos) < len(s.found.nested) { // what the others did not take out of it
		return move(absorbedGits)
	}
	return nil
}

// relink keeps a moved repository whole whose .git is a file. A submodule's
// git directory lies in the checkout's admin folder and would go with it: it
// takes the file's place. A linked worktree of this repository is registered
// by its place: the registration gets the new one.
func (c *checkout) relink(from, to string) error {
	if filepath.Base(from) != ".git" {
		from, to = filepath.Join(from, ".git"), filepath.Join(to, ".git")
	}
	if info, err := os.Lstat(to); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := readRegular(to, 64<<10)
	if err != nil {
		return err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return nil
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(from), target)
	}
	if target, err = filepath.EvalSymlinks(target); err != nil {
		return nil // it led nowhere
	}
	admin, err := filepath.EvalSymlinks(c.gitDir)
	if err != nil {
		return err
	}
	if strings.HasPrefix(target, filepath.Join(admin, "modules")+string(filepath.Separator)) {
		return absorb(target, to)
	}
	registered := filepath.Join(target, "gitdir")
	if filepath.Dir(target) != filepath.Join(c.repo.common, "worktrees") {
		return nil
	}
	if text, err := readRegular(registered, 64<<10); err != nil || strings.TrimSpace(string(text)) != from {
		return nil
	}
	return replaceFile(registered, to+"\n")
}

// absorb puts a git directory in the place of the file that named it.
func absorb(gitDir, file string) error {
	if err := relocate(gitDir, file+".moved"); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	if err := os.Rename(file+".moved", file); err != nil {
		return err
	}
	return dropWorktreeSetting(filepath.Join(file, "config"))
}

// dropWorktreeSetting takes core.worktree, which git writes for a submodule on
// a line of its own, out of a configuration file: it would send git back to
// the checkout.
func dropWorktreeSetting(config string) error {
	text, err := os.ReadFile(config)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if name, _, _ := strings.Cut(line, "="); strings.EqualFold(strings.TrimSpace(name), "worktree") {
			continue
		}
		kept.WriteString(line)
	}
	return replaceFile(config, kept.String())
}
