package git_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/agl/adapters/git"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// A world is a repository with one commit, a home and a configuration of its
// own, and AGL's folders beside it.
type world struct {
	t     testing.TB
	root  string
	dir   string // the operator's checkout
	home  string
	trees string // where the checkouts go
	env   []string
	base  string // the first commit
	repo  *git.Repo
}

const label = "t-1"

var when = time.Date(2024, 5, 6, 7, 8, 9, 0, time.FixedZone("", 2*60*60))

// newWorld makes a world whose first commit holds files. Empty files: one
// file, a.txt.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	w := bareWorld(t)
	gittest.Prepared(t, w.dir, fmt.Sprintf("world %q", files), func() { w.begin(files) })
	w.base = w.ref("heads/main")
	w.open()
	return w
}

// begin makes the repository and its first commit.
func (w *world) begin(files map[string]string) {
	w.t.Helper()
	if files == nil {
		files = map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n"}
	}
	w.git(w.root, "init", "-q", "-b", "main", w.dir)
	for name, content := range files {
		w.write(filepath.Join(w.dir, name), content)
	}
	w.git(w.dir, "add", "-A")
	w.git(w.dir, "commit", "-q", "-m", "first")
}

// ref returns the commit that a ref in a file of its own names.
func (w *world) ref(name string) string {
	w.t.Helper()
	return strings.TrimSpace(w.read(filepath.Join(w.dir, ".git", "refs", name)))
}

// bareWorld makes a world without a repository.
func bareWorld(t testing.TB) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, dir: filepath.Join(root, "repo"), home: filepath.Join(root, "home"), trees: filepath.Join(root, "trees")}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + root,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(w.home, "gitconfig"),
	}
	w.write(filepath.Join(w.home, "gitconfig"), "[user]\n\tname = Ann Author\n\temail = ann@example.com\n")
	return w
}

// open opens the repository.
func (w *world) open() {
	w.t.Helper()
	repo, err := w.tryOpen(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.repo = repo
}

func (w *world) tryOpen(dir string) (*git.Repo, error) {
	return git.Open(w.t.Context(), w.options(dir))
}

func (w *world) options(dir string) git.Options {
	return git.Options{
		Repo: dir, Trees: w.trees, SalvageDir: filepath.Join(w.root, "salvage"), Env: w.env,
	}
}

// git runs git as a person or an agent would, and returns what it prints.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.tryGit(dir, args...)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func (w *world) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, append(w.env, "GIT_AUTHOR_DATE=@1700000000 +0000", "GIT_COMMITTER_DATE=@1700000000 +0000")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) write(path, content string) {
	w.t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644))
	if err != nil {
		w.t.Fatal(err)
	}
}

// read returns a file's content, "<absent>" if there is none.
func (w *world) read(path string) string {
	w.t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "<absent>"
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A heldLock stands in for the run's lock.
type heldLock struct{}

func (heldLock) Files() []*os.File { return nil }
func (heldLock) Release() error    { return nil }

func (w *world) attach() ports.Worktrees {
	w.t.Helper()
	trees, err := w.repo.Attach(w.t.Context(), label, heldLock{})
	if err != nil {
		w.t.Fatal(err)
	}
	return trees
}

func basePlace() ports.Place { return ports.Place{Namespace: ports.Base, Branch: "agl/" + label} }

func childPlace(name string) ports.Place {
	return ports.Place{Namespace: name, Branch: "agl/_work/" + label + "/" + name}
}

// checkout opens the run's own checkout at the first commit.
func (w *world) checkout() ports.Workspace {
	w.t.Helper()
	return w.checkoutAt(w.base)
}

// checkoutAt opens the run's own checkout at head.
func (w *world) checkoutAt(head string) ports.Workspace {
	w.t.Helper()
	ws, err := w.attach().Open(w.t.Context(), basePlace(), head)
	if err != nil {
		w.t.Fatal(err)
	}
	return ws
}

// commitSpec is a commit on top of head.
func commitSpec(head, message string) ports.CommitSpec {
	return ports.CommitSpec{Head: head, Message: message, Identity: "Rob Robot <rob@example.com>", Date: when}
}

// commit commits what is in ws and moves the branch, as a step's ending does.
func (w *world) commit(ws ports.Workspace, head, message string) ports.Commit {
	w.t.Helper()
	made, err := ws.Commit(w.t.Context(), commitSpec(head, message))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.attach().Move(w.t.Context(), "agl/"+label, head, made.ID); err != nil {
		w.t.Fatal(err)
	}
	return made
}

// adminDir is the folder in the repository that belongs to a checkout.
func (w *world) adminDir(ws ports.Workspace) string {
	w.t.Helper()
	return strings.TrimPrefix(strings.TrimSpace(w.read(filepath.Join(ws.Dir(), ".git"))), "gitdir: ")
}

// until waits for a condition that another process brings about.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// fsWalk calls visit for each file of a tree.
func fsWalk(tree fs.FS, visit func(name string)) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			visit(name)
		}
		return err
	})
}
