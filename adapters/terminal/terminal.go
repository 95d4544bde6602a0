// Package terminal is ports.Terminal for a person at a real one: a board of the
// runs that are watched, over the whole screen, and above it the question that
// is to be answered next. It is headless where nobody sits.
package terminal

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"example.com/agl/internal/questions"
	"example.com/agl/ports"
)

// Options say what a terminal is.
type Options struct {
	In, Out *os.File // nil: standard input and output
	Env     []string // "KEY=value"; nil: the process's
	// Headless says that nobody sits there, whatever it looks like.
	Headless bool
	// Interrupt is called in a goroutine when ctrl-c is pressed on the board: the
	// key raises no signal there. Nil: the process and the rest of its job get
	// SIGINT, or the process SIGTERM where it was started to ignore that.
	Interrupt func()
	// Now is the clock of the elapsed times, which are told since instants of the
	// engine's. Nil: time.Now.
	Now func() time.Time
}

// A Terminal is a person at a terminal, or nobody. It may be used by several
// goroutines.
type Terminal struct {
	opts  Options
	look  look
	queue *questions.Queue

	mu      sync.Mutex
	watches []*watch // in the order they began
	front   front    // nil until it is needed
	closed  bool
}

// A front is how the terminal is used.
type front interface {
	// close gives the terminal back, in order and within a few seconds.
	close()
	// restore gives it back at once.
	restore()
}

var _ ports.Terminal = (*Terminal)(nil)

// New returns a terminal. Whether somebody sits at it, and what it can draw, is
// decided here for its life: nobody does where one of the files is no terminal,
// where this process is in its background, and where CI is set to anything but
// "0", "false", "no" or "off". Nothing is written before a run is watched or a question
// asked, and /dev/tty is never opened.
func New(opts Options) *Terminal {
	if opts.In == nil {
		opts.In = os.Stdin
	}
	if opts.Out == nil {
		opts.Out = os.Stdout
	}
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	if opts.Interrupt == nil {
		opts.Interrupt = interrupt
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	t := &Terminal{opts: opts, look: lookAt(&opts), queue: questions.New(nil)}
	if t.look.way == headless {
		t.queue.Close()
	}
	return t
}

// Attended reports whether somebody sat at the terminal when it was made.
func (t *Terminal) Attended() bool { return t.look.way != headless }

// FullScreen reports whether runs that are watched are drawn over the whole
// screen: then nothing else may be written to it until Close.
func (t *Terminal) FullScreen() bool { return t.look.way == board }

// Ask asks the person. What nobody can answer any more, because the input has
// ended or Close was called, is Unavailable.
func (t *Terminal) Ask(ctx context.Context, q ports.Question) (string, error) {
	if err := ports.CheckQuestion(q); err != nil {
		return "", err
	}
	t.mu.Lock()
	t.start()
	t.mu.Unlock()
	return t.queue.Ask(ctx, q)
}

// Watch shows a run on the board, if there is one.
func (t *Terminal) Watch(run ports.Watched) (stop func()) {
	if t.look.way != board {
		return func() {}
	}
	w := &watch{run: run}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches = append(t.watches, w)
	t.start()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for i, other := range t.watches {
			if other == w {
				t.watches = append(t.watches[:i:i], t.watches[i+1:]...)
				return
			}
		}
	}
}

// watched returns the runs that are watched now.
func (t *Terminal) watched() []*watch {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watches
}

// start begins to use the terminal, once.
func (t *Terminal) start() {
	if t.front != nil || t.closed {
		return
	}
	switch t.look.way {
	case board:
		t.front = startBoard(t)
	case lines:
		t.front = startLines(t)
	}
}

// Close gives the terminal back as it was found. What is asked then is
// Unavailable, and what is watched is not shown. It may be called again. The
// error is nil.
func (t *Terminal) Close() error {
	t.queue.Close()
	if front := t.end(); front != nil {
		front.close()
	}
	return nil
}

// Restore is Close for a process that is about to die: it is for the goroutine
// of a signal handler, may be called at any time, and gives the terminal back
// within half a second whatever else goes on.
func (t *Terminal) Restore() {
	t.queue.Close()
	ended := make(chan front, 1)
	go func() { ended <- t.end() }()
	select {
	case front := <-ended:
		if front != nil {
			front.restore()
		}
	case <-time.After(100 * time.Millisecond):
	}
}

// end returns what uses the terminal, and that nothing will any more.
func (t *Terminal) end() front {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.front
}

// A look is what a terminal is found to be.
type look struct {
	way   way
	plain bool // no colours
}

// A way is how a terminal is used.
type way int

const (
	headless way = iota // nobody is there
	lines               // it moves no cursor: questions and answers are lines
	board               // over the whole screen
)

func lookAt(opts *Options) look {
	env := environment(opts.Env)
	found := look{plain: env.get("NO_COLOR") != ""}
	switch {
	case opts.Headless, !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(env.get("CI"))):
	case !term.IsTerminal(opts.In.Fd()), !term.IsTerminal(opts.Out.Fd()), inBackground(opts.In):
	case env.get("TERM") == "", env.get("TERM") == "dumb":
		found.way = lines
	default:
		found.way = board
	}
	return found
}

// An environment is environment variables. The last of one name counts.
type environment []string

func (e environment) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if value, ok := cutName(e[i], name); ok {
			return value
		}
	}
	return ""
}

func cutName(variable, name string) (value string, ok bool) {
	if len(variable) > len(name) && variable[len(name)] == '=' && variable[:len(name)] == name {
		return variable[len(name)+1:], true
	}
	return "", false
}
