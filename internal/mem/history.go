package mem

import (
	"context"
	"strings"

	"example.com/agl/ports"
)

// Default returns "main".
func (r *Repository) Default(ctx context.Context) (string, error) { return trunk, ctx.Err() }

// Resolve returns the commit that "HEAD", a branch, another ref, or an id or
// the beginning of one names.
func (r *Repository) Resolve(ctx context.Context, rev string) (string, error) {
	const op = "resolve a revision"
	if err := r.enter(ctx); err != nil {
		return "", err
	}
	defer r.mu.Unlock()
	switch {
	case rev == "" || strings.ContainsRune(rev, 0):
		return "", ports.Invalid.Errorf(op, "%q is no revision", rev)
	case rev == "HEAD" || rev == "@":
		rev = trunk
	case strings.ContainsAny(rev, "~^:@"):
		return "", unsupported("%q is an expression", rev)
	}
	refs := r.refs()
	for _, name := range []string{rev, "refs/" + rev, "refs/heads/" + rev} {
		if at := refs[name]; at != "" {
			return at, nil
		}
	}
	var found []string
	if len(rev) >= 4 {
		for id := range r.commits {
			if strings.HasPrefix(id, rev) {
				found = append(found, id)
			}
		}
	}
	if len(found) != 1 {
		return "", ports.NotFound.Errorf(op, "%q names no commit, or several", rev)
	}
	return found[0], nil
}

// Contains reports whether ancestor is reachable from descendant.
func (r *Repository) Contains(ctx context.Context, ancestor, descendant string) (bool, error) {
	const op = "look for a commit in a history"
	if err := r.enter(ctx); err != nil {
		return false, err
	}
	defer r.mu.Unlock()
	for _, id := range []string{ancestor, descendant} {
		if _, err := r.find(op, id); err != nil {
			return false, err
		}
	}
	return r.reach(descendant)[ancestor], nil
}

// Tree returns the id of a commit's tree.
func (r *Repository) Tree(ctx context.Context, id string) (string, error) {
	if err := r.enter(ctx); err != nil {
		return "", err
	}
	defer r.mu.Unlock()
	c, err := r.find("read a commit's tree", id)
	if err != nil {
		return "", err
	}
	return c.tree.id(), nil
}

// Message returns a commit's message.
func (r *Repository) Message(ctx context.Context, id string) (string, error) {
	if err := r.enter(ctx); err != nil {
		return "", err
	}
	defer r.mu.Unlock()
	c, err := r.find("read a commit's message", id)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(c.message, " \t\r\n"), nil
}
