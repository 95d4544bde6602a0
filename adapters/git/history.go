package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/agl/ports"
)

// Default returns the branch the operator's checkout is on.
func (r *Repo) Default(ctx context.Context) (string, error) {
	const op = "find the branch of the checkout"
	var head ref
	if r.files {
		data, err := os.ReadFile(filepath.Join(r.gitDir, "HEAD"))
		if err != nil {
			return "", r.fault(op, err)
		}
		head = r.parseRef(string(data))
	} else {
		out, err := r.run(ctx, call{gitDir: r.gitDir, read: true, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
		var exit *exitError
		if err != nil && !(errors.As(err, &exit) && exit.Code == 1) {
			return "", r.fault(op, err)
		}
		head.target = strings.TrimSpace(string(out))
	}
	if branch, ok := strings.CutPrefix(head.target, "refs/heads/"); ok {
		return branch, nil
	}
	return "HEAD", nil
}

// Resolve returns the full id of the commit a revision names, as the operator
// would mean it.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	op := fmt.Sprintf("resolve %q", ports.Clip(rev, 100))
	if rev == "" || strings.ContainsRune(rev, 0) {
		return "", ports.Invalid.Errorf(op, "that is no revision")
	}
	id, err := r.commitOf(ctx, r.gitDir, rev)
	if err != nil {
		return "", r.fault(op, err)
	}
	if id == "" {
		return "", ports.NotFound.Errorf(op, "there is no such commit in %s", r.common)
	}
	return id, nil
}

// Contains reports whether ancestor is reachable from descendant.
func (r *Repo) Contains(ctx context.Context, ancestor, descendant string) (bool, error) {
	op := fmt.Sprintf("look for %s in the history of %s", ancestor, descendant)
	for _, commit := range []string{ancestor, descendant} {
		if !r.isOID(commit) {
			return false, ports.Invalid.Errorf(op, "%q is not a full commit id", commit)
		}
	}
	if ancestor == descendant { // merge-base does not look then
		if id, err := r.commitOf(ctx, r.common, ancestor); err != nil || id == "" {
			return false, cmp.Or(r.fault(op, err), ports.NotFound.Errorf(op, "there is no such commit in %s", r.common))
		}
		return true, nil
	}
	ok, err := r.descends(ctx, descendant, ancestor)
	return ok, r.fault(op, err)
}

// Tree returns the id of a commit's tree.
func (r *Repo) Tree(ctx context.Context, commit string) (string, error) {
	op := "read the tree of " + commit
	if !r.isOID(commit) {
		return "", ports.Invalid.Errorf(op, "that is not a full commit id")
	}
	out, err := r.run(ctx, call{read: true, args: []string{"rev-parse", "--verify", "--quiet", commit + "^{tree}"}})
	var exit *exitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return "", ports.NotFound.Errorf(op, "there is no such commit in %s", r.common)
	}
	if err != nil {
		return "", r.fault(op, err)
	}
	tree := strings.TrimSpace(string(out))
	r.found.commit(commit, tree)
	return tree, nil
}

// Message returns a commit's message, in UTF-8.
func (r *Repo) Message(ctx context.Context, commit string) (string, error) {
	op := "read the message of " + commit
	if !r.isOID(commit) {
		return "", ports.Invalid.Errorf(op, "that is not a full commit id")
	}
	out, err := r.run(ctx, call{read: true, args: []string{"log", "-1", "--format=%B", "--no-show-signature", "--no-color", "--no-notes", commit, "--"}})
	if err != nil {
		return "", r.fault(op, err)
	}
	return strings.TrimRight(string(out), " \t\r\n"), nil
}
