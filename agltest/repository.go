package agltest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/agl/adapters/git"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A repository is where a harness's runs work.
type repository interface {
	// open returns the ports of a new process.
	open(t testing.TB) (ports.Workspaces, ports.Integrator, ports.History)
	// files returns what a commit holds.
	files(t testing.TB, commit string) map[string]string
	// log returns the commits from base, without it, to head, the oldest first.
	log(t testing.TB, base, head string) []Commit
	write(ws ports.Workspace, path, text string) error
	remove(ws ports.Workspace, path string) error
	// powerCut loses what a power cut would.
	powerCut()
	// export returns all of it, for restore in another process.
	export() ([]byte, error)
	restore(exported []byte) error
}

// memRepository is a repository in memory.
type memRepository struct {
	*mem.Repository
	clock ports.Clock
}

func newMemRepository(t testing.TB, clock ports.Clock, files map[string]string) repository {
	t.Helper()
	r := mem.NewRepository(clock, files)
	if err := r.Check(t.Context()); err != nil {
		t.Fatalf("agltest: Options.Files: %v", err)
	}
	return &memRepository{r, clock}
}

func (r *memRepository) open(testing.TB) (ports.Workspaces, ports.Integrator, ports.History) {
	return r.Repository, r.Repository.Integrator(), r.Repository
}

func (r *memRepository) files(_ testing.TB, commit string) map[string]string {
	return r.Repository.Files(commit)
}

func (r *memRepository) log(t testing.TB, base, head string) []Commit {
	t.Helper()
	commits, err := r.Commits(base, head)
	if err != nil {
		t.Fatalf("agltest: %v", err)
	}
	log := make([]Commit, len(commits))
	for i, c := range commits {
		log[i] = Commit{ID: c.ID, Message: c.Message, Paths: c.Paths}
	}
	return log
}

func (*memRepository) write(ws ports.Workspace, path, text string) error {
	return ws.(*mem.Workspace).WriteFile(path, []byte(text))
}

func (*memRepository) remove(ws ports.Workspace, name string) error {
	w := ws.(*mem.Workspace)
	if err := checkInside(name); err != nil {
		return err
	}
	err := fs.WalkDir(w.Tree(), name, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			w.Remove(path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (r *memRepository) powerCut() { r.PowerCut() }

func (r *memRepository) export() ([]byte, error) { return r.Export() }

func (r *memRepository) restore(exported []byte) (err error) {
	r.Repository, err = mem.ImportRepository(r.clock, exported)
	return err
}

// gitRepository is a real one, in a temporary folder.
type gitRepository struct {
	repo           *gittest.Repo
	trees, salvage string
}

func newGitRepository(t testing.TB, files map[string]string) *gitRepository {
	t.Helper()
	dir := t.TempDir()
	return &gitRepository{
		repo:  gittest.New(t, files),
		trees: filepath.Join(dir, "trees"), salvage: filepath.Join(dir, "salvage"),
	}
}

func (r *gitRepository) open(t testing.TB) (ports.Workspaces, ports.Integrator, ports.History) {
	t.Helper()
	repo, err := git.Open(t.Context(), git.Options{Repo: r.repo.Dir, Trees: r.trees, SalvageDir: r.salvage, Env: r.repo.Env})
	if err != nil {
		t.Fatalf("agltest: %v", err)
	}
	return repo, repo.Integrator(), repo
}

func (r *gitRepository) files(_ testing.TB, commit string) map[string]string {
	files := map[string]string{}
	for _, name := range split(r.repo.Git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)) {
		files[name] = r.repo.Blob(commit + ":" + name)
	}
	return files
}

func (r *gitRepository) log(_ testing.TB, base, head string) []Commit {
	var log []Commit
	for _, id := range strings.Fields(r.repo.Git("rev-list", "--reverse", "--topo-order", base+".."+head)) {
		log = append(log, Commit{
			ID:      id,
			Message: r.repo.Git("show", "--no-patch", "--format=%B", id),
			Paths:   split(r.repo.Git("diff-tree", "-r", "-z", "--name-only", "--no-renames", id+"^1", id)),
		})
	}
	return log
}

func split(listing string) []string {
	return strings.FieldsFunc(listing, func(r rune) bool { return r == 0 })
}

func (r *gitRepository) write(ws ports.Workspace, name, text string) error {
	file, err := inside(ws, name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

// remove removes the folders that it leaves empty as well, which git does not
// know and the harness in memory does not have.
func (r *gitRepository) remove(ws ports.Workspace, name string) error {
	file, err := inside(ws, name)
	if err != nil {
		return err
	}
	switch err := os.RemoveAll(file); {
	case errors.Is(err, syscall.ENOTDIR):
		return nil // there is nothing below a file
	case err != nil:
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if os.Remove(filepath.Join(ws.Dir(), filepath.FromSlash(dir))) != nil {
			break
		}
	}
	return nil
}

// inside returns where a file of a checkout is.
func inside(ws ports.Workspace, name string) (string, error) {
	if err := checkInside(name); err != nil {
		return "", err
	}
	return filepath.Join(ws.Dir(), filepath.FromSlash(name)), nil
}

func checkInside(name string) error {
	if !fs.ValidPath(name) || name == "." {
		return errors.New("it is no path of a file in a checkout")
	}
	return nil
}

// powerCut loses nothing: what a real disk would lose cannot be played here.
func (r *gitRepository) powerCut() {}

// gitPlaces are where another process finds the repository.
type gitPlaces struct {
	Dir     string `json:"dir"`
	Trees   string `json:"trees"`
	Salvage string `json:"salvage"`
}

func (r *gitRepository) export() ([]byte, error) {
	return json.Marshal(gitPlaces{r.repo.Dir, r.trees, r.salvage})
}

func (r *gitRepository) restore(exported []byte) error {
	var at gitPlaces
	if err := json.Unmarshal(exported, &at); err != nil {
		return err
	}
	r.repo.Dir, r.trees, r.salvage = at.Dir, at.Trees, at.Salvage
	return nil
}
