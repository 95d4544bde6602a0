package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/agl/ports"
)

// Commit records everything in the checkout. Ignored files are not part of it.
func (c *checkout) Commit(ctx context.Context, spec ports.CommitSpec) (ports.Commit, error) {
	op := "commit what is in " + c.dir
	who, err := c.repo.checkCommit(op, spec)
	if err != nil {
		return ports.Commit{}, err
	}
	commit, err := c.commit(ctx, spec, who)
	if err != nil {
		return ports.Commit{}, c.repo.fault(op, err)
	}
	return commit, nil
}

// checkCommit refuses a spec that git cannot make a commit of, and returns who
// makes it.
func (r *Repo) checkCommit(op string, spec ports.CommitSpec) (who signature, err error) {
	name, email, ok := splitIdentity(spec.Identity)
	switch {
	case !ok:
		return who, ports.Invalid.Errorf(op, "%q is no identity of the form Name <email>", spec.Identity)
	case !r.isOID(spec.Head):
		return who, ports.Invalid.Errorf(op, "%q is not a full commit id", spec.Head)
	case strings.ContainsRune(spec.Message, 0):
		return who, ports.Invalid.Errorf(op, "the message holds a NUL, which git cannot store")
	}
	return signature{name, email, spec.Date}, nil
}

func splitIdentity(identity string) (name, email string, ok bool) {
	name, rest, ok := strings.Cut(identity, " <")
	email, after, closed := strings.Cut(rest, ">")
	return name, email, ok && closed && after == "" && name != "" && !strings.ContainsAny(identity, "\n\x00")
}

// commit is Commit of a spec that was checked.
func (c *checkout) commit(ctx context.Context, spec ports.CommitSpec, who signature) (ports.Commit, error) {
	if damage := c.damage(); len(damage) > 0 {
		return ports.Commit{}, &ports.RejectedError{Reasons: damage}
	}
	x, err := c.committable(ctx)
	if err != nil {
		return ports.Commit{}, err
	}
	was, err := c.heads(ctx)
	if err != nil {
		return ports.Commit{}, err
	}
	own, err := c.ownTip(ctx, was, spec.Head)
	if err != nil {
		return ports.Commit{}, err
	}
	notes, err := c.stage(ctx, x, nil)
	if err != nil {
		return ports.Commit{}, err
	}
	out, err := c.run(ctx, call{durable: true, args: []string{"write-tree"}})
	if err != nil {
		return ports.Commit{}, err
	}
	tree := strings.TrimSpace(string(out))
	changed, err := c.compare(ctx, spec.Head, tree)
	if err != nil {
		return ports.Commit{}, err
	}
	if err := c.refuseGitlinks(ctx, tree, changed); err != nil {
		return ports.Commit{}, err
	}
	made := ports.Commit{ID: spec.Head, Tree: tree, Empty: len(changed) == 0}
	if !made.Empty {
		if made.ID, err = c.repo.commitTree(ctx, c.run, who, spec.Message, tree, own); err != nil {
			return ports.Commit{}, err
		}
		c.repo.found.commit(made.ID, tree)
		if err := c.sync(ctx, made, spec.Head, own, changed); err != nil {
			return ports.Commit{}, err
		}
		if err := c.worktrees().holdMade(ctx, c.namespace, made.ID); err != nil {
			return ports.Commit{}, err
		}
	}
	more, err := c.takeBack(ctx, was, own, spec.Head, made)
	made.Notes = append(notes, more...)
	return made, err
}

// committable refuses a checkout that is in the middle of something, and makes
// git look at every file. It returns the index as it is then.
func (c *checkout) committable(ctx context.Context) (*index, error) {
	var reasons []string
	for _, name := range c.unfinished() {
		reasons = append(reasons, "a "+name+" is unfinished")
	}
	x, err := c.readIndex(ctx)
	if badIndex(err) {
		return nil, &ports.RejectedError{Reasons: append(reasons, "its index cannot be read: "+reasonOf(err))}
	}
	if err != nil {
		return nil, err
	}
	if len(x.unmerged) > 0 {
		reasons = append(reasons, "unmerged: "+list(x.unmerged))
	}
	if len(reasons) > 0 {
		return nil, &ports.RejectedError{Reasons: reasons}
	}
	return x, c.showAll(ctx, x)
}

// list writes paths for a person: at most ten, each printable.
func list(paths []string) string {
	var b strings.Builder
	for i, p := range paths {
		if i == 10 {
			fmt.Fprintf(&b, " and %d more", len(paths)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(ports.Clip(ports.Printable(p), 200))
	}
	return b.String()
}

// ownTip returns the last commit the agent made on top of head, where its HEAD
// or the branch is; head if it made none there.
func (c *checkout) ownTip(ctx context.Context, was heads, head string) (string, error) {
	for _, tip := range []string{was.head, was.branch} {
		if tip == "" || tip == head || was.symbolic && tip == was.branch {
			continue
		}
		ok, err := c.repo.descends(ctx, tip, head)
		if noSuchObject(err) {
			if id, err := c.repo.commitOf(ctx, c.repo.common, head); err != nil || id == "" {
				return "", cmp.Or(err, ports.NotFound.Errorf("", "there is no commit %s in %s", head, c.repo.common))
			}
			return "", &ports.RejectedError{Reasons: []string{"its branch or HEAD is at " + tip + ", which is no commit"}}
		}
		if err != nil {
			return "", err
		}
		if ok {
			return tip, nil
		}
	}
	return head, nil
}

// descends reports whether ancestor is reachable from commit.
func (r *Repo) descends(ctx context.Context, commit, ancestor string) (bool, error) {
	if commit == ancestor {
		return true, nil
	}
	_, err := r.run(ctx, call{read: true, args: []string{"merge-base", "--is-ancestor", ancestor, commit}})
	var exit *exitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// A change is a path that differs between two trees, a folder included.
type change struct {
	path             string
	oldMode, newMode string // six octal digits
	id               string // of what is there now
}

// compare lists what differs between a commit and a tree.
func (c *checkout) compare(ctx context.Context, commit, tree string) ([]change, error) {
	out, err := c.run(ctx, call{read: true, args: []string{
		"diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--ignore-submodules=none", commit, tree, "--", // or a file called as the commit would be meant
	}})
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// parseRaw reads the raw format of diff-tree -z without renames.
func parseRaw(out []byte) ([]change, error) {
	var changes []change
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte{0})
		path, next, more := bytes.Cut(rest, []byte{0})
		fields := strings.Fields(string(head)) // ":100644 100644 <id> <id> M"
		if !ok || !more || len(fields) != 5 || !strings.HasPrefix(fields[0], ":") || len(path) == 0 {
			return nil, fmt.Errorf("git diff-tree wrote what cannot be read: %q", head[:min(len(head), 200)])
		}
		changes = append(changes, change{path: string(path), oldMode: fields[0][1:], newMode: fields[1], id: fields[3]})
		out = next
	}
	return changes, nil
}

// takeBack makes HEAD symbolic on the branch and the branch stand at head
// again, from where the caller moves it. Commits of the agent that are neither
// the parent nor below it are salvaged before.
func (c *checkout) takeBack(ctx context.Context, was heads, own, head string, made ports.Commit) (notes []string, err error) {
	if was.attached && was.branch == head && !was.symbolic {
		return nil, nil
	}
	if made.Empty {
		own = head
	}
	astray := false
	for _, tip := range []string{was.head, was.branch} {
		if tip == "" || tip == was.branch && was.symbolic {
			continue
		}
		ok, err := c.repo.descends(ctx, own, tip)
		if err != nil {
			return nil, err
		}
		astray = astray || !ok
	}
	if !was.attached {
		notes = append(notes, "the agent left HEAD elsewhere than on "+c.branch+"; it is back")
	}
	if astray {
		kept, err := c.salvageCommits(ctx, head, "the agent made commits that are not on top of "+head)
		if err != nil {
			return nil, fmt.Errorf("salvage the agent's own commits: %w", err)
		}
		if kept != nil {
			notes = append(notes, fmt.Sprintf("the agent's own commits do not stand on the last one of %s; they are kept as salvage %d", c.branch, kept.N))
		}
	}
	if own != head {
		notes = append(notes, "the agent made commits of its own; they are below this one")
	}
	return notes, c.restoreRefs(ctx, was, head)
}

// restoreRefs makes HEAD symbolic on the branch, and the branch stand at head.
func (c *checkout) restoreRefs(ctx context.Context, was heads, head string) error {
	if !was.attached {
		if err := c.attach(ctx); err != nil {
			return err
		}
	}
	if was.branch == head && !was.symbolic {
		return nil
	}
	return c.worktrees().setRef(ctx, branchRef(c.branch), was.branch, head)
}

// worktrees are those of the checkout's run.
func (c *checkout) worktrees() *worktrees {
	return &worktrees{repo: c.repo, label: c.label, locked: c.locked, files: c.files}
}
