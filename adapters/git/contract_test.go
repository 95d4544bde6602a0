package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func contractRepository(t testing.TB, files map[string]string) porttest.Repository {
	return levers(newWorld(t, files))
}

func levers(w *world) porttest.Repository {
	return porttest.Repository{
		Workspaces: w.repo, Integrator: w.repo.Integrator(), History: w.repo, Trunk: "main",
		Reopen: func() (porttest.Repository, error) { // another process, with nothing but the files
			again := *w
			repo, err := w.tryOpen(w.dir)
			again.repo = repo
			return levers(&again), err
		},
		Parents: func(commit string) ([]string, error) {
			out, err := w.tryGit(w.dir, "rev-list", "--parents", "--max-count=1", commit)
			return strings.Fields(out)[1:], err
		},
		Reachable: func(commit string) bool {
			out, err := w.tryGit(w.dir, "for-each-ref", "--contains", commit)
			return err == nil && out != ""
		},
		Commit: func(ws ports.Workspace, message string, detached bool) (string, error) {
			if detached {
				if _, err := w.tryGit(ws.Dir(), "checkout", "-q", "--detach"); err != nil {
					return "", err
				}
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
