package mem_test

import (
	"testing"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func repository(_ testing.TB, files map[string]string) porttest.Repository {
	return levers(mem.NewRepository(mem.NewClock(), files))
}

func levers(repo *mem.Repository) porttest.Repository {
	return porttest.Repository{
		Workspaces: repo, Integrator: repo.Integrator(), History: repo, Trunk: "main", Reachable: repo.Reachable,
		Reopen: func() (porttest.Repository, error) {
			doc, err := repo.Export()
			if err != nil {
				return porttest.Repository{}, err
			}
			again, err := mem.ImportRepository(mem.NewClock(), doc)
			if err != nil {
				return porttest.Repository{}, err
			}
			return levers(again), nil
		},
		Parents: func(commit string) ([]string, error) {
			list, err := repo.Commits("", commit)
			if err != nil {
				return nil, err
			}
			return list[len(list)-1].Parents, nil
		},
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

func TestTheRepositoryKeepsTheContractOfIntegrator(t *testing.T) {
	t.Parallel()
	porttest.Integrator(t, porttest.IntegratorOptions{New: repository})
}

func TestTheDeskKeepsTheContractOfTerminal(t *testing.T) {
	t.Parallel()
	porttest.Terminal(t, porttest.TerminalOptions{New: func(testing.TB) (ports.Terminal, *porttest.Person) {
		d := &mem.Desk{}
		return d, &porttest.Person{
			Screen: d.Screen, Choose: d.Choose, Write: d.Write, Type: d.Type, Waiting: d.Waiting, Leave: d.Leave, Watches: true,
		}
	}})
}
