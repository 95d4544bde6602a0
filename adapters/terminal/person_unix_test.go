//go:build unix

package terminal_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"example.com/agl/adapters/terminal"
	"example.com/agl/internal/ptytest"
	"example.com/agl/internal/questions"
	"example.com/agl/ports"
)

// A person is a pseudo-terminal with an emulator at its other end: what a
// person would see, and the keys that they press.
type person struct {
	t      testing.TB
	master *os.File
	tty    *os.File    // where the terminal under test is
	found  *term.State // how that was at first

	mu      sync.Mutex
	emu     *vt.Emulator
	raw     bytes.Buffer  // everything that was written
	changed chan struct{} // closed at each write
	ended   chan struct{} // closed when nothing can be read any more
}

// sit returns a person at a screen of a size.
func sit(t testing.TB, columns, height int) *person {
	t.Helper()
	master, tty := ptytest.Open(t, columns, height)
	p := &person{
		t: t, master: master, tty: tty, emu: vt.NewEmulator(columns, height),
		changed: make(chan struct{}), ended: make(chan struct{}),
	}
	var err error
	p.found, err = term.GetState(tty.Fd())
	require.NoError(t, err)
	go p.read()
	replied := make(chan struct{})
	go func() { // what a terminal answers to questions about itself
		defer close(replied)
		buf := make([]byte, 1<<10)
		for {
			n, err := p.emu.Read(buf)
			if err != nil {
				return
			}
			_, _ = master.Write(buf[:n]) // it may be closed
		}
	}()
	t.Cleanup(func() {
		master.Close() // and so the input of whatever still reads tty, which is closed with the last that does
		<-p.ended
		_ = p.emu.InputPipe().(io.Closer).Close()
		<-replied
	})
	return p
}

func (p *person) setSize(columns, height int) {
	p.t.Helper()
	conn, err := p.master.SyscallConn()
	require.NoError(p.t, err)
	err = conn.Control(func(fd uintptr) {
		require.NoError(p.t, unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(height)}))
	})
	require.NoError(p.t, err)
}

func (p *person) read() {
	defer close(p.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.master.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.raw.Write(buf[:n])
		_, _ = p.emu.Write(buf[:n])
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
		if bytes.Contains(buf[:n], []byte(asksForFrames)) { // which the emulator does not know
			_, _ = p.master.WriteString("\x1b[?2026;2$y")
		}
	}
}

// asksForFrames is what a program writes to learn whether the terminal knows
// beginsFrame, which it writes before what is to be shown at once.
const (
	asksForFrames = "\x1b[?2026$p"
	beginsFrame   = "\x1b[?2026h"
)

// at returns a terminal at which the person sits.
func (p *person) at(env ...string) *terminal.Terminal {
	t := terminal.New(terminal.Options{
		In: p.tty, Out: p.tty, Env: append([]string{"TERM=xterm-256color"}, env...), Interrupt: func() {},
	})
	p.t.Cleanup(func() { t.Close() })
	return t
}

// written returns everything that was written.
func (p *person) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raw.String()
}

// sees waits until a text is on the screen, and returns that.
func (p *person) sees(text string) string {
	p.t.Helper()
	return p.waits("see "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// misses waits until a text is not on the screen, and returns that.
func (p *person) misses(text string) string {
	p.t.Helper()
	return p.waits("see no more "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// waits waits for a screen.
func (p *person) waits(what string, is func(screen string) bool) string {
	p.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		p.mu.Lock()
		screen, changed := p.emu.String(), p.changed
		p.mu.Unlock()
		if is(screen) {
			return screen
		}
		select {
		case <-changed:
		case <-deadline:
			p.t.Fatalf("did not %s; the screen:\n%s", what, screen)
		}
	}
}

// types presses keys.
func (p *person) types(keys string) {
	p.t.Helper()
	_, err := p.master.WriteString(keys)
	require.NoError(p.t, err)
}

// reads waits as long as it takes to see that another question is there.
func (p *person) reads() { <-time.After(questions.Guard + 150*time.Millisecond) }

// resizes changes the size of the screen.
func (p *person) resizes(columns, height int) {
	p.t.Helper()
	p.setSize(columns, height)
	p.mu.Lock()
	p.emu.Resize(columns, height)
	p.mu.Unlock()
	require.NoError(p.t, syscall.Kill(os.Getpid(), syscall.SIGWINCH)) // the kernel tells who has it as the controlling terminal
}

// finds checks that the terminal is as it was found.
func (p *person) finds() {
	p.t.Helper()
	now, err := term.GetState(p.tty.Fd())
	require.NoError(p.t, err)
	require.Equal(p.t, p.found, now, "the modes of the terminal")
	p.isSane()
}

// isSane checks that the screen and the cursor are as they were.
func (p *person) isSane() {
	p.t.Helper()
	p.waits("leave the alternate screen, with a cursor", func(string) bool {
		raw := p.written()
		return last(raw, "\x1b[?1049l") >= last(raw, "\x1b[?1049h") && last(raw, "\x1b[?25h") >= last(raw, "\x1b[?25l") &&
			last(raw, "\x1b[?2004l") >= last(raw, "\x1b[?2004h")
	})
}

// last returns where a sequence was written last; -1 for never.
func last(raw, sequence string) int { return strings.LastIndex(raw, sequence) }

// A result is what a call of Ask returned.
type result struct {
	answer string
	err    error
}

// ask asks in a goroutine.
func ask(ctx context.Context, t *terminal.Terminal, q ports.Question) <-chan result {
	results := make(chan result, 1)
	go func() {
		answer, err := t.Ask(ctx, q)
		results <- result{answer, err}
	}()
	return results
}

// gets waits for a result.
func gets(t testing.TB, results <-chan result) result {
	t.Helper()
	select {
	case r := <-results:
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("no answer")
		return result{}
	}
}
