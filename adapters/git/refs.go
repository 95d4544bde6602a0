package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/agl/ports"
)

// A ref is where a reference points.
type ref struct {
	oid    string // "" if there is no such ref, or if it is symbolic
	target string // the full name a symbolic ref points at
}

func branchRef(branch string) string { return "refs/heads/" + branch }

// zeroID is how update-ref spells a ref that must not exist.
func (r *Repo) zeroID() string { return strings.Repeat("0", r.hexLen()) }

func (r *Repo) hexLen() int {
	if r.format == "sha256" {
		return 64
	}
	return 40
}

func (r *Repo) isOID(s string) bool {
	return len(s) == r.hexLen() && strings.Trim(s, "0123456789abcdef") == ""
}

// readRef reads a ref by its full name. Where refs are files it spawns
// nothing.
func (r *Repo) readRef(ctx context.Context, name string) (ref, error) {
	if !r.files {
		return r.askRef(ctx, name)
	}
	loose := filepath.Join(r.common, filepath.FromSlash(name))
	data, err := readRegular(loose, 4096)
	switch {
	case err == nil:
		return r.parseRef(string(data)), nil
	case !missing(err) && !isDir(loose):
		return ref{}, err
	}
	// git packs a ref before it removes the loose file, so this order misses nothing.
	packed, err := r.packedRefs()
	if err != nil {
		return ref{}, err
	}
	if end := bytes.Index(packed, []byte(" "+name+"\n")); end >= r.hexLen() {
		if oid := string(packed[end-r.hexLen() : end]); r.isOID(oid) {
			return ref{oid: oid}, nil
		}
	}
	return ref{}, nil
}

func (r *Repo) packedRefs() ([]byte, error) {
	data, err := readRegular(filepath.Join(r.common, "packed-refs"), 1<<30)
	if missing(err) {
		return nil, nil
	}
	return data, err
}

// askRef is readRef where only git can read refs.
func (r *Repo) askRef(ctx context.Context, name string) (ref, error) {
	out, err := r.run(ctx, call{read: true, args: []string{"for-each-ref", "--format=%(objectname) %(symref)", "--", name}})
	if err != nil {
		return ref{}, err
	}
	oid, target, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if target != "" {
		oid = ""
	}
	return ref{oid: oid, target: target}, nil
}

// parseRef reads what a loose ref or HEAD holds.
func (r *Repo) parseRef(data string) ref {
	text := strings.TrimSpace(data)
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		if target = strings.TrimSpace(target); validRef(target) {
			return ref{target: target}
		}
		return ref{}
	}
	if r.isOID(text) {
		return ref{oid: text}
	}
	return ref{}
}

var branchName = regexp.MustCompile(`^agl/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)

// checkBranch refuses what cannot be a branch of AGL's.
func checkBranch(branch string) error {
	if !branchName.MatchString(branch) {
		return fmt.Errorf("%q is not a branch of AGL's: letters, digits, '.', '_' and '-' below agl/", branch)
	}
	for part := range strings.SplitSeq(branch, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.HasPrefix(part, "-") ||
			strings.Contains(part, "..") || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("%q is not a branch git accepts", branch)
		}
	}
	return nil
}

// validRef reports whether git accepts a full ref name.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return strings.IndexFunc(name, func(r rune) bool { return r < ' ' }) < 0
}

// Branch returns the commit a branch is at. A branch that cannot be made,
// because another one stands where its folder would be or below it, is
// Conflicted.
func (r *Repo) Branch(ctx context.Context, branch string) (string, error) {
	op := "look for branch " + branch
	if err := checkBranch(branch); err != nil {
		return "", ports.Invalid.Errorf(op, "%w", err)
	}
	at, err := r.branchAt(ctx, branch)
	if err != nil {
		return "", r.fault(op, err)
	}
	if at != "" {
		return at, nil
	}
	clash, err := r.clash(ctx, branch)
	if err != nil {
		return "", r.fault(op, err)
	}
	if clash != "" {
		return "", ports.Conflicted.Errorf(op, "branch %s exists, so git cannot make %s; rename it (git branch -m), or choose another label", clash, branch)
	}
	return "", nil
}

// branchAt returns the commit a branch is at; "" if there is none. A symbolic
// branch is followed.
func (r *Repo) branchAt(ctx context.Context, branch string) (string, error) {
	at, err := r.readRef(ctx, branchRef(branch))
	if err != nil || at.target == "" {
		return at.oid, err
	}
	return r.commitOf(ctx, r.common, at.target)
}

// commitOf returns the id of the commit that a name stands for in gitDir, or
// "" if it stands for none.
func (r *Repo) commitOf(ctx context.Context, gitDir, name string) (string, error) {
	out, err := r.run(ctx, call{
		gitDir: gitDir, read: true,
		args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"},
	})
	var exit *exitError
	if errors.As(err, &exit) && exit.Code > 0 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// clash returns the short name of a branch that keeps branch from being made.
func (r *Repo) clash(ctx context.Context, branch string) (string, error) {
	out := []byte(nil)
	if r.files { // most repositories have neither a branch "agl" nor one below this one
		packed, err := r.packedRefs()
		if err != nil {
			return "", err
		}
		out = packed
	}
	for i := range len(branch) {
		if branch[i] != '/' {
			continue
		}
		if at, err := r.readRef(ctx, branchRef(branch[:i])); err != nil || at != (ref{}) {
			return branch[:i], err
		}
	}
	below := branchRef(branch) + "/"
	if !r.files {
		var err error
		out, err = r.run(ctx, call{read: true, args: []string{"for-each-ref", "--format= %(refname)", "--", below}})
		if err != nil {
			return "", err
		}
	}
	if _, rest, ok := bytes.Cut(out, []byte(" "+below)); ok {
		name, _, _ := bytes.Cut(rest, []byte("\n"))
		return branch + "/" + string(name), nil
	}
	if !r.files {
		return "", nil
	}
	found := ""
	root := filepath.Join(r.common, filepath.FromSlash(branchRef(branch)))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".lock") {
			rel, _ := filepath.Rel(root, path)
			found = branch + "/" + filepath.ToSlash(rel)
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// setRef moves a ref by its full name from old ("" for a ref that must not
// exist) to new, durably. It never follows a symbolic ref: an agent may have
// made one that points at a branch that is not AGL's.
func (w *worktrees) setRef(ctx context.Context, name, old, new string) error {
	if old == "" {
		old = w.repo.zeroID()
	}
	_, err := w.run(ctx, call{durable: true, args: []string{"update-ref", "--no-deref", name, new, old}})
	return err
}

// Move moves a branch from commit old to commit new.
func (w *worktrees) Move(ctx context.Context, branch, old, new string) error {
	op := "move branch " + branch
	if err := checkBranch(branch); err != nil {
		return ports.Invalid.Errorf(op, "%w", err)
	}
	for _, id := range []string{cmp.Or(old, new), new} {
		if !w.repo.isOID(id) { // git would take a name, and what it stands for may change
			return ports.Invalid.Errorf(op, "%q is not a full commit id", id)
		}
	}
	at, err := w.repo.branchAt(ctx, branch)
	switch {
	case err != nil:
		return w.repo.fault(op, err)
	case at == new:
		return nil
	case at != old:
		return elsewhere(op, branch, at, old)
	}
	if err = w.setRef(ctx, branchRef(branch), old, new); err == nil {
		return nil
	}
	if at, again := w.repo.branchAt(ctx, branch); again == nil && at != old && at != new {
		return elsewhere(op, branch, at, old)
	}
	return w.repo.fault(op, err)
}

// elsewhere says that a branch is not where the run left it.
func elsewhere(op, branch, at, want string) error {
	name := func(oid string) string {
		if oid == "" {
			return "missing"
		}
		return "at " + oid
	}
	return ports.Conflicted.Errorf(op, "branch %s is %s, but this run left it %s; something else moved it: "+
		"put it back (git update-ref %s <commit>), or keep what is there under another name first",
		branch, name(at), name(want), branchRef(branch))
}

var keepName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

// keepRef is the name of the ref that holds a commit of a run.
func keepRef(label, name string) string { return "refs/agl/keep/" + label + "/" + name }

// Keep holds a commit until Clear.
func (w *worktrees) Keep(ctx context.Context, name, commit string) error {
	op := fmt.Sprintf("keep commit %s as %q", commit, name)
	if !keepName.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") {
		return ports.Invalid.Errorf(op, "that is no name of letters, digits, '.', '_' and '-'")
	}
	full := keepRef(w.label, name)
	at, err := w.repo.readRef(ctx, full)
	if err != nil {
		return w.repo.fault(op, err)
	}
	if at.oid == commit {
		return nil
	}
	if at != (ref{}) {
		return ports.Conflicted.Errorf(op, "%s already holds %s%s", full, at.oid, at.target)
	}
	return w.repo.fault(op, w.setRef(ctx, full, "", commit))
}
