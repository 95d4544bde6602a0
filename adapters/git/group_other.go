//go:build !unix

package git

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups here, so only git itself
// is ended, not what it started.
func ownGroup(*exec.Cmd) {}

func signalGroup(p *os.Process, _ bool) error { return p.Kill() }
