package claude

import (
	"encoding/json"

	"example.com/agl/internal/jsonlines"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
)

// A channel is a running program and the lines in both directions.
type channel struct {
	*vendorprog.Process
	lines chan *message // closed when the program has ended and all was read
	out   chan []byte   // to be written; nil: the program's input is closed
	quit  chan struct{} // closed when no line is wanted any more

	skipped jsonlines.Skipped // once lines is closed
}

// open starts the program. It is ended by close, and by nothing else.
func open(cmd *proc.Cmd) *channel {
	c := &channel{Process: vendorprog.Start(cmd), lines: make(chan *message), out: make(chan []byte, 64), quit: make(chan struct{})}
	go c.write()
	go c.read()
	return c
}

// write passes on what is to be written. A program that does not read holds up
// this goroutine alone, until it has ended.
func (c *channel) write() {
	defer c.Stdin.Close()
	for {
		select {
		case line := <-c.out:
			if line == nil {
				return
			}
			if _, err := c.Stdin.Write(line); err != nil {
				return
			}
		case <-c.Gone():
			return
		}
	}
}

func (c *channel) read() {
	defer close(c.lines)
	defer c.Stdout.Close() // the program must not wait for a reader
	r := jsonlines.NewReader(c.Stdout)
	defer func() { c.skipped = r.Skipped() }()
	for {
		line, err := r.Next()
		if err != nil {
			return
		}
		m := new(message)
		// A line of which some part is written in another way is read as far as it
		// goes: the kinds of lines there are grow with each version.
		_ = json.Unmarshal(line, m)
		select {
		case c.lines <- m:
		case <-c.quit:
			return
		}
	}
}

// send has a line written, and reports whether the program was there to read it.
func (c *channel) send(v fields) {
	line, err := json.Marshal(v)
	if err != nil {
		panic("claude: " + err.Error()) // made of strings and JSON alone
	}
	select {
	case c.out <- append(line, '\n'):
	case <-c.Gone():
	}
}

// closeInput tells the program that nothing more will come.
func (c *channel) closeInput() {
	select {
	case c.out <- nil:
	case <-c.Gone():
	}
}

// close ends the program if it runs, and returns when it has ended.
func (c *channel) close() {
	close(c.quit)
	c.End()
	for range c.lines {
	}
}
