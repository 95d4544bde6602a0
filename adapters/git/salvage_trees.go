package git

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// The modes of git's trees that salvage meets.
const (
	modeFile = "100644"
	modeExec = "100755"
	modeLink = "120000"
	modeRepo = "160000" // a commit of a submodule
)

// An entry is what a git tree holds at one path: a mode and an object's id.
type entry struct{ mode, id string }

// A fileTree is files by their path, with every folder's resolved.
type fileTree map[string]entry

// A staging is a checkout's index: a tree for each stage, of which 1 to 3 are
// the sides of an unfinished merge, and the paths that are marked as not being
// in the worktree.
type staging struct {
	stages [4]fileTree
	skip   map[string]bool
}

// shared runs git on the common directory, which no agent's file in the
// checkout can redirect, holding the run's lock.
func (c *checkout) shared(ctx context.Context, cl call) ([]byte, error) {
	cl.files = append(cl.files, c.files...)
	return c.repo.run(ctx, cl)
}

// listTree returns the files of a commit.
func (r *Repo) listTree(ctx context.Context, commit string) (fileTree, error) {
	out, err := r.run(ctx, call{read: true, long: true, args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}})
	if err != nil {
		return nil, err
	}
	files := make(fileTree, bytes.Count(out, []byte{0}))
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		meta, path, ok := strings.Cut(record, "\t")
		fields := strings.Fields(meta)
		switch {
		case record == "":
		case !ok || len(fields) != 3:
			return nil, fmt.Errorf("git ls-tree: cannot read %q", record)
		default:
			files[path] = entry{mode: fields[0], id: fields[2]}
		}
	}
	return files, nil
}

// listIndex returns what the checkout's index holds, as the agent left it.
func (c *checkout) listIndex(ctx context.Context) (*staging, error) {
	out, err := c.shared(ctx, call{
		read: true, env: []string{"GIT_INDEX_FILE=" + filepath.Join(c.gitDir, "index")},
		args: []string{"ls-files", "-s", "-t", "-z"},
	})
	if err != nil {
		return nil, err
	}
	ix := &staging{skip: map[string]bool{}}
	for i := range ix.stages {
		ix.stages[i] = fileTree{}
	}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if record == "" {
			continue
		}
		meta, path, ok := strings.Cut(record, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 4 || len(fields[3]) != 1 || fields[3][0] < '0' || fields[3][0] > '3' {
			return nil, fmt.Errorf("git ls-files: cannot read %q", record)
		}
		ix.stages[fields[3][0]-'0'][path] = entry{mode: fields[1], id: fields[2]}
		if fields[0] == "S" {
			ix.skip[path] = true
		}
	}
	return ix, nil
}
