package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"example.com/agl/adapters/local"
	"example.com/agl/ports"
)

// stopping is what the first signal is answered by.
const stopping = "stopping in order; again to stop at once"

// heldLimit is how much is kept of what is written while the dashboard has the
// screen.
const heldLimit = 1 << 20

// moment is how long a process that is about to end waits for what it writes:
// nobody may be reading any more.
const moment = 200 * time.Millisecond

// A screen is what standard error writes to: several goroutines, of the
// progress, the clock and the log. While the dashboard has the terminal, what is
// written is kept until it has given it back.
type screen struct {
	stderr io.Writer
	board  atomic.Pointer[board] // nil while there is none

	// mu is held over writes, which wait for as long as nobody reads: what a
	// signal does must not wait for it. board is set under it.
	mu   sync.Mutex
	held bytes.Buffer
	lost bool // more was written than is kept
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
	case s.board.Load() == nil:
		return s.stderr.Write(p)
	case s.held.Len()+len(p) > heldLimit:
		s.lost = true
		return len(p), nil
	}
	return s.held.Write(p)
}

// tell writes a line, unless a dashboard is there: it tells by itself. It
// returns at once; told is closed when the line is written.
func (s *screen) tell(line string) (told <-chan struct{}) {
	return spawn(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.board.Load() == nil {
			fmt.Fprintln(s.stderr, line)
		}
	})
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
	s.board.Store(&b)
	return true, s.takeBack
}

// takeBack writes what was kept while there was a dashboard.
func (s *screen) takeBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board.Store(nil)
	_, _ = s.held.WriteTo(s.stderr) // as with the lines themselves: nobody may be reading any more
	if s.lost {
		fmt.Fprintln(s.stderr, "… and more, which was not kept")
	}
	s.lost = false
}

// restore gives the terminal back for a process that is about to die, and
// writes what was kept if that takes no more than a moment.
func (s *screen) restore() {
	if b := s.board.Load(); b != nil {
		(*b).Restore()
		wait(spawn(s.takeBack))
	}
}

// spawn calls do in a goroutine. done is closed when it has returned.
func spawn(do func()) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	return ended
}

// wait waits for done, for no more than a moment.
func wait(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(moment):
	}
}

// person returns where somebody may answer: at the terminal of standard input
// and standard error. There is nobody for whom JSON is written. Where the answer
// goes to a pipe there is no dashboard: a pager may draw on the same screen.
func (s *session) person(lines bool) *local.Person {
	in, reads := s.stdin.(*os.File)
	out, writes := s.screen.stderr.(*os.File)
	if !reads || !writes || s.globals.JSON {
		return nil
	}
	return &local.Person{In: in, Out: out, Lines: lines || s.globals.Quiet || !s.showsAnswers()}
}
