//go:build unix

package git

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the leader of a process group. It gets no death signal:
// a git that AGL's own end leaves running finishes its write, and the locks it
// inherited are free only then.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup tells a group to end, or kills it.
func signalGroup(p *os.Process, kill bool) error {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	return syscall.Kill(-p.Pid, sig)
}

// inherit leaves files open in cmd.
func inherit(cmd *exec.Cmd, files []*os.File) { cmd.ExtraFiles = files }
