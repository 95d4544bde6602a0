package porttest

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/agl/ports"
)

// A Repository is what the suites of Workspaces, Integrator and History are
// run on: a repository with a checkout of an operator's, and what they do to
// it that no port does. Levers that are nil are for what the implementation does not
// know; the rules that need one are skipped, saying so.
type Repository struct {
	Workspaces ports.Workspaces
	History    ports.History
	Integrator ports.Integrator // for its own suite alone
	Trunk      string           // the branch the operator's checkout is on

	// Lock is a run's lock. Nil: one without files.
	Lock ports.Lock

	// Reachable reports whether a ref of any kind leads to a commit.
	Reachable func(commit string) bool

	// Commit does what an agent does that runs git: it commits all that is in
	// the checkout, on its branch or with HEAD detached, and returns the id.
	Commit func(ws ports.Workspace, message string, detached bool) (string, error)

	// Reopen returns the repository as another process finds it; this one does
	// nothing any more.
	Reopen func() (Repository, error)

	// Parents returns the parents of a commit, in order.
	Parents func(commit string) ([]string, error)

	// Stage adds a file of the checkout to the index.
	Stage func(ws ports.Workspace, path string) error

	// Tamper changes something that Guard guards. Undo makes it as it was.
	Tamper func(ws ports.Workspace) (undo func() error, err error)
}

// A site is a repository with one commit that a rule is checked on, and a run.
type site struct {
	Repository
	base string // the first commit
	run  ports.Worktrees
}

// run is the label of a site's run.
const run = "run-1"

// firstFiles are what the first commit of a site holds.
var firstFiles = map[string]string{
	"a.txt":         "one\n",
	"dir/b.txt":     "two\nthree\n",
	"dir/sub/c.bin": "\x00\x01\xff\r\n",
	"empty":         "",
}

func newSite(t testing.TB, r Repository) *site {
	s := &site{Repository: r}
	if s.Lock == nil {
		s.Lock = plainLock{}
	}
	var err error
	if s.base, err = r.History.Resolve(t.Context(), r.Trunk); err != nil {
		t.Fatalf("resolving %s: %v", r.Trunk, err)
	}
	if s.run, err = r.Workspaces.Attach(t.Context(), run, s.Lock); err != nil {
		t.Fatalf("attaching to a run: %v", err)
	}
	return s
}

type plainLock struct{}

func (plainLock) Files() []*os.File { return nil }
func (plainLock) Release() error    { return nil }

// writeFile writes a file as an agent does: in the checkout's folder, if it has
// one.
func (s *site) writeFile(c *check, ws ports.Workspace, path string, data []byte) error {
	if ws.Dir() == "" {
		return ws.WriteFile(c.Context(), path, data)
	}
	file := filepath.Join(ws.Dir(), filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// removeFile removes a file, and the folders that it leaves empty.
func (s *site) removeFile(c *check, ws ports.Workspace, path string) error {
	if ws.Dir() == "" {
		return ws.Remove(c.Context(), path)
	}
	file := filepath.Join(ws.Dir(), filepath.FromSlash(path))
	err := os.Remove(file)
	for dir := filepath.Dir(file); err == nil && dir != ws.Dir(); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break // something is left in it
		}
	}
	return err
}

// place is where a namespace works.
func place(namespace string) ports.Place {
	if namespace == ports.Base {
		return ports.Place{Namespace: namespace, Branch: "agl/" + run}
	}
	return ports.Place{Namespace: namespace, Branch: "agl/_work/" + run + "/" + namespace}
}

// mainBranch is the branch of the run itself.
const mainBranch = "agl/" + run

// open returns the checkout of a namespace, or ends the rule.
func (s *site) open(c *check, namespace, head string) ports.Workspace {
	c.Helper()
	ws, err := s.run.Open(c.Context(), place(namespace), head)
	c.must(err, "opening the checkout of "+namespace)
	return ws
}

// write writes files of a checkout, or ends the rule.
func (s *site) write(c *check, ws ports.Workspace, files ...string) {
	for i := 0; i < len(files); i += 2 {
		c.must(s.writeFile(c, ws, files[i], []byte(files[i+1])), "writing "+files[i])
	}
}

// remove removes files of a checkout, or ends the rule.
func (s *site) remove(c *check, ws ports.Workspace, paths ...string) {
	for _, path := range paths {
		c.must(s.removeFile(c, ws, path), "removing "+path)
	}
}

// readAll returns the files of a tree.
func readAll(c *check, tree fs.FS) map[string]string {
	files := map[string]string{}
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		files[path] = string(data)
		return err
	})
	c.must(err, "reading the files")
	return files
}

// holds fails the rule unless these are a checkout's files.
func (s *site) holds(c *check, ws ports.Workspace, want map[string]string) {
	same(c, readAll(c, ws.Tree()), want, "the files of the checkout")
}

// with returns files with changes: pairs of path and content.
func with(files map[string]string, changes ...string) map[string]string {
	files = maps.Clone(files)
	for i := 0; i < len(changes); i += 2 {
		files[changes[i]] = changes[i+1]
	}
	return files
}

// without returns files without some.
func without(files map[string]string, paths ...string) map[string]string {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(path, _ string) bool { return slices.Contains(paths, path) })
	return files
}

// inspect returns how a checkout differs from the commit it is at.
func (s *site) inspect(c *check, ws ports.Workspace, head string) ports.Changes {
	changes, err := ws.Inspect(c.Context(), head)
	c.must(err, "inspecting the checkout")
	return changes
}

// clean fails the rule unless a checkout is at head with nothing in it.
func (s *site) clean(c *check, ws ports.Workspace, head string) {
	if changes := s.inspect(c, ws, head); !changes.Clean(head) {
		c.Errorf("the checkout differs: %+v; want it clean at %s", changes, head)
	}
}

// branch fails the rule unless a branch is at a commit; "": there is none.
func (s *site) branch(c *check, branch, want string) {
	at, err := s.Workspaces.Branch(c.Context(), branch)
	c.must(err, "reading branch "+branch)
	if at != want {
		c.Errorf("branch %s is at %q, want %q", branch, at, want)
	}
}

// exists fails the rule unless there is, or is not, a checkout.
func (s *site) exists(c *check, namespace string, want bool) {
	got, err := s.run.Exists(c.Context(), namespace)
	c.must(err, "looking for the checkout of "+namespace)
	if got != want {
		c.Errorf("the checkout of %s exists: %v, want %v", namespace, got, want)
	}
}

// when is the date of a rule's commits.
var when = time.Date(2024, 5, 6, 7, 8, 9, 0, time.FixedZone("", 2*60*60))

// spec is a commit on top of head.
func spec(head, message string) ports.CommitSpec {
	return ports.CommitSpec{Head: head, Message: message, Identity: "Rob Robot <rob@example.com>", Date: when}
}

// commit commits what is in a checkout, without moving its branch, or ends the
// rule.
func (s *site) commit(c *check, ws ports.Workspace, head, message string) ports.Commit {
	made, err := ws.Commit(c.Context(), spec(head, message))
	c.must(err, "committing")
	return made
}

// step writes files, commits them and moves the branch, as a step does. It
// returns the commit.
func (s *site) step(c *check, namespace string, ws ports.Workspace, head string, files ...string) string {
	s.write(c, ws, files...)
	made := s.commit(c, ws, head, "a step")
	c.must(s.run.Move(c.Context(), place(namespace).Branch, head, made.ID), "moving the branch")
	return made.ID
}

// putBack puts a checkout back, or ends the rule.
func (s *site) putBack(c *check, ws ports.Workspace, head string) ports.PutBack {
	done, err := ws.PutBack(c.Context(), head, "because")
	c.must(err, "putting the checkout back")
	return done
}

// salvaged returns the run's salvage.
func (s *site) salvaged(c *check) []ports.Salvage {
	list, err := s.Workspaces.Salvaged(c.Context(), run)
	c.must(err, "listing the salvage")
	return list
}

// numbers returns the numbers of salvages.
func numbers(list []ports.Salvage) []int {
	var ns []int
	for _, s := range list {
		ns = append(ns, s.N)
	}
	return ns
}

// salvage puts files into a checkout, puts it back and returns what was kept,
// or ends the rule.
func (s *site) salvage(c *check, ws ports.Workspace, head string, files ...string) ports.Salvage {
	s.write(c, ws, files...)
	done := s.putBack(c, ws, head)
	if done.Salvage == nil {
		c.Fatalf("nothing was salvaged of a checkout with work in it; want a salvage")
	}
	return *done.Salvage
}

// holdsSalvage fails the rule unless a salvage, written out, has these files.
func (s *site) holdsSalvage(c *check, n int, want map[string]string) string {
	dir := filepath.Join(c.TempDir(), "out")
	c.must(s.Workspaces.WriteSalvage(c.Context(), run, n, dir), "writing a salvage out")
	same(c, readAll(c, os.DirFS(dir)), want, "the files of the salvage")
	return dir
}

// over is a context that is cancelled.
func over(c *check) context.Context {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	return ctx
}

// isCancelled fails the rule unless err is that of a cancelled call.
func (c *check) isCancelled(err error, doing string) {
	switch {
	case err == nil:
		c.Errorf("%s under a cancelled context: it was done; want context.Canceled", doing)
	case !errors.Is(err, context.Canceled) || ports.KindOf(err) != "":
		c.Errorf("%s under a cancelled context: want context.Canceled without a Kind, got kind %q: %v", doing, ports.KindOf(err), err)
	}
}
