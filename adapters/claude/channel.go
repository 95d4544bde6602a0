package claude

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"example.com/agl/internal/jsonlines"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendorprog"
)

// A channel is a running program and the lines in both directions.
type channel struct {
	*vendorprog.Process
	lines chan *message // closed when the program has ended and all was read
	out   chan []byte   // to be written
	over  chan struct{} // closed when nothing more is to be written
	deaf  chan struct{} // closed when the program has read nothing for too long
	quit  chan struct{} // closed when no line is wanted any more

	ctx      context.Context // the turn's
	patience time.Duration   // with a program that does not read
	hears    sync.Once       // closes deaf

	skipped jsonlines.Skipped // once lines is closed
}

// open starts the program. It is ended by close, and by nothing else.
func open(ctx context.Context, cmd *proc.Cmd, patience time.Duration) *channel {
	c := &channel{
		Process: vendorprog.Start(cmd), lines: make(chan *message), out: make(chan []byte, 64),
		over: make(chan struct{}), deaf: make(chan struct{}), quit: make(chan struct{}), ctx: ctx, patience: patience,
	}
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
			if _, err := c.Stdin.Write(line); err != nil {
				return
			}
		case <-c.over:
			for len(c.out) > 0 { // nobody else takes from it
				if _, err := c.Stdin.Write(<-c.out); err != nil {
					return
				}
			}
			return
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

// send has a line written. It waits for a program that does not read what it has
// asked for, but no longer than the turn is wanted, or than its patience lasts:
// the program is deaf then.
func (c *channel) send(v fields) {
	line, err := json.Marshal(v)
	if err != nil {
		return // an id in it is nested as deep as JSON may be: the program has no use for an answer
	}
	line = append(line, '\n')
	select {
	case c.out <- line:
		return
	default:
	}
	late := time.NewTimer(c.patience)
	defer late.Stop()
	select {
	case c.out <- line:
	case <-c.Gone():
	case <-c.ctx.Done():
	case <-c.deaf:
	case <-late.C:
		c.hears.Do(func() { close(c.deaf) })
	}
}

// closeInput tells the program that nothing more will come. It is called once.
func (c *channel) closeInput() { close(c.over) }

// close ends the program if it runs, and returns when it has ended.
func (c *channel) close() {
	close(c.quit)
	c.End()
	for range c.lines {
	}
}
