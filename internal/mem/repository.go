package mem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/agl/ports"
)

// ErrUnsupported is in the chain of every error by which the repository
// refuses what it cannot do as git does.
var ErrUnsupported = errors.New("the repository in memory cannot tell what git makes of that; use Options.Git")

// unsupported refuses something for want of a real git.
func unsupported(format string, args ...any) error {
	return ports.Invalid.Errorf("", "%s: %w", fmt.Sprintf(format, args...), ErrUnsupported)
}

// A snapshot is a tree: path → content. Contents are never changed, and a
// snapshot is not once it is in a commit.
type snapshot map[string][]byte

func (s snapshot) id() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(h, "%d %s %d\n", len(path), path, len(s[path]))
		h.Write(s[path])
	}
	return hex.EncodeToString(h.Sum(nil))[:40]
}

// has reports whether path is in the snapshot with this content.
func (s snapshot) has(path string, data []byte) bool {
	own, ok := s[path]
	return ok && bytes.Equal(own, data)
}

// equal reports whether two snapshots hold the same.
func (s snapshot) equal(t snapshot) bool { return maps.EqualFunc(s, t, bytes.Equal) }

// agrees reports whether two snapshots hold the same at paths.
func (s snapshot) agrees(t snapshot, paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		data, ok := s[path]
		_, has := t[path]
		return ok != has || ok && !t.has(path, data)
	})
}

// differing returns the paths at which two snapshots differ, sorted.
func (s snapshot) differing(t snapshot) []string {
	var paths []string
	for path, data := range s {
		if !t.has(path, data) {
			paths = append(paths, path)
		}
	}
	for path := range t {
		if _, ok := s[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// A commit is a snapshot with where it came from.
type commit struct {
	tree     snapshot
	parents  []string
	message  string
	identity string
	date     time.Time // to the second, as git keeps it
}

// A Repository is a model of a git repository: ports.Workspaces and
// ports.History, and its Integrator. Make one with NewRepository.
type Repository struct {
	mu       sync.Mutex
	commits  map[string]commit
	objects  map[string]snapshot  // by id: every tree that was made
	branches map[string]string    // short name → commit
	kept     map[string]string    // label/name → commit
	salvage  map[string][]salvage // by label
	numbered map[string]int       // by label: the last number a salvage was given
	trees    map[string]*Workspace
	now      func() time.Time
	unfit    error // what its first commit holds that cannot be told from git
}

// trunk is the branch that the operator's checkout is on.
const trunk = "main"

var (
	_ ports.Workspaces = (*Repository)(nil)
	_ ports.History    = (*Repository)(nil)
)

// NewRepository returns a repository whose branch "main" has one commit of
// files. Check says if they cannot be in one.
func NewRepository(clock ports.Clock, files map[string]string) *Repository {
	r := emptyRepository(clock)
	tree := snapshot{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := checkPath(path, tree, nil); err != nil {
			r.unfit = errors.Join(r.unfit, err)
		}
		tree[path] = []byte(files[path])
	}
	r.branches[trunk] = r.commit(commit{tree: tree, message: "begin", identity: operator, date: gitDate(clock.Now())})
	return r
}

// operator is who commits.
const operator = "AGL <agl@localhost>"

func emptyRepository(clock ports.Clock) *Repository {
	return &Repository{
		commits: map[string]commit{}, objects: map[string]snapshot{}, branches: map[string]string{}, kept: map[string]string{},
		salvage: map[string][]salvage{}, numbered: map[string]int{}, trees: map[string]*Workspace{}, now: clock.Now,
	}
}

// gitDate returns what git keeps of a time.
func gitDate(t time.Time) time.Time {
	_, offset := t.Zone()
	return time.Unix(t.Unix(), 0).In(time.FixedZone("", offset/60*60))
}

// enter locks the repository, unless ctx is over.
func (r *Repository) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	return nil
}

// commit stores a commit; the caller holds mu or is alone.
func (r *Repository) commit(c commit) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s %d %s\n%s", r.addTree(c.tree), strings.Join(c.parents, "\n"),
		c.identity, c.date.Unix(), c.date.Format("-0700"), c.message)
	id := hex.EncodeToString(h.Sum(nil))[:40]
	r.commits[id] = c
	return id
}

// addTree stores a tree, which is not changed any more, and returns its id.
// The caller holds mu or is alone.
func (r *Repository) addTree(tree snapshot) string {
	id := tree.id()
	r.objects[id] = tree
	return id
}

// findTree returns a tree by its full id; the caller holds mu.
func (r *Repository) findTree(op, id string) (snapshot, error) {
	if !fullID(id) {
		return nil, ports.Invalid.Errorf(op, "%q is not a full tree id", id)
	}
	tree, ok := r.objects[id]
	if !ok {
		return nil, ports.NotFound.Errorf(op, "there is no tree %s", id)
	}
	return tree, nil
}

// fullID reports whether id is of the form of an object's.
func fullID(id string) bool { return len(id) == 40 && strings.Trim(id, "0123456789abcdef") == "" }

// find returns a commit by its full id; the caller holds mu.
func (r *Repository) find(op, id string) (commit, error) {
	if !fullID(id) {
		return commit{}, ports.Invalid.Errorf(op, "%q is not a full commit id", id)
	}
	c, ok := r.commits[id]
	if !ok {
		return commit{}, ports.NotFound.Errorf(op, "there is no commit %s", id)
	}
	return c, nil
}

// reach returns every commit that is reachable from tips; the caller holds mu.
func (r *Repository) reach(tips ...string) map[string]bool {
	seen := map[string]bool{}
	tips = slices.Clone(tips) // they may be a commit's own parents
	for len(tips) > 0 {
		id := tips[len(tips)-1]
		tips = tips[:len(tips)-1]
		if _, ok := r.commits[id]; ok && !seen[id] {
			seen[id] = true
			tips = append(tips, r.commits[id].parents...)
		}
	}
	return seen
}

// Reachable reports whether a branch, a kept commit or a salvage leads to a
// commit.
func (r *Repository) Reachable(commit string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reach(slices.Collect(maps.Values(r.refs()))...)[commit]
}

// refs returns every ref by its full name; the caller holds mu.
func (r *Repository) refs() map[string]string {
	refs := map[string]string{}
	for branch, at := range r.branches {
		refs["refs/heads/"+branch] = at
	}
	for name, at := range r.kept {
		refs["refs/agl/keep/"+name] = at
	}
	for _, list := range r.salvage {
		for _, s := range list {
			refs[s.Ref] = s.Commit
		}
	}
	return refs
}

// Check says what in the first commit's files cannot be told from git.
func (r *Repository) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.unfit
}

// Files returns the files of a commit.
func (r *Repository) Files(commit string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	files := map[string]string{}
	for path, data := range r.commits[commit].tree {
		files[path] = string(data)
	}
	return files
}

// PowerCut loses what a power cut would: bytes in checkouts that no commit
// has. Each checkout's files become those of the commit it is at, and a merge
// that it held is gone: git does not make that durable.
func (r *Repository) PowerCut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.trees {
		tree := r.commits[r.branches[w.branch]].tree
		w.index, w.hold = tree, nil
		w.set(maps.Clone(tree))
	}
}

// A Commit is a commit as Commits tells it.
type Commit struct {
	ID       string
	Parents  []string
	Message  string
	Identity string
	Date     time.Time
	Paths    []string // what is different from its first parent, sorted
}

// Commits returns the commits that head reaches and base does not, parents
// before children. An empty base reaches none.
func (r *Repository) Commits(base, head string) ([]Commit, error) {
	const op = "list commits"
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range []string{base, head} {
		if _, err := r.find(op, id); id != "" && err != nil {
			return nil, err
		}
	}
	seen := r.reach(base)
	var list []Commit
	var walk func(id string)
	walk = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		c := r.commits[id]
		var before snapshot
		for _, p := range c.parents {
			walk(p)
		}
		if len(c.parents) > 0 {
			before = r.commits[c.parents[0]].tree
		}
		list = append(list, Commit{
			ID: id, Parents: slices.Clone(c.parents), Message: c.message, Identity: c.identity, Date: c.date,
			Paths: before.differing(c.tree),
		})
	}
	walk(head)
	return list, nil
}
