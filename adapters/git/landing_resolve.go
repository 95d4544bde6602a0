package git

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/agl/ports"
)

// Resolve takes what is in a checkout that holds spec's merge as its
// resolution.
func (i integrator) Resolve(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
	r := i.repo
	op := "take the resolution of the merge of " + spec.Branch
	c, err := r.landing(ctx, op, ws, spec)
	if err != nil {
		return ports.Merge{}, err
	}
	m, err := c.resolve(ctx, spec, were)
	if err != nil {
		return ports.Merge{}, r.fault(op, err)
	}
	return m, nil
}

func (c *checkout) resolve(ctx context.Context, spec ports.MergeSpec, were []ports.ConflictPath) (ports.Merge, error) {
	if damage := c.damage(); len(damage) > 0 {
		return ports.Merge{}, &ports.RejectedError{Reasons: damage}
	}
	if ours, err := c.holds(ctx, spec.Head, spec.Theirs); err != nil || !ours {
		return ports.Merge{}, orConflicted(err, "it does not hold the merge of "+spec.Theirs+" into "+spec.Head)
	}
	x, err := c.readIndex(ctx)
	if badIndex(err) {
		return ports.Merge{}, &ports.RejectedError{Reasons: []string{"its index cannot be read: " + reasonOf(err)}}
	}
	if err != nil {
		return ports.Merge{}, err
	}
	told, err := c.byPath(ctx, x, were)
	if err != nil {
		return ports.Merge{}, err
	}
	left, err := c.markersLeft(ctx, spec.Theirs, slices.Sorted(maps.Keys(told)))
	if err != nil {
		return ports.Merge{}, err
	}
	if err := c.untouched(ctx, spec.Theirs, x, told, left); err != nil {
		return ports.Merge{}, err
	}
	untold := slices.DeleteFunc(slices.Clone(x.unmerged), func(p string) bool { _, known := told[p]; return known })
	if err := c.leave(ctx, spec.Theirs, untold, left); err != nil {
		return ports.Merge{}, err
	}
	if x, err = c.stageResolution(ctx, x, told, left); err != nil {
		return ports.Merge{}, err
	}
	for _, p := range x.unmerged {
		if _, known := left[p]; !known {
			left[p] = ports.ConflictPath{Path: p, Kind: told[p].Kind, Note: "it is unmerged still; stage what it is to be"}
		}
	}
	made := ports.Merge{Message: c.heldMessage(spec)}
	if len(left) > 0 {
		for _, p := range slices.Sorted(maps.Keys(left)) {
			made.Conflicts = append(made.Conflicts, left[p])
		}
		return made, nil
	}
	made.Tree, err = c.durableTree(ctx, spec.Head)
	return made, err
}

// byPath returns conflicts by path. A path that is no text has come through JSON:
// it is any of those in the index that are the same as text.
func (c *checkout) byPath(ctx context.Context, x *index, conflicts []ports.ConflictPath) (map[string]ports.ConflictPath, error) {
	named, asText := map[string]ports.ConflictPath{}, map[string]ports.ConflictPath{}
	for _, w := range conflicts {
		named[w.Path] = w
		if strings.ContainsRune(w.Path, utf8.RuneError) {
			asText[w.Path] = w
		}
	}
	if len(asText) == 0 {
		return named, nil
	}
	paths, err := c.staged(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.AppendSeq(slices.Clone(x.unmerged), maps.Keys(paths)) {
		text := ports.AsText(p)
		if w, told := asText[text]; told {
			if w.Path = p; p != text && !paths[text] {
				delete(named, text)
			}
			named[p] = w
		}
	}
	return named, nil
}

// untouched adds to what is left the paths that nobody has decided about: they
// are unmerged still, and their files are what merging wrote, without markers
// that could say so. That is how binary files, and those that one side removed,
// are in conflict: to take them as they are would be to land one side unasked.
// Paths that git names in one conflict, as the names of a renamed file, are
// decided together.
func (c *checkout) untouched(ctx context.Context, theirs string, x *index, told, left map[string]ports.ConflictPath) error {
	var open []string
	for _, p := range x.unmerged {
		_, known := told[p]
		if _, marked := left[p]; known && !marked {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		return nil
	}
	f, err := c.forecast(ctx, theirs)
	if err != nil {
		return err
	}
	merged, err := c.repo.listTree(ctx, f.tree)
	if err != nil {
		return err
	}
	same, err := c.asWritten(ctx, f.tree, merged, open)
	if err != nil {
		return err
	}
	decided := f.together(slices.DeleteFunc(slices.Clone(open), func(p string) bool { return slices.Contains(same, p) }))
	for _, p := range same {
		if decided[p] {
			continue
		}
		note := "nobody has touched it: change it, remove it, or git add it as it is"
		if was := told[p].Note; was != "" {
			note = was + "; " + note
		}
		left[p] = ports.ConflictPath{Path: p, Kind: told[p].Kind, Note: note}
	}
	return nil
}

// together returns the paths given and those that are in one conflict with any
// of them.
func (f forecast) together(paths []string) map[string]bool {
	all := map[string]bool{}
	for _, p := range paths {
		all[p] = true
	}
	for _, t := range f.told {
		if strings.HasPrefix(t.kind, "CONFLICT ") && slices.ContainsFunc(t.paths, func(p string) bool { return all[p] }) {
			for _, p := range t.paths {
				all[p] = true
			}
		}
	}
	return all
}

// leave adds unmerged paths that are not being resolved to what is left.
func (c *checkout) leave(ctx context.Context, theirs string, untold []string, left map[string]ports.ConflictPath) error {
	if len(untold) == 0 {
		return nil
	}
	f, err := c.forecast(ctx, theirs)
	if err != nil {
		return err
	}
	for _, p := range untold { // unmerged by somebody's git, if merging does not say how
		left[p] = ports.ConflictPath{Path: p, Kind: ports.ConflictContent}
	}
	for _, met := range f.conflicts() {
		if _, ok := left[met.Path]; ok && slices.Contains(untold, met.Path) {
			left[met.Path] = met
		}
	}
	return nil
}

// stageResolution stages everything but what is left in conflict, and what
// only line endings or a filter make git call changed. It returns the index as
// it is then.
func (c *checkout) stageResolution(ctx context.Context, x *index, told, left map[string]ports.ConflictPath) (*index, error) {
	if err := c.showAll(ctx, x); err != nil {
		return nil, err
	}
	st, err := c.status(ctx)
	if err != nil {
		return nil, err
	}
	resolved := func(p string) bool { _, ok := told[p]; return ok || slices.Contains(x.unmerged, p) }
	phantoms, err := c.phantoms(ctx, slices.DeleteFunc(slices.Clone(st.changed), resolved))
	if err != nil {
		return nil, err
	}
	if _, err := c.stage(ctx, x, slices.AppendSeq(phantoms, maps.Keys(left))); err != nil {
		return nil, err
	}
	if x, err = c.readIndex(ctx); err != nil {
		return nil, err
	}
	// What was in conflict is part of the resolution even where it is ignored
	// and was taken out of the index.
	staged, err := c.staged(ctx)
	if err != nil {
		return nil, err
	}
	var missed []string
	for p := range told {
		info, err := os.Lstat(filepath.Join(c.dir, filepath.FromSlash(p)))
		if _, stays := left[p]; !stays && !staged[p] && err == nil && (info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSymlink) {
			missed = append(missed, p)
		}
	}
	if len(missed) == 0 {
		return x, nil
	}
	stdin := strings.NewReader(strings.Join(missed, "\x00") + "\x00")
	if _, err := c.run(ctx, call{durable: true, stdin: stdin, args: []string{"update-index", "-z", "--add", "--stdin"}}); err != nil {
		return nil, stageFailure(err)
	}
	return c.readIndex(ctx)
}

// staged returns the paths that the index holds.
func (c *checkout) staged(ctx context.Context) (map[string]bool, error) {
	paths := map[string]bool{}
	add := func(e indexEntry) { paths[string(e.path)] = true }
	data, err := readRegular(c.indexFile(), 4<<30)
	if err == nil && walkIndex(data, c.repo.hexLen()/2, add) == nil || missing(err) {
		return paths, nil
	}
	out, err := c.run(ctx, call{read: true, args: []string{"ls-files", "-v", "--stage", "-z"}})
	if err != nil {
		return nil, err
	}
	return paths, walkListing(out, add)
}

// durableTree writes the index as a tree whose objects survive a power cut,
// those of commit head apart, which do already. It refuses pointers to commits
// that only this checkout has.
func (c *checkout) durableTree(ctx context.Context, head string) (string, error) {
	out, err := c.run(ctx, call{durable: true, args: []string{"write-tree"}})
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(out))
	changes, err := c.compare(ctx, head, tree)
	if err != nil {
		return "", err
	}
	if err := c.refuseGitlinks(ctx, tree, changes); err != nil {
		return "", err
	}
	c.repo.found.tree(head, tree, len(changes) == 0)
	return tree, c.writeOutTree(tree, changes)
}
