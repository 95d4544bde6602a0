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

// inherit does nothing: children take no descriptors along here, so a lock is
// free as soon as this process has ended.
func inherit(*exec.Cmd, []*os.File) {}
