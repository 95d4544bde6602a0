package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/agl/adapters/git"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func contractRepository(t testing.TB, files map[string]string) porttest.Repository {
	w := newWorld(t, files)
	return w.levers(w.repo)
}

// levers is what the suites see of a repository that w has opened.
func (w *world) levers(repo *git.Repo) porttest.Repository {
	return porttest.Repository{
		Workspaces: repo, Integrator: repo.Integrator(), History: repo, Trunk: "main",
		Reopen: func() (porttest.Repository, error) {
			again, err := w.tryOpen(w.dir)
			if err != nil {
				return porttest.Repository{}, err
			}
			return w.levers(again), nil
		},
		Parents: func(commit string) ([]string, error) {
			out, err := w.tryGit(w.dir, "rev-parse", commit+"^@")
			return strings.Fields(out), err
		},
		Reachable: func(commit string) bool {
			out, err := w.tryGit(w.dir, "for-each-ref", "--contains", commit)
			return err == nil && out != ""
		},
		Commit: func(ws ports.Workspace, message string, detached bool) (string, error) {
			args := []string{"rev-parse", "HEAD"}
			if detached {
				args = []string{"checkout", "-q", "--detach"}
			}
			if _, err := w.tryGit(ws.Dir(), args...); err != nil {
				return "", err
			}
			if _, err := w.tryGit(ws.Dir(), "add", "-A"); err != nil {
				return "", err
			}
			if _, err := w.tryGit(ws.Dir(), "commit", "-q", "-m", message); err != nil {
				return "", err
			}
			return w.git(ws.Dir(), "rev-parse", "HEAD"), nil
		},
		Stage: func(ws ports.Workspace, path string) error {
			_, err := w.tryGit(ws.Dir(), "add", "--", path)
			return err
		},
		Tamper: func(ports.Workspace) (func() error, error) {
			config := filepath.Join(w.dir, ".git", "config")
			was, err := os.ReadFile(config)
			if err != nil {
				return nil, err
			}
			_, err = w.tryGit(w.dir, "config", "filter.x.clean", "touch planted")
			return func() error { return os.WriteFile(config, was, 0o644) }, err
		},
	}
}

func TestAGitRepositoryKeepsTheContractOfWorkspaces(t *testing.T) {
	t.Parallel()
	porttest.Workspaces(t, porttest.WorkspacesOptions{
		New: contractRepository, Modes: true, Symlinks: true, Ignored: true, Nested: true,
	})
}

func TestAGitRepositoryKeepsTheContractOfHistory(t *testing.T) {
	t.Parallel()
	porttest.History(t, porttest.HistoryOptions{New: contractRepository})
}

func TestAGitRepositoryKeepsTheContractOfIntegrator(t *testing.T) {
	t.Parallel()
	porttest.Integrator(t, porttest.IntegratorOptions{New: contractRepository, CrissCross: true, Renames: true, Modes: true, Ignored: true})
}
