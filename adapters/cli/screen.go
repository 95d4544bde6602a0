package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"example.com/agl/adapters/local"
	"example.com/agl/ports"
)

// stopping is what the first signal is answered by.
const stopping = "stopping in order; again to stop at once"

// heldLimit is how much is kept of what is written while the dashboard has the
// screen.
const heldLimit = 1 << 20

// A screen is what standard error writes to: several goroutines, of the
// progress, the clock and the log. While the dashboard has the terminal, what is
// written is kept until it has given it back.
type screen struct {
	stderr io.Writer

	mu    sync.Mutex
	board board // nil while there is none
	held  bytes.Buffer
	lost  bool // more was written than is kept
}

// A board is what a dashboard has that a person does not need to know of as a
// port.
type board interface {
	FullScreen() bool
	Restore()
}

// Write writes to standard error, or keeps it for later.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.board == nil:
		return s.stderr.Write(p)
	case s.held.Len()+len(p) > heldLimit:
		s.lost = true
		return len(p), nil
	}
	return s.held.Write(p)
}

// tell writes a line at once, unless a dashboard is there: it tells by itself.
func (s *screen) tell(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.board == nil {
		fmt.Fprintln(s.stderr, line)
	}
}

// give gives the screen to a terminal, if it draws over all of it, until the
// function it returns is called. It reports whether it does.
func (s *screen) give(terminal ports.Terminal) (full bool, back func()) {
	b, ok := terminal.(board)
	if !ok || !b.FullScreen() {
		return false, func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board = b
	return true, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.board = nil
		_, _ = s.held.WriteTo(s.stderr) // as with the lines themselves: nobody may be reading any more
		if s.lost {
			fmt.Fprintln(s.stderr, "… and more, which was not kept")
		}
	}
}

// restore gives the terminal back for a process that is about to die.
func (s *screen) restore() {
	s.mu.Lock()
	b := s.board
	s.mu.Unlock()
	if b != nil {
		b.Restore()
	}
}

// person returns where somebody may answer: at the terminal of standard input
// and standard error. There is nobody for whom JSON is written.
func (s *session) person(lines bool) *local.Person {
	in, reads := s.stdin.(*os.File)
	out, writes := s.screen.stderr.(*os.File)
	if !reads || !writes || s.globals.JSON {
		return nil
	}
	return &local.Person{In: in, Out: out, Lines: lines || s.globals.Quiet}
}
