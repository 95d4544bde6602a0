//go:build linux

package killtest_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var (
	killRandom = flag.Int("kill", 1, "how many runs are killed at random instants")
	killAll    = flag.Bool("kill.all", false, "kill at every git call, write and process start, not at some of each")
)

// TestMain is where this binary finds out what it is: the name it was called
// by says so.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "agl":
		command().Main()
	case "work":
		os.Exit(work(os.Args[1:]))
	case "watched":
		os.Exit(launch(os.Args[1:]))
	case "agent":
		os.Exit(playAgent(os.Args[1:]))
	}
	if dir := os.Getenv(envTmpfs); dir != "" {
		mountSmall(dir)
	}
	os.Exit(runTests(m))
}

// runTests runs the tests with a git that kills.
func runTests(m *testing.M) int {
	if os.Getenv(envShim) != "" { // this is a test that was started by a test
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "killtest-")
	if err == nil {
		defer os.RemoveAll(dir)
		shim := filepath.Join(dir, "gitshim")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", shim, "./gitshim")
		build.Stderr = os.Stderr
		err = errors.Join(build.Run(), os.Setenv(envShim, shim))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the git that kills cannot be built:", err)
		return 1
	}
	return m.Run()
}
