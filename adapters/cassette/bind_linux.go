package cassette

import (
	"os/exec"
	"runtime"
	"syscall"
)

// bind has a program end when this process does, whatever ends it. That is so
// for as long as the thread lives that starts it.
func bind(cmd *exec.Cmd) {
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
