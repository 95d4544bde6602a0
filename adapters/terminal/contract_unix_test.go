//go:build unix

package terminal_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/agl/adapters/terminal"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestTheDashboardKeepsTheContractOfTerminal(t *testing.T) {
	t.Parallel()
	porttest.Terminal(t, porttest.TerminalOptions{New: func(t testing.TB) (ports.Terminal, *porttest.Person) {
		p := sit(t, 80, 24)
		return p.at(), p.hand()
	}})
}

func TestTheHeadlessTerminalKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Terminal(t, porttest.TerminalOptions{New: func(t testing.TB) (ports.Terminal, *porttest.Person) {
		nothing, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nothing.Close() })
		at := terminal.New(terminal.Options{In: nothing, Out: nothing, Env: []string{"TERM=xterm"}})
		t.Cleanup(func() { at.Close() })
		return at, nil
	}})
}

var howManyMore = regexp.MustCompile(`\((\d+) more\)`)

// hand returns the person as the suite needs them.
func (p *person) hand() *porttest.Person {
	const pasted, end = "\x1b[200~", "\x1b[201~"
	look := func() string { return p.waits("look", func(string) bool { return true }) }
	return &porttest.Person{
		Screen: look,
		Choose: func(i int) {
			p.reads()
			p.types(strings.Repeat("\x1b[B", i) + "\r")
		},
		Write: func(text string) {
			p.reads()
			if strings.Contains(look(), "in your own words") {
				p.types("\x1b[F\r") // the last entry
			}
			p.types(pasted + text + end + "\r")
		},
		Type: func(text string) {
			p.reads()
			p.types(pasted + text + end)
			p.sees(strings.TrimSpace(text))
		},
		Waiting: func() int {
			screen := look()
			if !strings.Contains(screen, "question ·") {
				return 0
			}
			if more := howManyMore.FindStringSubmatch(screen); more != nil {
				n, _ := strconv.Atoi(more[1])
				return n + 1
			}
			return 1
		},
		Leave:   func() { p.master.Close() },
		Watches: true,
	}
}
