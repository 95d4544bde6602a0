package mem_test

import (
	"testing"

	"example.com/agl/internal/mem"
	"example.com/agl/ports/porttest"
)

func repository(_ testing.TB, files map[string]string) porttest.Repository {
	repo := mem.NewRepository(mem.NewClock(), files)
	return porttest.Repository{
		Workspaces: repo, History: repo, Trunk: "main", Reachable: repo.Reachable,
	}
}

func TestTheRepositoryKeepsTheContractOfWorkspaces(t *testing.T) {
	t.Parallel()
	porttest.Workspaces(t, porttest.WorkspacesOptions{New: repository})
}

func TestTheRepositoryKeepsTheContractOfHistory(t *testing.T) {
	t.Parallel()
	porttest.History(t, porttest.HistoryOptions{New: repository})
}
