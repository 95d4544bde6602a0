package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// strays are commits that a checkout alone leads to: no ref that stays does.
type strays struct {
	tips     []string // those from which all the others are reached
	boundary []string // what their oldest ones stand on
}

// strays finds the commits that the checkout's HEAD, its branch, an unfinished
// operation or its reflog name and that only they make reachable. They are
// lost when HEAD and the branch are moved, or when the checkout is removed
// with its reflog.
func (c *checkout) strays(ctx context.Context, head string) (strays, error) {
	revs, err := c.namedCommits(ctx)
	if err != nil {
		return strays{}, err
	}
	revs = slices.DeleteFunc(revs, func(rev string) bool { return rev == head })
	if len(revs) == 0 {
		return strays{}, nil
	}
	cl := call{
		read: true, long: true, stdin: strings.NewReader(strings.Join(revs, "\n") + "\n^" + head + "\n"),
		args: []string{
			"rev-list", "--parents", "--ignore-missing", "--stdin", "--not",
			"--exclude=" + branchRef(c.branch), "--exclude=refs/bisect/*", "--exclude=refs/worktree/*", "--exclude=refs/rewritten/*",
			"--glob=refs/*",
		},
	}
	if !c.repo.files {
		cl.gitDir = c.gitDir // HEAD and its like are not files: only there git finds them by name
	}
	out, err := c.shared(ctx, cl)
	if err != nil {
		return strays{}, err
	}
	return readParents(string(out)), nil
}

// readParents reads lines of a commit and its parents.
func readParents(list string) strays {
	var s strays
	listed, parents := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		listed[fields[0]] = true
		for _, p := range fields[1:] {
			parents[p] = true
		}
	}
	for commit := range listed {
		if !parents[commit] {
			s.tips = append(s.tips, commit)
		}
	}
	for p := range parents {
		if !listed[p] {
			s.boundary = append(s.boundary, p)
		}
	}
	slices.Sort(s.tips)
	slices.Sort(s.boundary)
	return s
}

// namedCommits returns every name or object id the checkout's admin folder
// holds that may be of a commit. What is none is sorted out by git.
func (c *checkout) namedCommits(ctx context.Context) ([]string, error) {
	ids := map[string]bool{branchRef(c.branch): true}
	rev, err := c.headRev(ctx)
	if err != nil {
		return nil, err
	}
	ids[rev] = true
	if !c.repo.files {
		for _, name := range []string{"HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"} {
			ids[name] = true
		}
	}
	err = filepath.WalkDir(c.gitDir, func(p string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(c.gitDir, p)
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case d.IsDir():
			if mayNameCommits(rel) {
				return nil
			}
			return fs.SkipDir
		case !d.Type().IsRegular(), !strings.ContainsRune(rel, filepath.Separator) && !isHeadFile(rel):
			return nil
		}
		return c.repo.addIDs(p, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("look for commits no branch has: %w", err)
	}
	revs := make([]string, 0, len(ids))
	for id := range ids {
		if strings.Trim(id, "0") != "" {
			revs = append(revs, id)
		}
	}
	slices.Sort(revs)
	return revs, nil
}

// headRev returns what the checkout's HEAD names: a ref or an object id, or ""
// if it is neither.
func (c *checkout) headRev(ctx context.Context) (string, error) {
	at, err := c.readHead(ctx)
	if err != nil || at.oid != "" || !strings.HasPrefix(at.target, "refs/") || strings.ContainsAny(at.target, " \t\r\n^~:") {
		return at.oid, err
	}
	return at.target, nil
}

// mayNameCommits says which folders of an admin folder hold the state of
// operations, the refs of one worktree, and its reflogs.
func mayNameCommits(rel string) bool {
	top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	switch top {
	case ".", "rebase-merge", "rebase-apply", "sequencer", "refs", "logs":
		return true
	}
	return false
}

// isHeadFile says which files of an admin folder name commits: HEAD,
// ORIG_HEAD, MERGE_AUTOSTASH and their like, but not what was only fetched.
func isHeadFile(name string) bool {
	return name != "FETCH_HEAD" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// addIDs adds every word of a file that is an object id.
func (r *Repo) addIDs(path string, ids map[string]bool) error {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	word := make([]byte, 0, 65)
	for {
		b, err := in.ReadByte()
		if err != nil || b <= ' ' {
			if r.isOID(string(word)) {
				ids[string(word)] = true
			}
			word = word[:0]
		} else if len(word) < cap(word) {
			word = append(word, b)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// harden writes into a pack, synced to the disk, what git did not sync when
// the agent made it: the stray commits and the blobs only the index has.
func (c *checkout) harden(ctx context.Context, s strays, blobs []string) error {
	if len(s.tips)+len(blobs) == 0 {
		return nil
	}
	lines := append(slices.Clone(s.tips), blobs...)
	if len(s.boundary) > 0 {
		lines = append(append(lines, "--not"), s.boundary...)
	}
	_, err := c.shared(ctx, call{
		durable: true, long: true, stdin: strings.NewReader(strings.Join(lines, "\n") + "\n"),
		args: []string{
			"pack-objects", "--quiet", "--revs", "--non-empty", "--window=0", "--delta-base-offset",
			filepath.Join(c.repo.common, "objects", "pack", "pack"),
		},
	})
	return err
}
