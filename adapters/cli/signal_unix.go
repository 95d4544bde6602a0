//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// lastingStderr returns standard error under a descriptor of its own. A process
// dies by SIGPIPE when it writes to its first three and nobody reads any more;
// that somebody closed the pager on the progress must not end an agent.
func lastingStderr() *os.File {
	fd, err := syscall.Dup(int(os.Stderr.Fd()))
	if err != nil {
		return os.Stderr
	}
	syscall.CloseOnExec(fd) // nothing was started yet that could inherit it
	return os.NewFile(uintptr(fd), os.Stderr.Name())
}

// onSignals returns a context that the first signal to stop cancels, and a
// function that ends the process by that signal, if there was one. What the
// process was started to ignore (nohup, a shell's &) stays ignored.
func onSignals(parent context.Context, screen *screen) (ctx context.Context, stopped func()) {
	ctx, cancel := context.WithCancel(parent)
	caught := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(caught, sig)
		}
	}
	type stop struct {
		sig  syscall.Signal
		told <-chan struct{}
	}
	var first atomic.Pointer[stop]
	go func() {
		sig := (<-caught).(syscall.Signal)
		first.Store(&stop{sig, screen.tell(stopping)})
		cancel()
		sig = (<-caught).(syscall.Signal)
		screen.restore()
		die(sig)
	}()
	return ctx, func() {
		if first := first.Load(); first != nil {
			wait(first.told)
			die(first.sig)
		}
	}
}

// die ends the process by sig.
func die(sig syscall.Signal) {
	signal.Reset(sig)
	_ = syscall.Kill(os.Getpid(), sig) // a process may signal itself
	select {}
}
