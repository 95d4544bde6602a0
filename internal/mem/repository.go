package mem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/agl/ports"
)

// A snapshot is a tree: path → content. It is never changed once it is in a
// commit.
type snapshot map[string][]byte

func (s snapshot) id() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(h, "%d %s %d\n", len(path), path, len(s[path]))
		h.Write(s[path])
	}
	return hex.EncodeToString(h.Sum(nil))[:40]
}

// A commit is a snapshot with its parents and message.
type commit struct {
	tree    snapshot
	parents []string
	message string
}

// A Repository is a model of a git repository: ports.Workspaces and
// ports.History. Make one with NewRepository.
type Repository struct {
	mu       sync.Mutex
	commits  map[string]commit
	branches map[string]string // short name → commit
	kept     map[string]string // label/name → commit
	salvage  map[string][]kept // by label
	trees    map[string]*Workspace
	now      func() time.Time
}

type kept struct {
	ports.Salvage
	files snapshot
}

var (
	_ ports.Workspaces = (*Repository)(nil)
	_ ports.History    = (*Repository)(nil)
	_ ports.Worktrees  = (*worktrees)(nil)
)

// NewRepository returns a repository whose branch "main" has one commit of
// files.
func NewRepository(clock ports.Clock, files map[string]string) *Repository {
	r := &Repository{
		commits: map[string]commit{}, branches: map[string]string{}, kept: map[string]string{},
		salvage: map[string][]kept{}, trees: map[string]*Workspace{}, now: clock.Now,
	}
	tree := snapshot{}
	for path, text := range files {
		tree[path] = []byte(text)
	}
	r.branches["main"] = r.commit(commit{tree: tree, message: "begin"})
	return r
}

// commit stores a commit; the caller holds mu or is alone.
func (r *Repository) commit(c commit) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s", c.tree.id(), strings.Join(c.parents, "\n"), c.message)
	id := hex.EncodeToString(h.Sum(nil))[:40]
	r.commits[id] = c
	return id
}

// Check finds nothing wrong.
func (r *Repository) Check(context.Context) error { return nil }

// Branch returns the commit of a branch, or "".
func (r *Repository) Branch(_ context.Context, branch string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.branches[branch], nil
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

// Attach returns the worktrees of a run.
func (r *Repository) Attach(_ context.Context, label string, _ ports.Lock) (ports.Worktrees, error) {
	return &worktrees{repo: r, label: label}, nil
}

// Default returns "main".
func (r *Repository) Default(context.Context) (string, error) { return "main", nil }

// Resolve returns the commit that a branch or an id names.
func (r *Repository) Resolve(_ context.Context, rev string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.branches[rev]; at != "" {
		return at, nil
	}
	if _, ok := r.commits[rev]; ok {
		return rev, nil
	}
	return "", ports.NotFound.Errorf("", "%q names no commit", rev)
}

// Contains reports whether ancestor is reachable from descendant.
func (r *Repository) Contains(_ context.Context, ancestor, descendant string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range []string{ancestor, descendant} {
		if _, ok := r.commits[id]; !ok {
			return false, ports.NotFound.Errorf("", "there is no commit %s", id)
		}
	}
	todo, seen := []string{descendant}, map[string]bool{}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		if id == ancestor {
			return true, nil
		}
		if !seen[id] {
			seen[id] = true
			todo = append(todo, r.commits[id].parents...)
		}
	}
	return false, nil
}

// Tree returns the id of a commit's tree.
func (r *Repository) Tree(_ context.Context, id string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.commits[id]
	if !ok {
		return "", ports.NotFound.Errorf("", "there is no commit %s", id)
	}
	return c.tree.id(), nil
}

// Message returns a commit's message.
func (r *Repository) Message(_ context.Context, id string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.commits[id]
	if !ok {
		return "", ports.NotFound.Errorf("", "there is no commit %s", id)
	}
	return strings.TrimRight(c.message, " \t\r\n"), nil
}

// Salvaged lists what was salvaged in a run.
func (r *Repository) Salvaged(_ context.Context, label string) ([]ports.Salvage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []ports.Salvage{}
	for _, k := range r.salvage[label] {
		list = append(list, k.Salvage)
	}
	return list, nil
}

func (r *Repository) find(label string, n int) (int, error) {
	i := slices.IndexFunc(r.salvage[label], func(k kept) bool { return k.N == n })
	if i < 0 {
		return 0, ports.NotFound.Errorf("", "run %s has no salvage %d", label, n)
	}
	return i, nil
}

// WriteSalvage writes a salvage's files into dir.
func (r *Repository) WriteSalvage(_ context.Context, label string, n int, dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, err := r.find(label, n)
	if err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return ports.Conflicted.Errorf("", "%s is not empty", dir)
	}
	for path, data := range r.salvage[label][i].files {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return ports.Unavailable.Errorf("", "%w", err)
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return ports.Unavailable.Errorf("", "%w", err)
		}
	}
	return nil
}

// DropSalvage gives up a salvage.
func (r *Repository) DropSalvage(_ context.Context, label string, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, err := r.find(label, n)
	if err != nil {
		return err
	}
	r.salvage[label] = slices.Delete(r.salvage[label], i, i+1)
	return nil
}

// worktrees are one run's.
type worktrees struct {
	repo  *Repository
	label string
}

func (w *worktrees) Identity(context.Context) (string, error) { return "AGL <agl@localhost>", nil }

func (w *worktrees) Open(_ context.Context, place ports.Place, head string) (ports.Workspace, error) {
	r := w.repo
	r.mu.Lock()
	defer r.mu.Unlock()
	switch at := r.branches[place.Branch]; at {
	case head:
	case "":
		r.branches[place.Branch] = head
	default:
		return nil, ports.Conflicted.Errorf("", "branch %s is at %.12s, not at %.12s", place.Branch, at, head)
	}
	key := w.label + "/" + place.Namespace
	if r.trees[key] == nil {
		r.trees[key] = &Workspace{repo: r, label: w.label, namespace: place.Namespace, head: head, files: maps.Clone(r.commits[head].tree)}
	}
	return r.trees[key], nil
}

func (w *worktrees) Exists(_ context.Context, namespace string) (bool, error) {
	w.repo.mu.Lock()
	defer w.repo.mu.Unlock()
	return w.repo.trees[w.label+"/"+namespace] != nil, nil
}

func (w *worktrees) Move(_ context.Context, branch, old, new string) error {
	r := w.repo
	r.mu.Lock()
	defer r.mu.Unlock()
	switch at := r.branches[branch]; {
	case at == new:
		return nil
	case at != old:
		return ports.Conflicted.Errorf("", "branch %s is at %.12s, not at %.12s", branch, at, old)
	}
	if _, ok := r.commits[new]; !ok {
		return ports.Unexpected.Errorf("", "commit %s is not in the repository", new)
	}
	r.branches[branch] = new
	return nil
}

func (w *worktrees) Keep(_ context.Context, name, commit string) error {
	w.repo.mu.Lock()
	defer w.repo.mu.Unlock()
	w.repo.kept[w.label+"/"+name] = commit
	return nil
}

func (w *worktrees) Clear(_ context.Context, branches map[string]string) (ports.Cleared, error) {
	r := w.repo
	r.mu.Lock()
	defer r.mu.Unlock()
	cleared := ports.Cleared{Label: w.label}
	for _, branch := range slices.Sorted(maps.Keys(branches)) {
		if at := r.branches[branch]; at != branches[branch] && at != "" {
			return cleared, ports.Conflicted.Errorf("", "branch %s is at %.12s, not at %.12s", branch, at, branches[branch])
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(branches)) {
		if at := r.branches[branch]; at != "" {
			cleared.Branches = append(cleared.Branches, branch)
			cleared.Tips = append(cleared.Tips, ports.Tip{Branch: branch, Commit: at})
			delete(r.branches, branch)
		}
	}
	prefix := w.label + "/"
	for key := range r.trees {
		if strings.HasPrefix(key, prefix) {
			cleared.Worktrees = append(cleared.Worktrees, key)
			delete(r.trees, key)
		}
	}
	maps.DeleteFunc(r.kept, func(key, _ string) bool { return strings.HasPrefix(key, prefix) })
	for _, k := range r.salvage[w.label] {
		cleared.Salvage = append(cleared.Salvage, k.Salvage)
	}
	return cleared, nil
}

func equal(a, b snapshot) bool { return maps.EqualFunc(a, b, bytes.Equal) }
