package porttest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/agl/adapters/files"
	"example.com/agl/adapters/shell"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

// A store in a folder: stores over one folder share what is in it, also with
// another process. That one is the test's own program, which TestMain of the
// adapter's tests turns into it:
//
//	if home := os.Getenv("SERVE_STORE"); home != "" {
//		err := porttest.ServeStore(files.New(home, "p"), os.Stdin, os.Stdout)
//		…
//	}
func ExampleStore() {
	homeOf := func(s ports.Store) string { return filepath.Join(s.Path("label", ""), "../../../..") }

	test := func(t *testing.T) { // func TestTheStoreKeepsTheContract
		porttest.Store(t, porttest.StoreOptions{
			New:    func(t testing.TB) ports.Store { return files.New(t.TempDir(), "p") },
			Reopen: func(_ testing.TB, s ports.Store) ports.Store { return files.New(homeOf(s), "p") },
			Process: func(_ testing.TB, s ports.Store) *exec.Cmd {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "SERVE_STORE="+homeOf(s))
				return cmd
			},
		})
	}
	_ = test
}

// A gate that a shell runs.
func ExampleVerifier() {
	test := func(t *testing.T) { // func TestTheVerifierKeepsTheContract
		porttest.Verifier(t, porttest.VerifierOptions{
			New: func(t testing.TB, gate porttest.Gate) ports.Verifier {
				output := filepath.Join(t.TempDir(), "output")
				if err := os.WriteFile(output, []byte(gate.Output), 0o600); err != nil {
					t.Fatal(err)
				}
				command := "cat " + output
				if gate.Hang {
					command += "; sleep 600"
				}
				if gate.Fail {
					command += "; exit 1"
				}
				return shell.New(shell.Options{Command: command, Timeout: gate.Timeout})
			},
		})
	}
	_ = test
}

// A terminal is graded by a hand at its keyboard and eyes on its screen: here
// of a terminal whose keyboard is a function, of a real one those of a program
// that holds the other end of a pseudo-terminal. One that nobody sits at has no
// Person.
func ExampleTerminal() {
	test := func(t *testing.T) { // func TestTheTerminalKeepsTheContract
		porttest.Terminal(t, porttest.TerminalOptions{
			New: func(testing.TB) (ports.Terminal, *porttest.Person) {
				desk := &mem.Desk{}
				return desk, &porttest.Person{
					Screen: desk.Screen, Choose: desk.Choose, Write: desk.Write,
					Type: desk.Type, Waiting: desk.Waiting, Leave: desk.Leave, Watches: true,
				}
			},
		})
	}
	_ = test
}

// An agent in this process plays a turn itself; one of a vendor would be
// pointed at a fake of the vendor's service that answers with the turn's acts.
func ExampleAgent() {
	test := func(t *testing.T) { // func TestAnAgentKeepsTheContract
		porttest.Agent(t, porttest.AgentOptions{
			Play:    func(_ testing.TB, turn porttest.Turn) ports.Agent { return inProcess(turn.Play) },
			Model:   "inprocess/any",
			Prompts: true, Results: true, Parallel: true,
		})
	}
	_ = test
}

// inProcess is an agent made of a function.
type inProcess func(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error)

func (inProcess) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{Tools: true}, nil
}

func (inProcess) Ready(context.Context, ports.Model) error { return nil }

func (a inProcess) Run(ctx context.Context, task ports.Task, emit func(ports.AgentEvent)) (ports.Outcome, error) {
	return a(ctx, task, func(e ports.AgentEvent) {
		if e.Kind == ports.AgentActivity {
			e.Text = ports.Printable(e.Text)
		}
		emit(e)
	})
}
