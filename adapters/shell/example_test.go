//go:build unix

package shell_test

import (
	"context"
	"fmt"
	"os"

	"example.com/agl/adapters/shell"
	"example.com/agl/ports"
)

func ExampleVerifier() {
	gate := shell.New(shell.Options{Command: "echo 2 tests failed; exit 1"})
	verdict, err := gate.Verify(context.Background(), ports.VerifyTask{Dir: os.TempDir()})
	fmt.Printf("%v %v %s(%s)\n", err, verdict.Passed, verdict.Output, verdict.Note)
	// Output: <nil> false 2 tests failed
	// (exit status 1)
}
