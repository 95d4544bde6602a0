package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
)

const (
	// lookEvery is how often it is looked whether a run has changed.
	lookEvery = 100 * time.Millisecond
	// After longQuiet looks at which it had not, it is looked every quietEvery.
	longQuiet  = 20
	quietEvery = 4 * lookEvery
	// framesPerSecond is how often the screen is written at most. Each is a time
	// that the process wakes up, which is all that a run costs that waits.
	framesPerSecond = 10
	// patience is how long an orderly end may take.
	patience = 2 * time.Second
)

// A screen is a terminal of which the whole screen is drawn.
type screen struct {
	t       *Terminal
	program *tea.Program
	out     *output
	in      *input
	found   *term.State // how the terminal was
	ended   chan struct{}
	given   atomic.Bool            // the terminal was given back
	fault   atomic.Pointer[string] // why nothing is drawn any more; nil: it is

	suspended atomic.Bool // from ctrl-z until the screen is drawn again
}

// startBoard begins to draw.
func startBoard(t *Terminal) front {
	s := &screen{t: t, out: &output{File: t.opts.Out}, ended: make(chan struct{})}
	s.in = &input{File: t.opts.In, end: func() { go s.hangUp() }}
	s.found, _ = term.GetState(t.opts.In.Fd())
	m := &model{queue: t.queue, interrupt: s.interrupt, suspend: s.suspend, fell: s.fell, canvas: canvas{plain: t.look.plain, dark: true}}
	opts := []tea.ProgramOption{
		tea.WithInput(s.in), tea.WithOutput(s.out), tea.WithEnvironment(t.opts.Env),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond),
	}
	if t.look.plain {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	s.program = tea.NewProgram(m, opts...)
	go s.run()
	go s.feedQuestions()
	go s.feedRuns()
	go s.continued()
	return s
}

func (s *screen) run() {
	defer close(s.ended)
	defer s.tell()
	defer s.giveBack()
	defer s.t.queue.Close() // whatever ended it, nobody answers any more
	_, _ = s.program.Run()  // it ends by Close, by the end of the input, or by a fault, of which tell tells
}

// fell is for when what draws has panicked: that ends the board, not the process.
func (s *screen) fell(panicked any) {
	text := cleanLine(fmt.Sprintf("the board is not drawn any more: it panicked: %v", panicked))
	s.fault.CompareAndSwap(nil, &text)
	s.t.queue.Close()
}

// tell writes why the board has ended, below what was there before it.
func (s *screen) tell() {
	if fault := s.fault.Load(); fault != nil {
		s.out.write(*fault + "\n")
	}
}

// guard is deferred by what feeds the model.
func (s *screen) guard() {
	if r := recover(); r != nil {
		s.fell(r)
		s.close()
	}
}

// feedQuestions tells the model when the questions have changed. It calls
// nothing of a workflow's, which could keep a person from answering.
func (s *screen) feedQuestions() {
	defer s.guard()
	for {
		select {
		case <-s.ended:
			return
		case <-s.t.queue.Changed():
			s.program.Send(queueMsg{})
		}
	}
}

// feedRuns tells the model how the runs have changed.
func (s *screen) feedRuns() {
	defer s.guard()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var last []*frame
	for quiet := 0; ; quiet++ {
		if quiet == longQuiet {
			ticker.Reset(quietEvery)
		}
		select {
		case <-s.ended:
			return
		case <-ticker.C:
		}
		var frames []*frame
		for _, w := range s.t.watched() {
			frames = append(frames, w.next(s.t.opts.Now()))
		}
		if !slices.Equal(frames, last) {
			if quiet >= longQuiet {
				ticker.Reset(lookEvery)
			}
			last, quiet = frames, 0
			s.program.Send(framesMsg(frames))
		}
	}
}

// interrupt is for when ctrl-c was pressed. Before the second the terminal is
// given back: the process may die of it.
func (s *screen) interrupt(again bool) {
	if again {
		s.restore()
	} else {
		time.Sleep(3 * time.Second / framesPerSecond / 2) // what it is waited for is drawn first
	}
	s.t.opts.Interrupt()
}

// hangUp is for when the input has ended.
func (s *screen) hangUp() {
	s.t.queue.Close()
	s.close()
}

func (s *screen) close() {
	go s.program.Quit() // it may be stuck
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.restore()
	}
}

func (s *screen) restore() {
	if s.given.Load() {
		return
	}
	s.out.shut()
	s.out.write(restoring)
	s.giveBack()
	go s.program.Quit()
	select {
	case <-s.ended: // it may have been about to set up the terminal
	case <-time.After(patience / 10):
	}
}

// restoring undoes whatever the program may have set, in the alternate screen
// and in the other.
var restoring = ansi.ResetModeSynchronizedOutput + ansi.ResetModeUnicodeCore + ansi.ResetModeBracketedPaste +
	ansi.ResetModifyOtherKeys + ansi.PopKittyKeyboard(1) + ansi.ResetStyle +
	ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable

// giveBack sets the terminal as it was found, once. Keys that were pressed for
// the board, and what the terminal itself has said, are no input of the next
// program.
func (s *screen) giveBack() {
	if s.given.Swap(true) || s.found == nil {
		return
	}
	discardInput(s.t.opts.In)
	_ = term.Restore(s.t.opts.In.Fd(), s.found) // the terminal may be gone
}

// An output is the terminal to write to, until it is shut.
type output struct {
	*os.File
	mu   sync.Mutex
	over atomic.Bool
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over.Load() {
		return len(p), nil
	}
	return o.File.Write(p)
}

// WriteString hides the file's, which knows no end.
func (o *output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// ReadFrom hides the file's, which knows no end.
func (o *output) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{o}, r)
}

// shut has everything that is written later dropped. It waits for what is being
// written, but not for long: the terminal may be stopped.
func (o *output) shut() {
	o.over.Store(true)
	for range 20 {
		if o.mu.TryLock() {
			o.mu.Unlock()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// write writes although it is shut, as far as the terminal takes it in time.
func (o *output) write(s string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = o.File.WriteString(s) // the terminal may be gone
	}()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}

// An input is the terminal to read from. It tells of its end, and gives no part
// of a character: the library takes that for one.
type input struct {
	*os.File
	end  func() // called once
	once sync.Once
	held []byte // the beginning of a character
}

func (i *input) Read(p []byte) (int, error) {
	n := copy(p, i.held)
	i.held = i.held[:0]
	read, err := i.File.Read(p[n:])
	if err != nil {
		if !errors.Is(err, cancelreader.ErrCanceled) && !errors.Is(err, os.ErrClosed) {
			i.once.Do(i.end)
		}
		return n, err
	}
	n += read
	whole := n - partial(p[:n])
	i.held = append(i.held, p[whole:n]...)
	return whole, nil
}

// partial returns how many bytes at the end of p begin a character that they do
// not end.
func partial(p []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
		if b := p[len(p)-k]; utf8.RuneStart(b) {
			if b >= 0x80 && !utf8.FullRune(p[len(p)-k:]) {
				return k
			}
			return 0
		}
	}
	return 0
}
