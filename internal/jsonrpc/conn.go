// Package jsonrpc is one end of a connection on which two programs call each
// other by JSON-RPC 2.0, as the programs of vendors do on their live channels.
package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"example.com/agl/internal/jsonlines"
)

// ErrEnded is the error of a call whose connection has ended before its answer.
var ErrEnded = errors.New("the connection has ended")

// Options say how a connection is spoken on.
type Options struct {
	Framing Framing // the zero value: Lines(0)
	Bare    bool    // messages have no member "jsonrpc"

	// Prefix makes texts of the ids of calls, "agl-1": in a recording those are told
	// from other numbers, whatever the order of calls that are made at once. "": they
	// are numbers.
	Prefix string

	Handle Handler // answers the other side's requests, several at once

	// Notified takes the other side's notifications, in the order in which they
	// came among its answers, in the goroutine that reads: while it runs nothing
	// else is read, so that it must not wait for a Call.
	Notified func(method string, params json.RawMessage)

	// Cancel is how the other side takes a request back. With TellCancel, so does
	// this one when the context of a Call ends.
	Cancel     Cancellation
	TellCancel bool

	// Garbage is told of messages that are JSON and yet none of the protocol's, or
	// answers to nothing, by the goroutine that reads; nil: nobody is.
	Garbage func(doc []byte)
}

// A Conn is one end of a connection. It may be used by several goroutines.
type Conn struct {
	opts   Options
	server Server
	reader Reader

	out      chan []byte   // to be written
	read     chan struct{} // closed when nothing more is read
	written  chan struct{} // closed when nothing more is written
	finished chan struct{} // closed by Finish
	closed   chan struct{} // closed by Close
	finish   sync.Once
	closing  sync.Once
	cancel   context.CancelFunc
	toRead   io.Reader
	readFail error // once read is closed

	mu     sync.Mutex
	calls  map[string]chan message // that wait for their answers, by id
	nextID int64
}

// New begins to read and to write. The contexts of handlers end with ctx, and
// when the connection ends. If w is an io.Closer it is closed when nothing more
// is to be written.
func New(ctx context.Context, r io.Reader, w io.Writer, opts Options) *Conn {
	if opts.Framing.reader == nil {
		opts.Framing = Lines(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &Conn{
		opts: opts, reader: opts.Framing.NewReader(r), toRead: r, cancel: cancel,
		server: Server{Handle: opts.Handle, Notified: opts.Notified, Cancel: opts.Cancel, Bare: opts.Bare},
		out:    make(chan []byte, 64), read: make(chan struct{}), written: make(chan struct{}),
		finished: make(chan struct{}), closed: make(chan struct{}), calls: make(map[string]chan message),
	}
	go c.readAll(ctx)
	go c.writeAll(w)
	return c
}

func (c *Conn) readAll(ctx context.Context) {
	defer close(c.read)
	defer c.cancel()
	for {
		doc, err := c.reader.Next()
		if err != nil {
			c.readFail = err
			return
		}
		switch m, ok := parse(doc); {
		case m.Method != "":
			c.server.take(ctx, m, func(answer []byte) {
				if answer != nil {
					_ = c.send(context.Background(), answer)
				}
			})
		case !ok || !c.answered(m):
			if c.opts.Garbage != nil {
				c.opts.Garbage(doc)
			}
		}
	}
}

// answered passes an answer on to its call, if there is one.
func (c *Conn) answered(m message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.calls[key(m.ID)]
	if call == nil {
		return false
	}
	delete(c.calls, key(m.ID))
	call <- m // has room for one
	return true
}

// writeAll passes on what is to be written. A program that does not read holds
// up this goroutine alone.
func (c *Conn) writeAll(w io.Writer) {
	defer close(c.written)
	if closer, ok := w.(io.Closer); ok {
		defer closer.Close()
	}
	write := func(doc []byte) bool {
		_, err := w.Write(c.opts.Framing.frame(doc))
		return err == nil
	}
	for {
		select {
		case doc := <-c.out:
			if !write(doc) {
				return
			}
		case <-c.finished:
			for len(c.out) > 0 { // nobody else takes from it
				if !write(<-c.out) {
					return
				}
			}
			return
		case <-c.closed:
			return
		}
	}
}

// send has a message written. The error is ErrEnded if it cannot be any more, or
// the context's.
func (c *Conn) send(ctx context.Context, doc []byte) error {
	for _, over := range []<-chan struct{}{c.finished, c.closed, c.written, c.read} {
		select {
		case <-over:
			return ErrEnded
		default:
		}
	}
	select {
	case c.out <- doc:
		return nil
	case <-c.finished:
	case <-c.closed:
	case <-c.written:
	case <-c.read: // whoever speaks no more hears nothing either
	case <-ctx.Done():
		return ctx.Err()
	}
	return ErrEnded
}

// Call calls a method of the other side, and unmarshals its result into result
// unless that is nil. The error is an *Error if the other side gave one, wraps
// ErrEnded if the connection ended first, or is the context's.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.nextID++
	id := strconv.FormatInt(c.nextID, 10)
	if c.opts.Prefix != "" {
		id = strconv.Quote(c.opts.Prefix + id)
	}
	c.calls[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	doc, err := c.encode(json.RawMessage(id), method, params)
	if err != nil {
		return err
	}
	if err := c.send(ctx, doc); err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	var m message
	select {
	case m = <-answer:
	case <-ctx.Done():
		if c.opts.TellCancel {
			_ = c.Notify(context.WithoutCancel(ctx), c.opts.Cancel.Method, map[string]any{c.opts.Cancel.ID: json.RawMessage(id)})
		}
		return fmt.Errorf("calling %s: %w", method, ctx.Err())
	case <-c.read:
		select {
		case m = <-answer: // it was the last that came
		default:
			return fmt.Errorf("calling %s: %w", method, ErrEnded)
		}
	}
	if len(m.Error) > 0 && string(m.Error) != "null" {
		return failure(m.Error)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("calling %s: reading its result: %w", method, err)
	}
	return nil
}

// Notify tells the other side something.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	doc, err := c.encode(nil, method, params)
	if err != nil {
		return err
	}
	return c.send(ctx, doc)
}

func (c *Conn) encode(id json.RawMessage, method string, params any) ([]byte, error) {
	m := message{ID: id, Method: method}
	if params != nil {
		doc, err := json.Marshal(params)
		if err != nil {
			return nil, fmt.Errorf("writing the params of %s: %w", method, err)
		}
		m.Params = doc
	}
	return encode(m, c.opts.Bare)
}

// Finish says that nothing more will be written: what was is, and then the
// writer is closed. The other side may go on.
func (c *Conn) Finish() { c.finish.Do(func() { close(c.finished) }) }

// Done is closed when nothing more is read, and all that was read was taken.
func (c *Conn) Done() <-chan struct{} { return c.read }

// Err returns why nothing more is read, io.EOF if the stream came to its end. It
// is called once Done is closed.
func (c *Conn) Err() error { return c.readFail }

// Skipped returns what was got over. It is called once Done is closed.
func (c *Conn) Skipped() jsonlines.Skipped { return c.reader.Skipped() }

// Running returns how many requests of the other side were not replied to.
func (c *Conn) Running() int { return c.server.Running() }

// Close ends the connection, and returns when nothing more is read and every
// handler has returned. The reader is closed if it is an io.Closer; otherwise its
// stream has to end. A write that the other side does not take stays until that
// has ended.
func (c *Conn) Close() {
	c.closing.Do(func() {
		close(c.closed)
		c.cancel()
		if closer, ok := c.toRead.(io.Closer); ok {
			closer.Close()
		}
	})
	<-c.read
	c.server.Wait()
}
