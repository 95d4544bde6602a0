package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/muesli/cancelreader"

	"example.com/agl/internal/questions"
	"example.com/agl/ports"
)

// A dialogue is a terminal that moves no cursor: questions are printed, and an
// answer is a line.
type dialogue struct {
	t      *Terminal
	reader cancelreader.CancelReader
	done   chan struct{}
	ended  chan struct{}
	once   sync.Once

	on      *asking // that was printed last; nil: none
	writing bool    // the next line is a text of one's own, whatever it says
}

// startLines begins to print questions.
func startLines(t *Terminal) front {
	d := &dialogue{t: t, done: make(chan struct{}), ended: make(chan struct{})}
	reader, err := cancelreader.NewReader(t.opts.In)
	if err != nil {
		t.queue.Close()
		close(d.ended)
		return d
	}
	d.reader = reader
	typed := make(chan string)
	go d.read(typed)
	go d.talk(typed)
	return d
}

// read sends the lines that are typed, until the input ends.
func (d *dialogue) read(typed chan<- string) {
	defer close(typed)
	buffered := bufio.NewReader(d.reader)
	for {
		line, err := buffered.ReadString('\n')
		if err != nil {
			return
		}
		select {
		case typed <- strings.TrimRight(line, "\r\n"):
		case <-d.done:
			return
		}
	}
}

// talk puts the questions, one after the other.
func (d *dialogue) talk(typed <-chan string) {
	defer close(d.ended)
	for {
		select {
		case <-d.done:
			return
		case <-d.t.queue.Changed():
			d.swap()
		case line, ok := <-typed:
			if !ok {
				d.t.queue.Close()
				return
			}
			d.answer(line)
		}
	}
}

// swap puts the question that is to be answered next, if it is another.
func (d *dialogue) swap() {
	s, ok := d.t.queue.Shown()
	switch {
	case !ok:
		if d.on != nil {
			d.print("(the question was taken back)")
		}
		d.on = nil
		return
	case d.on != nil && d.on.id == s.ID:
		return
	case d.on != nil:
		discardInput(d.t.opts.In) // it was typed for the other question
		d.print("(another question comes first; a line that you had begun is dropped)")
	}
	d.put(s)
}

func (d *dialogue) put(s questions.Shown) {
	a := newAsking(s)
	d.on, d.writing = a, len(a.labels) == 0
	out := []string{"", a.who() + ":"}
	out = append(out, a.text...)
	for i, label := range a.labels {
		out = append(out, fmt.Sprintf("  %d  %s", i+1, label))
	}
	switch {
	case a.writing:
		out = append(out, "Type your answer and press Enter.")
	case a.q.Free:
		out = append(out, fmt.Sprintf("  %d  in your own words", len(a.labels)+1), "Type a number, or your answer, and press Enter.")
	default:
		out = append(out, "Type a number and press Enter.")
	}
	d.print(out...)
}

// answer takes a line as the answer to the question that was put.
func (d *dialogue) answer(line string) {
	if d.on == nil {
		return
	}
	text := strings.ToValidUTF8(line, "")
	if !d.writing {
		choice := strings.TrimSpace(text)
		n, err := strconv.Atoi(choice)
		options := d.on.q.Options
		last := len(options) // entry
		if d.on.q.Free {
			last++
		}
		switch {
		case slices.Contains(options, text): // it may look like the number of another
		case slices.Contains(options, choice):
			text = choice
		case err == nil && 1 <= n && n <= len(options):
			text = options[n-1]
		case err == nil && n == len(options)+1 && d.on.q.Free:
			d.writing = true
			d.print("Type your answer and press Enter.")
			return
		case choice != "" && (err == nil || !d.on.q.Free):
			d.print(fmt.Sprintf("%q is no option; type 1 to %d", cleanLine(choice), last))
			return
		}
	}
	if strings.TrimSpace(text) == "" {
		d.print(nothingTyped)
		return
	}
	err := d.t.queue.Answer(d.on.id, text)
	switch {
	case err == nil:
		d.on = nil
		d.swap()
	case errors.Is(err, ports.Conflicted):
		d.print("(that was typed while the question changed, and is dropped)")
	default:
		d.print(cleanLine(err.Error()))
	}
}

// print writes lines.
func (d *dialogue) print(lines ...string) {
	_, _ = d.t.opts.Out.WriteString(strings.Join(lines, "\n") + "\n") // the terminal may be gone: then its input ends
}

func (d *dialogue) close() {
	d.restore()
	select {
	case <-d.ended:
	case <-time.After(patience):
	}
}

// restore has nothing to give back: the terminal was left as it was.
func (d *dialogue) restore() {
	d.once.Do(func() {
		close(d.done)
		if d.reader != nil {
			d.reader.Cancel()
		}
	})
}
