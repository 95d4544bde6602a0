package agltest

import (
	"encoding/json"
	"path/filepath"
	"strings"
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
