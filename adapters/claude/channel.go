package claude

import (
	"context"
	"encoding/json"
	"io"

	"example.com/agl/internal/jsonlines"
	"example.com/agl/internal/proc"
)

// A channel is a running program and the lines in both directions.
type channel struct {
	lines chan *message // closed when the program has ended and all was read
	out   chan []byte   // to be written; nil: the program's input is closed
	gone  chan struct{} // closed when the program has ended
	quit  chan struct{} // closed when no line is wanted any more
	end   context.CancelFunc

	stderr  proc.Tail
	exit    proc.Exit         // once gone is closed
	err     error             // why it could not be started, or its output read; once gone is closed
	skipped jsonlines.Skipped // once lines is closed
}

// open starts the program. It is ended by close, and by nothing else.
func open(cmd *proc.Cmd) *channel {
	ctx, end := context.WithCancel(context.Background())
	c := &channel{
		lines: make(chan *message), out: make(chan []byte, 64),
		gone: make(chan struct{}), quit: make(chan struct{}), end: end,
	}
	stdin, toStdin := io.Pipe()
	fromStdout, stdout := io.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &c.stderr
	go func() {
		c.exit, c.err = cmd.Run(ctx)
		close(c.gone)
		stdin.Close()
		stdout.Close()
	}()
	go c.write(toStdin)
	go c.read(fromStdout)
	return c
}

// write passes on what is to be written. A program that does not read holds up
// this goroutine alone, until it has ended.
func (c *channel) write(stdin *io.PipeWriter) {
	defer stdin.Close()
	for {
		select {
		case line := <-c.out:
			if line == nil {
				return
			}
			if _, err := stdin.Write(line); err != nil {
				return
			}
		case <-c.gone:
			return
		}
	}
}

func (c *channel) read(stdout *io.PipeReader) {
	defer close(c.lines)
	defer stdout.Close() // the program must not wait for a reader
	r := jsonlines.NewReader(stdout)
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
	case <-c.gone:
	}
}

// closeInput tells the program that nothing more will come.
func (c *channel) closeInput() {
	select {
	case c.out <- nil:
	case <-c.gone:
	}
}

// close ends the program if it runs, and returns when it has ended.
func (c *channel) close() {
	close(c.quit)
	c.end()
	for range c.lines {
	}
	<-c.gone
}
