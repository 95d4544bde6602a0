package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// Held says what a checkout holds of spec's merge.
func (i integrator) Held(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
	r := i.repo
	op := "look for the merge of " + spec.Branch
	c, err := r.landing(ctx, op, ws, spec)
	if err != nil {
		return "", err
	}
	hold, err := c.held(ctx, spec.Head, spec.Theirs)
	if err != nil {
		return "", r.fault(op, err)
	}
	return hold, nil
}

func (c *checkout) held(ctx context.Context, head, theirs string) (ports.Hold, error) {
	if !isDir(c.gitDir) {
		return ports.HoldNone, nil
	}
	under := c.unfinished()
	if len(under) == 0 {
		return ports.HoldNone, nil
	}
	ours, err := c.holds(ctx, head, theirs)
	if err != nil || !ours {
		return ports.HoldOther, err
	}
	pristine, err := c.pristine(ctx, theirs)
	if err != nil || !pristine {
		return ports.HoldEdited, err
	}
	return ports.HoldPristine, nil
}

// holds reports whether the checkout is at head and in the middle of a merge of
// theirs, and of nothing else.
func (c *checkout) holds(ctx context.Context, head, theirs string) (bool, error) {
	if len(c.damage()) > 0 || !slices.Equal(c.unfinished(), []string{"merge"}) || c.mergeHead() != theirs {
		return false, nil
	}
	at, err := c.heads(ctx)
	return at.standsAt(head), err
}

// Rehold reports whether a checkout holds spec's merge, after it has been made
// to again where that was committed.
func (i integrator) Rehold(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (bool, error) {
	r := i.repo
	op := "hold the merge of " + spec.Branch
	c, err := r.landing(ctx, op, ws, spec)
	if err != nil {
		return false, err
	}
	if len(c.damage()) > 0 {
		return false, nil
	}
	if err := c.uncommit(ctx, spec); err != nil {
		return false, r.fault(op, err)
	}
	held, err := c.holds(ctx, spec.Head, spec.Theirs)
	return held, r.fault(op, err)
}

// uncommit makes a checkout hold spec's merge again in which it was committed:
// git commit is how people, and agents, end one.
func (c *checkout) uncommit(ctx context.Context, spec ports.MergeSpec) error {
	was, err := c.heads(ctx)
	under := c.unfinished()
	begun := slices.Equal(under, []string{"merge"}) && c.mergeHead() == spec.Theirs // by this, which was interrupted
	if err != nil || len(under) > 0 && !begun || was.symbolic || !was.attached || was.branch == "" || was.branch == spec.Head {
		return err
	}
	for _, id := range []string{spec.Head, spec.Theirs} {
		in, err := c.repo.descends(ctx, was.branch, id)
		if err != nil || !in {
			return unlessGone(c.repo.fault("", err))
		}
	}
	message, err := c.repo.Message(ctx, was.branch)
	if err != nil {
		return err
	}
	if _, err := c.salvageCommits(ctx, spec.Head, "the merge was committed while it was being resolved"); err != nil {
		return err
	}
	if err := c.hold(spec.Theirs, spec.Theirs, message+"\n"); err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(c.gitDir, "AUTO_MERGE")), c.restoreRefs(ctx, was, spec.Head))
}

var untouchedMessage = regexp.MustCompile(`^Merge branch '[^'\n]*' into [^\n]*\n(?:\n# Conflicts:\n(?:#\t[^\n]*\n)*)?$`)

// pristine reports whether a checkout that holds a merge is as Merge left it:
// index and files are what merging gives, and nothing else is there that is not
// ignored. It looks at bytes: what git calls changed because of line endings
// or a filter is not.
func (c *checkout) pristine(ctx context.Context, theirs string) (bool, error) {
	if !c.untouchedMessage() {
		return false, nil
	}
	x, err := c.readIndex(ctx)
	if badIndex(err) || err == nil && len(x.assumed)+len(x.skipped) > 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f, err := c.forecast(ctx, theirs)
	if err != nil {
		return false, unlessGone(err)
	}
	merged, err := c.repo.listTree(ctx, f.tree)
	if err != nil {
		return false, err
	}
	ix, err := c.listIndex(ctx)
	if err != nil || !f.indexed(merged, ix) {
		return false, err
	}
	st, err := c.status(ctx)
	if err != nil || len(st.untracked) > 0 {
		return false, err
	}
	var look []string // unmerged paths among them
	for _, p := range st.changed {
		if merged[p].mode == modeRepo && slices.Contains(x.unmerged, p) {
			continue // what a submodule is at was neither merged nor checked out
		}
		look = append(look, p)
	}
	same, err := c.asWritten(ctx, f.tree, merged, look)
	return len(same) == len(look), err
}

// untouchedMessage reports whether the message of the merge that the checkout
// holds is one that git writes by itself.
func (c *checkout) untouchedMessage() bool {
	text, err := readRegular(filepath.Join(c.gitDir, mergeMsgFile), 1<<20)
	return err == nil && untouchedMessage.Match(text)
}

// unlessGone is nil for an error that says that there is no such commit, or no
// merge of it: nothing is as it would be then.
func unlessGone(err error) error {
	switch ports.KindOf(err) {
	case ports.NotFound, ports.Invalid:
		return nil
	}
	return err
}

// indexed reports whether an index holds what merging leaves there.
func (f forecast) indexed(merged fileTree, ix *staging) bool {
	want := [4]fileTree{maps.Clone(merged), {}, {}, {}}
	for _, s := range f.stages {
		delete(want[0], s.path)
		want[s.stage][s.path] = s.entry
	}
	for stage, files := range want {
		if !maps.Equal(files, ix.stages[stage]) {
			return false
		}
	}
	return true
}

// phantoms returns those of the tracked paths whose files are, byte for byte,
// what git itself writes for what the index holds, although it calls them
// changed: their line endings or a filter do not give back what was committed.
func (c *checkout) phantoms(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	ix, err := c.listIndex(ctx)
	if err != nil {
		return nil, err
	}
	merged := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return ix.stages[0][p] == entry{} })
	return c.asWritten(ctx, "", ix.stages[0], merged)
}

// asWritten returns those of paths whose files are, byte for byte, what
// checking out a tree writes, or the index if tree is "": there is no file
// where there is none. entries are what it holds. No filter's program is run.
func (c *checkout) asWritten(ctx context.Context, tree string, entries fileTree, paths []string) (same []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	set, err := c.readSettings(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.newScratch("agl-landing")
	if err != nil {
		return nil, err
	}
	defer s.remove()
	written := filepath.Join(s.dir, "written")
	if err := os.MkdirAll(written, 0o755); err != nil {
		return nil, err
	}
	env := append(set.withoutFilters(), "GIT_INDEX_FILE="+c.indexFile())
	if tree != "" {
		env[len(env)-1] = "GIT_INDEX_FILE=" + filepath.Join(s.gitDir, "index")
		if _, err := c.shared(ctx, call{gitDir: s.gitDir, workTree: written, env: env, long: true, args: []string{"read-tree", tree}}); err != nil {
			return nil, err
		}
	}
	var ask strings.Builder
	for _, p := range paths {
		if e, ok := entries[p]; ok && e.mode != modeRepo {
			ask.WriteString(p + "\x00")
		}
	}
	if ask.Len() > 0 {
		_, err := c.shared(ctx, call{
			gitDir: s.gitDir, workTree: written, env: env, long: true, read: true,
			stdin: strings.NewReader(ask.String()), args: []string{"checkout-index", "-z", "--stdin"},
		})
		if err != nil {
			return nil, err
		}
	}
	here, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	there, err := os.OpenRoot(written)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	files := sameFiles{fileReader{here, c.repo.format}, fileReader{there, c.repo.format}, set}
	for _, p := range paths {
		if files.same(p, entries[p]) {
			same = append(same, p)
		}
	}
	return same, nil
}

// sameFiles compares the files of a checkout with those that git wrote.
type sameFiles struct {
	here, written fileReader
	set           fileSettings
}

// same reports whether the file at p is what git wrote for e, or missing where
// e is nothing.
func (f sameFiles) same(p string, e entry) bool {
	info, err := f.here.root.Lstat(p)
	if e == (entry{}) || err != nil {
		return e == (entry{}) && missing(err)
	}
	if e.mode == modeRepo {
		return info.IsDir()
	}
	link := info.Mode()&os.ModeSymlink != 0
	if !link && !info.Mode().IsRegular() || link != (e.mode == modeLink && !f.set.noLinks) {
		return false
	}
	buf := make([]byte, 32<<10)
	a, errA := f.here.identify(p, link, buf)
	b, errB := f.written.identify(p, link, buf)
	exec := f.set.noExec || link || a.mode == e.mode
	return errA == nil && errB == nil && a.id == b.id && exec
}

// salvageHold is salvage, where a merge that is as Merge left it is nothing to
// keep: it can be made again from its two commits, which are kept.
func (c *checkout) salvageHold(ctx context.Context, head, reason string) (*ports.Salvage, error) {
	if theirs := c.mergeHead(); theirs != "" {
		held, err := c.held(ctx, head, theirs)
		if err != nil {
			return nil, err
		}
		if held == ports.HoldPristine {
			return c.salvageCommits(ctx, head, reason)
		}
	}
	return c.salvage(ctx, head, reason)
}
