package mem

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"example.com/agl/ports"
)

// An archive is a repository as bytes. Contents are kept once each.
type archive struct {
	Blobs     map[string][]byte           `json:"blobs"`
	Trees     map[string]archivedTree     `json:"trees"`
	Commits   map[string]archivedCommit   `json:"commits"`
	Branches  map[string]string           `json:"branches"`
	Kept      map[string]string           `json:"kept"`
	Salvage   map[string][]archivedRescue `json:"salvage"`
	Numbered  map[string]int              `json:"numbered"`
	Checkouts map[string]archivedCheckout `json:"checkouts"`
}

// An archivedTree is path → the digest of its content.
type archivedTree map[string]string

type archivedCommit struct {
	Tree     string    `json:"tree"`
	Parents  []string  `json:"parents"`
	Message  []byte    `json:"message"` // may be no UTF-8
	Identity []byte    `json:"identity"`
	Date     time.Time `json:"date"`
}

type archivedRescue struct {
	Salvage ports.Salvage   `json:"salvage"`
	Files   archivedTree    `json:"files"`
	Head    string          `json:"head"`
	Staged  [4]archivedTree `json:"staged"`
}

type archivedCheckout struct {
	Label     string        `json:"label"`
	Namespace string        `json:"namespace"`
	Branch    string        `json:"branch"`
	Index     archivedTree  `json:"index"`
	Files     archivedTree  `json:"files"`
	Log       []string      `json:"log"`
	Hold      *archivedHold `json:"hold"`
}

type archivedHold struct {
	Head      string               `json:"head"`
	Theirs    string               `json:"theirs"`
	Branch    string               `json:"branch"`
	Into      string               `json:"into"`
	Made      archivedTree         `json:"made"`
	Conflicts []ports.ConflictPath `json:"conflicts"`
	Unmerged  map[string]bool      `json:"unmerged"`
}

// Export returns the whole repository, checkouts and salvage included, for
// ImportRepository in another process.
func (r *Repository) Export() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unfit != nil {
		return nil, r.unfit
	}
	a := archive{
		Blobs: map[string][]byte{}, Trees: map[string]archivedTree{}, Commits: map[string]archivedCommit{}, Branches: r.branches, Kept: r.kept,
		Salvage: map[string][]archivedRescue{}, Numbered: r.numbered, Checkouts: map[string]archivedCheckout{},
	}
	for id, tree := range r.objects {
		a.Trees[id] = a.pack(tree)
	}
	for id, c := range r.commits {
		a.Commits[id] = archivedCommit{c.tree.id(), c.parents, []byte(c.message), []byte(c.identity), c.date}
	}
	for label, list := range r.salvage {
		for _, s := range list {
			kept := archivedRescue{Salvage: s.Salvage, Files: a.pack(s.files), Head: s.head}
			for stage, files := range s.staged {
				kept.Staged[stage] = a.pack(files)
			}
			a.Salvage[label] = append(a.Salvage[label], kept)
		}
	}
	for key, w := range r.trees {
		c := archivedCheckout{w.label, w.namespace, w.branch, a.pack(w.index), a.pack(w.files), w.log, nil}
		if h := w.hold; h != nil {
			c.Hold = &archivedHold{h.head, h.theirs, h.branch, h.into, a.pack(h.made), h.conflicts, h.unmerged}
		}
		a.Checkouts[key] = c
	}
	return json.Marshal(a)
}

// pack returns a snapshot's tree, and keeps its contents.
func (a archive) pack(s snapshot) archivedTree {
	if s == nil {
		return nil
	}
	t := make(archivedTree, len(s))
	for path, data := range s {
		digest := sha256.Sum256(data)
		t[path] = hex.EncodeToString(digest[:])
		a.Blobs[t[path]] = data
	}
	return t
}

// unpack returns the snapshot of a tree.
func (a archive) unpack(t archivedTree) (snapshot, error) {
	if t == nil {
		return nil, nil
	}
	s := make(snapshot, len(t))
	for path, digest := range t {
		data, ok := a.Blobs[digest]
		if !ok {
			return nil, fmt.Errorf("the content of %s is missing", path)
		}
		s[path] = data
	}
	return s, nil
}

// ImportRepository returns the repository that Export wrote.
func ImportRepository(clock ports.Clock, doc []byte) (*Repository, error) {
	const op = "import a repository"
	var a archive
	if err := json.Unmarshal(doc, &a); err != nil {
		return nil, ports.Unexpected.Errorf(op, "%w", err)
	}
	r := emptyRepository(clock)
	maps.Copy(r.branches, a.Branches)
	maps.Copy(r.kept, a.Kept)
	maps.Copy(r.numbered, a.Numbered)
	var failed error
	unpack := func(t archivedTree) snapshot {
		s, err := a.unpack(t)
		if err != nil {
			failed = err
		}
		return s
	}
	for id, tree := range a.Trees {
		r.objects[id] = unpack(tree)
	}
	for id, c := range a.Commits {
		tree, ok := r.objects[c.Tree]
		if !ok {
			return nil, ports.Unexpected.Errorf(op, "the tree of commit %s is missing", id)
		}
		r.commits[id] = commit{tree, c.Parents, string(c.Message), string(c.Identity), c.Date}
	}
	for label, list := range a.Salvage {
		for _, s := range list {
			kept := salvage{Salvage: s.Salvage, files: unpack(s.Files), head: s.Head}
			for stage, files := range s.Staged {
				kept.staged[stage] = unpack(files)
			}
			r.salvage[label] = append(r.salvage[label], kept)
		}
	}
	for key, c := range a.Checkouts {
		w := &Workspace{repo: r, label: c.Label, namespace: c.Namespace, branch: c.Branch, index: unpack(c.Index), log: c.Log}
		w.set(unpack(c.Files))
		if h := c.Hold; h != nil {
			w.hold = &hold{h.Head, h.Theirs, h.Branch, h.Into, unpack(h.Made), h.Conflicts, h.Unmerged}
		}
		r.trees[key] = w
	}
	if failed != nil {
		return nil, ports.Unexpected.Errorf(op, "%w", failed)
	}
	return r, nil
}
