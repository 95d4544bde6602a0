//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// interrupt has the process do what it does about ctrl-c, and the rest of its job
// too, as the key does elsewhere: a script that loops over it stops.
func interrupt() {
	if signal.Ignored(syscall.SIGINT) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // a process may signal itself
		return
	}
	_ = syscall.Kill(0, syscall.SIGINT)
}

// inBackground reports whether another job has the terminal: who so much as
// sets it up then is stopped.
func inBackground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}

// stopping is how long it takes at most until a process that was told to stop
// has stopped. In a session without job control it never does.
const stopping = 250 * time.Millisecond

// suspend is for when ctrl-z was pressed.
func (s *screen) suspend() tea.Msg {
	if s.suspended.Swap(true) {
		return nil
	}
	defer s.suspended.Store(false)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if s.program.ReleaseTerminal() != nil {
		return nil
	}
	_ = syscall.Kill(0, syscall.SIGTSTP) // the shell's job, as the key does elsewhere
	select {
	case <-continued:
	case <-time.After(stopping):
	}
	for inBackground(s.t.opts.In) {
		select {
		case <-continued:
		case <-s.ended:
			return nil
		}
	}
	return s.resume()
}

// settling is how long the library is given to end what draws before it begins
// to draw again: what ends stops the clock of what begins, if it comes later.
const settling = 100 * time.Millisecond

// resume takes the terminal again that was released.
func (s *screen) resume() tea.Msg {
	time.Sleep(settling)
	_ = s.program.RestoreTerminal() // else its input ends, which is told
	return tea.ClearScreen()
}

// continued draws anew when the process goes on that something else than the
// key had stopped: the shell has set the terminal for itself meanwhile.
func (s *screen) continued() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	for {
		select {
		case <-s.ended:
			return
		case <-continued:
			if s.suspended.Load() || inBackground(s.t.opts.In) || s.program.ReleaseTerminal() != nil {
				continue
			}
			s.program.Send(s.resume())
		}
	}
}
