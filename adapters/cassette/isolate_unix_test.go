//go:build unix

package cassette_test

import (
	"os/exec"
	"syscall"
)

// isolate gives a program a group of its own, to which signals are sent.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (c *client) signal(s syscall.Signal) { _ = syscall.Kill(-c.cmd.Process.Pid, s) }

// die ends this process as a program that crashes.
func die() { _ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -SEGV $$"}, nil) }
