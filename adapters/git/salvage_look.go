package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// look finds what is in the checkout and reads all of it once.
func (s *salvager) look(ctx context.Context) (err error) {
	c := s.checkout
	if s.headTree, err = c.repo.listTree(ctx, s.head); err != nil {
		return err
	}
	if s.index, err = c.listIndex(ctx); err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	if s.found, err = c.scan(ctx, s.scratch, s.files.root, s.headTree, s.index); err != nil {
		return err
	}
	return s.files.identifyAll(ctx, s.found.files)
}

// compare tells which files differ from head's.
func (s *salvager) compare(ctx context.Context) error {
	set, err := s.checkout.readSettings(ctx)
	if err != nil {
		return err
	}
	files := s.found.files
	set.interpret(files, s.headTree)
	for p, e := range files {
		if s.headTree[p] != e {
			s.put = append(s.put, p)
		}
	}
	slices.Sort(s.put)
	converted, err := s.checkout.converted(ctx, s.scratch, s.files, set, s.head, s.headTree, files, s.put)
	if err != nil {
		return err
	}
	put := s.put[:0]
	for _, p := range s.put {
		same := converted[p]
		if !same {
			if same, err = s.inLFS(set, p); err != nil {
				return err
			}
		}
		if same {
			files[p] = s.headTree[p]
		} else {
			put = append(put, p)
		}
	}
	s.put = put
	for p, e := range s.headTree {
		if _, ok := files[p]; ok || e.mode == modeRepo {
			continue
		}
		if !s.index.skip[p] || s.index.stages[0][p] != e { // a sparse checkout left it out
			s.removed = append(s.removed, p)
		}
	}
	slices.Sort(s.removed)
	return nil
}

// lookAtIndex finds the stages of the index that hold what neither the files,
// nor head, nor the commit HEAD is at do.
func (s *salvager) lookAtIndex(ctx context.Context) error {
	if s.sides = s.stagesBeside(nil); len(s.sides) == 0 {
		return nil
	}
	rev, err := s.checkout.headRev(ctx)
	if err != nil {
		return err
	}
	if rev != "" {
		now, err := s.checkout.repo.listTree(ctx, rev)
		var exit *exitError
		if err != nil && !errors.As(err, &exit) {
			return err
		}
		s.sides = s.stagesBeside(now) // a HEAD without a commit has no tree
	}
	return s.dropMissing(ctx)
}

// stagesBeside returns the stages that hold something that is not empty, not
// in the files, not in head and not in now.
func (s *salvager) stagesBeside(now fileTree) []side {
	var sides []side
	empty := s.files.emptyBlob()
	for n, files := range s.index.stages {
		for p, e := range files {
			if e.id != empty && e != s.headTree[p] && e != s.found.files[p] && e != now[p] {
				sides = append(sides, side{name: fmt.Sprintf("index stage %d", n), files: files, stage: true})
				break
			}
		}
	}
	return sides
}

// dropMissing leaves out of the index what has no object: there is nothing to
// keep of it.
func (s *salvager) dropMissing(ctx context.Context) error {
	ids := s.stagedBlobs()
	if len(ids) == 0 {
		return nil
	}
	out, err := s.checkout.shared(ctx, call{
		read: true, stdin: strings.NewReader(strings.Join(ids, "\n") + "\n"),
		args: []string{"cat-file", "--batch-check=%(objecttype)"},
	})
	if err != nil {
		return err
	}
	types := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(types) != len(ids) {
		return fmt.Errorf("git cat-file answered %d of %d questions", len(types), len(ids))
	}
	gone := map[string]bool{}
	for i, kind := range types {
		gone[ids[i]] = kind != "blob"
	}
	for i := range s.sides {
		s.sides[i].files = maps.Clone(s.sides[i].files)
		maps.DeleteFunc(s.sides[i].files, func(_ string, e entry) bool { return gone[e.id] })
	}
	return nil
}

// stagedBlobs returns the blobs of the stages to be kept that head does not
// have, sorted.
func (s *salvager) stagedBlobs() []string {
	ids := map[string]bool{}
	for _, side := range s.sides {
		for p, e := range side.files {
			if side.stage && e != s.headTree[p] && e.mode != modeRepo {
				ids[e.id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// lookAtOperation finds what an unfinished operation left in the admin folder:
// patches still to be applied, a list somebody edited, the words of a message.
func (s *salvager) lookAtOperation(ctx context.Context) error {
	c := s.checkout
	root, err := os.OpenRoot(c.gitDir)
	if err != nil {
		return err
	}
	s.admin = fileReader{root: root, format: s.files.format}
	files := fileTree{}
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer", "MERGE_MSG", "SQUASH_MSG", "BISECT_LOG"} {
		err := filepath.WalkDir(filepath.Join(s.checkout.gitDir, name), func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || name == mergeMsgFile && c.untouchedMessage() {
				return err
			}
			rel, err := filepath.Rel(s.checkout.gitDir, p)
			files[filepath.ToSlash(rel)] = entry{mode: modeFile}
			return err
		})
		if err != nil && !missing(err) {
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	s.sides = append(s.sides, side{name: operationState, files: files})
	return s.admin.identifyAll(ctx, files)
}

func (s *salvager) lookAtCommits(ctx context.Context) (err error) {
	s.strays, err = s.checkout.strays(ctx, s.head)
	return err
}
