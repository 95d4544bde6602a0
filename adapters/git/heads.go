package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// heads are where a checkout's HEAD and branch stand.
type heads struct {
	attached bool   // HEAD is symbolic, on the checkout's branch
	head     string // the commit HEAD is at; "" if it is at none
	branch   string // the commit the branch is at; "" if there is none
	symbolic bool   // the branch is a symbolic ref, which AGL never makes
}

// standsAt reports whether HEAD is on the branch, and the branch at a commit.
func (h heads) standsAt(commit string) bool { return h.attached && !h.symbolic && h.branch == commit }

// heads reads HEAD and the branch; it spawns nothing unless HEAD is not where
// it belongs.
func (c *checkout) heads(ctx context.Context) (heads, error) {
	at, err := c.repo.readRef(ctx, branchRef(c.branch))
	if err != nil {
		return heads{}, err
	}
	h := heads{branch: at.oid, symbolic: at.target != ""}
	if h.symbolic {
		if h.branch, err = c.repo.commitOf(ctx, c.repo.common, at.target); err != nil {
			return heads{}, err
		}
	}
	head, err := c.readHead(ctx)
	if err != nil {
		return heads{}, err
	}
	if head.target == branchRef(c.branch) {
		h.attached, h.head = true, h.branch
		return h, nil
	}
	h.head, err = c.repo.commitOf(ctx, c.gitDir, "HEAD")
	return h, err
}

// looseRef is the file the branch is in, if it is in one.
func (c *checkout) looseRef() string {
	return filepath.Join(c.repo.common, filepath.FromSlash(branchRef(c.branch)))
}

// refUsable reports whether a file holds what git accepts as a ref. One that
// may be absent may also be a folder: git removes an empty one.
func (c *checkout) refUsable(file string, absent bool) bool {
	if !c.repo.files {
		return absent || isRegular(file)
	}
	data, err := readRegular(file, 4096)
	if err != nil {
		return absent && (missing(err) || isDir(file))
	}
	return c.repo.parseRef(string(data)) != ref{}
}

// readHead reads what HEAD holds; nothing if git could not use it.
func (c *checkout) readHead(ctx context.Context) (ref, error) {
	if c.repo.files {
		data, err := readRegular(filepath.Join(c.gitDir, "HEAD"), 4096)
		if err != nil {
			return ref{}, nil
		}
		return c.repo.parseRef(string(data)), nil
	}
	out, err := c.run(ctx, call{read: true, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	var exit *exitError
	if errors.As(err, &exit) && exit.Code == 1 {
		oid, err := c.repo.commitOf(ctx, c.gitDir, "HEAD")
		return ref{oid: oid}, err
	}
	return ref{target: strings.TrimSpace(string(out))}, err
}

// attach makes HEAD symbolic, on the checkout's branch.
func (c *checkout) attach(ctx context.Context) error {
	if !c.repo.files {
		_, err := c.run(ctx, call{args: []string{"symbolic-ref", "HEAD", branchRef(c.branch)}})
		return err
	}
	return replaceFile(filepath.Join(c.gitDir, "HEAD"), "ref: "+branchRef(c.branch)+"\n")
}
