//go:build unix

package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/shell"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestTheVerifierKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Verifier(t, porttest.VerifierOptions{
		New: func(t testing.TB, gate porttest.Gate) ports.Verifier {
			return shell.New(shell.Options{Command: command(t, gate), Timeout: gate.Timeout})
		},
		None: func(testing.TB) ports.Verifier { return shell.New(shell.Options{}) },
		CannotStart: func(t testing.TB) (ports.Verifier, ports.VerifyTask) {
			return shell.New(shell.Options{Command: "true"}), ports.VerifyTask{Dir: filepath.Join(t.TempDir(), "gone")}
		},
		Changes:  true,
		Programs: true,
	})
}

// command returns a line for the shell that does what a gate says.
func command(t testing.TB, gate porttest.Gate) string {
	output := filepath.Join(t.TempDir(), "output")
	require.NoError(t, os.WriteFile(output, []byte(gate.Output), 0o600))
	lines := []string{fmt.Sprintf("cat %q", output)}
	if gate.PrintEnv != "" {
		lines = append(lines, fmt.Sprintf(`printf %%s "$%s"`, gate.PrintEnv))
	}
	if gate.Touch != "" {
		lines = append(lines, fmt.Sprintf("echo >%q", gate.Touch))
	}
	if gate.ReadAll {
		lines = append(lines, "cat >/dev/null")
	}
	if gate.Hang {
		lines = append(lines, "sleep 600")
	}
	if gate.Fail {
		lines = append(lines, "exit 1")
	}
	line := strings.Join(lines, "; ")
	if gate.Then != nil {
		ran := filepath.Join(t.TempDir(), "ran")
		return fmt.Sprintf("if [ -e %q ]; then %s; else : >%[1]q; %[3]s; fi", ran, command(t, *gate.Then), line)
	}
	return line
}
