package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/agl/ports"
)

// An integrator is the ports.Integrator of a repository.
type integrator struct{ repo *Repo }

// Integrator returns what lands commits in the repository's checkouts.
func (r *Repo) Integrator() ports.Integrator { return integrator{r} }

// checkoutOf returns the checkout behind a workspace, unless the call was
// cancelled before it began.
func (r *Repo) checkoutOf(ctx context.Context, op string, ws ports.Workspace) (*checkout, error) {
	c, ok := ws.(*checkout)
	if !ok || c.repo != r {
		return nil, ports.Invalid.Errorf(op, "the checkout, a %T, is not one that this repository opened", ws)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	return c, nil
}

// checkMerge refuses a spec that git could take for something else.
func (r *Repo) checkMerge(op string, spec ports.MergeSpec) error {
	for _, id := range []string{spec.Head, spec.Theirs} {
		if !r.isOID(id) {
			return ports.Invalid.Errorf(op, "%q is not a full commit id", id)
		}
	}
	for _, branch := range []string{spec.Branch, spec.Into} {
		if err := checkBranch(branch); err != nil {
			return ports.Invalid.Errorf(op, "%w", err)
		}
	}
	return nil
}

// landing is the checkout of a workspace, for a merge that spec describes.
func (r *Repo) landing(ctx context.Context, op string, ws ports.Workspace, spec ports.MergeSpec) (*checkout, error) {
	if err := r.checkMerge(op, spec); err != nil {
		return nil, err
	}
	return r.checkoutOf(ctx, op, ws)
}

// holding is the checkout of a workspace, which must hold a merge.
func (r *Repo) holding(ctx context.Context, op string, ws ports.Workspace) (*checkout, error) {
	c, err := r.checkoutOf(ctx, op, ws)
	if err != nil {
		return nil, err
	}
	if damage := c.damage(); len(damage) > 0 {
		return nil, ports.Conflicted.Errorf(op, "%s; put it back", strings.Join(damage, "; "))
	}
	if c.mergeHead() == "" {
		return nil, ports.Conflicted.Errorf(op, "the checkout holds no merge")
	}
	return c, nil
}

// mergeHead returns the commit that a held merge merges; "" if there is no
// merge, or one of several commits.
func (c *checkout) mergeHead() string {
	data, err := readRegular(filepath.Join(c.gitDir, "MERGE_HEAD"), 4096)
	if id := strings.TrimSpace(string(data)); err == nil && c.repo.isOID(id) {
		return id
	}
	return ""
}

// unmergeable says why no merge can begin in the checkout, or be found there:
// it is in the middle of something, or not at head. "" if one can.
func (c *checkout) unmergeable(ctx context.Context, head string) (string, error) {
	if damage := c.damage(); len(damage) > 0 {
		return strings.Join(damage, "; "), nil
	}
	if under := c.unfinished(); len(under) > 0 {
		return "a " + strings.Join(under, ", a ") + " is unfinished in it", nil
	}
	at, err := c.heads(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case at.symbolic || !at.attached:
		return "its HEAD is not on " + c.branch, nil
	case at.branch != head:
		if id, err := c.repo.commitOf(ctx, c.repo.common, head); err != nil || id == "" {
			return "", orNotFound(err, c.repo, head)
		}
		return fmt.Sprintf("it is at %s, not at %s", at.branch, head), nil
	}
	return "", nil
}

// orNotFound is err, or says that there is no such object.
func orNotFound(err error, r *Repo, id string) error {
	if err != nil {
		return err
	}
	return ports.NotFound.Errorf("", "there is no %s in %s", id, r.common)
}

// The files in which git keeps an unfinished merge. MERGE_HEAD is what says
// that there is one: it is written last and removed last.
const (
	mergeHeadFile = "MERGE_HEAD"
	mergeMsgFile  = "MERGE_MSG"
)

// hold makes the merge in the checkout one that git knows of.
func (c *checkout) hold(theirs, tree, message string) error {
	files := []struct{ name, holds string }{
		{"AUTO_MERGE", tree + "\n"}, {"MERGE_MODE", "no-ff"}, {mergeMsgFile, message}, {mergeHeadFile, theirs + "\n"},
	}
	if !c.repo.files { // it is a ref there, and only for a person to compare with
		files = files[1:]
	}
	for _, f := range files {
		if err := replaceFile(filepath.Join(c.gitDir, f.name), f.holds); err != nil {
			return err
		}
	}
	return nil
}

// release ends the merge that the checkout holds, and leaves files and index.
func (c *checkout) release() error {
	for _, name := range []string{"MERGE_MODE", "MERGE_RR", "AUTO_MERGE", mergeMsgFile, mergeHeadFile} {
		if err := os.Remove(filepath.Join(c.gitDir, name)); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// mergeMessage is what git writes for the merge of a branch.
func mergeMessage(branch, into string) string {
	return fmt.Sprintf("Merge branch '%s' into %s\n", branch, into)
}

// withConflicts is a merge's message as git leaves it for a person to edit.
func withConflicts(message string, conflicts []ports.ConflictPath) string {
	if len(conflicts) == 0 {
		return message
	}
	var b strings.Builder
	b.WriteString(message + "\n# Conflicts:\n")
	for _, c := range conflicts {
		fmt.Fprintf(&b, "#\t%s\n", ports.Printable(c.Path))
	}
	return b.String()
}

// heldMessage returns the message of the held merge, which a person may have
// edited, without comment lines.
func (c *checkout) heldMessage(spec ports.MergeSpec) string {
	data, err := readRegular(filepath.Join(c.gitDir, mergeMsgFile), 1<<20)
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	text := strings.TrimSpace(b.String())
	if err != nil || text == "" || strings.ContainsRune(text, 0) {
		return mergeMessage(spec.Branch, spec.Into)
	}
	return text + "\n"
}
