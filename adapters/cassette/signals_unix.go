//go:build unix

package cassette

import (
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ending are the signals by which a program is asked to end.
var ending = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// outlivePipes has a write to a pipe that nobody reads fail, instead of ending
// this process. Programs that it starts are not told.
func outlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// nameOf is the name of a signal, as "SIGTERM".
func nameOf(s os.Signal) string {
	if n, ok := s.(syscall.Signal); ok {
		return unix.SignalName(n)
	}
	return s.String()
}

// killedBy returns the signal that ended a program, "" if none did.
func killedBy(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

// end ends this process, by a signal if one is named.
func end(code int, name string) {
	switch n := unix.SignalNum(name); n {
	case 0:
		os.Exit(code)
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL, syscall.SIGPIPE:
		signal.Reset(n)
		_ = syscall.Kill(os.Getpid(), n)
	default:
		// At the others Go tells what it was doing. A shell does not.
		_ = unix.Setrlimit(unix.RLIMIT_CORE, new(unix.Rlimit))
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -" + strings.TrimPrefix(name, "SIG") + " $$"}, nil)
		os.Exit(failed)
	}
	select {} // it comes
}
