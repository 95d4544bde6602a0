package agltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// Conflicts makes the next landing of a worktree meet a conflict on these
// paths, whatever is in them: each is a content conflict, with the whole file
// of both sides between conflict markers. Retry goes on when the resolver has
// taken the markers out, as with any conflict. Each further call is about the
// landing after that.
//
// A landing that a crash or a cancellation interrupted meets the same when it
// is made again. A conflict that no landing has met fails the test at its end.
func (h *Harness) Conflicts(child string, paths ...string) {
	h.t.Helper()
	if child == "" || len(paths) == 0 {
		h.t.Fatalf("agltest: Conflicts wants the name of a worktree, and paths")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conflicts = append(h.conflicts, &conflict{child: child, paths: slices.Clone(paths)})
}

// A conflict is one that a landing is to meet. It is guarded by the harness.
type conflict struct {
	child string
	paths []string

	life *life // the process that met it last; nil: none has
	verb ports.Verb
	spec ports.MergeSpec
	held string // the digest of the checkout's files, as it left them
}

// conflictFor returns the conflict that a landing is to meet, or nil.
func (h *Harness) conflictFor(l *life, verb ports.Verb, spec ports.MergeSpec) *conflict {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conflicts {
		switch {
		case spec.Branch != "agl/_work/"+h.Label+"/"+c.child:
		case c.life == nil, c.verb == verb && (c.life == l || c.life.interrupted(l) || c.life.cancelled()):
			return c
		}
	}
	return nil
}

// An integrator lands as another does, and meets scripted conflicts.
type integrator struct {
	ports.Integrator
	h    *Harness
	life *life
}

func (i integrator) Merge(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Merge, error) {
	verb, _ := ports.VerbOf(ctx)
	c := i.h.conflictFor(i.life, verb, spec)
	m, err := i.Integrator.Merge(ctx, ws, spec)
	if c == nil || err != nil || m.Blocked {
		return m, err
	}
	if m.Conflicts, err = i.meet(ctx, ws, spec, c, m.Conflicts); err != nil {
		return ports.Merge{}, err
	}
	m.Tree = ""
	held, err := digest(ws.Tree())
	if err != nil {
		return ports.Merge{}, err
	}
	i.h.mu.Lock()
	defer i.h.mu.Unlock()
	c.life, c.verb, c.spec, c.held = i.life, verb, spec, held
	return m, nil
}

// meet writes markers into the files of a conflict, and returns it beside
// those that there are.
func (i integrator) meet(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec, c *conflict, there []ports.ConflictPath) ([]ports.ConflictPath, error) {
	ours, theirs := i.h.repo.files(i.h.t, spec.Head), i.h.repo.files(i.h.t, spec.Theirs)
	for _, path := range c.paths {
		if slices.ContainsFunc(there, func(p ports.ConflictPath) bool { return p.Path == path }) {
			continue // by itself
		}
		our, inOurs := ours[path]
		their, inTheirs := theirs[path]
		if !inOurs && !inTheirs {
			i.h.t.Errorf("agltest: Conflicts(%q, %q): neither %s nor %s has that file", c.child, path, spec.Into, spec.Branch)
			return nil, ports.Invalid.Errorf("", "a scripted conflict is about %s, which neither side has", path)
		}
		text := "<<<<<<< HEAD\n" + lines(our) + "=======\n" + lines(their) + ">>>>>>> " + spec.Branch + "\n"
		if err := ws.WriteFile(ctx, path, []byte(text)); err != nil {
			return nil, fmt.Errorf("write a conflict into %s: %w", path, err)
		}
		there = append(there, ports.ConflictPath{Path: path, Kind: ports.ConflictContent})
	}
	slices.SortFunc(there, func(a, b ports.ConflictPath) int { return strings.Compare(a.Path, b.Path) })
	return there, nil
}

// lines returns text whose last line is ended.
func lines(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// Held takes what a scripted conflict wrote for the merge's own.
func (i integrator) Held(ctx context.Context, ws ports.Workspace, spec ports.MergeSpec) (ports.Hold, error) {
	held, err := i.Integrator.Held(ctx, ws, spec)
	if held != ports.HoldEdited || err != nil {
		return held, err
	}
	now, err := digest(ws.Tree())
	i.h.mu.Lock()
	defer i.h.mu.Unlock()
	if slices.ContainsFunc(i.h.conflicts, func(c *conflict) bool { return c.life != nil && c.spec == spec && c.held == now }) {
		held = ports.HoldPristine
	}
	return held, err
}

// digest returns what tells the files of a tree from others.
func digest(tree fs.FS) (string, error) {
	if tree == nil {
		return "", nil
	}
	all := sha256.New()
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		fmt.Fprintf(all, "%d %s %d\n", len(path), path, len(data))
		all.Write(data)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // there is nothing
	}
	return hex.EncodeToString(all.Sum(nil)), err
}
