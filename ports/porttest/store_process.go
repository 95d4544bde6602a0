package porttest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"

	"example.com/agl/ports"
)

// An order is what the suite tells another process to do: to lock a run, or to
// write documents in a run's document, one after the other.
type order struct {
	Label    string `json:"label"`
	Lock     bool   `json:"lock,omitempty"`
	Name     string `json:"name,omitempty"`
	Docs     []byte `json:"docs,omitempty"`    // each byte a document, which repeats it
	Repeat   int    `json:"repeat,omitempty"`  // the length of a document
	Forever  bool   `json:"forever,omitempty"` // the documents over and over, until it is killed
	Volatile bool   `json:"volatile,omitempty"`
}

// ServeStore does with s what the suite of the process that started this one
// says on in, and answers on out. It returns when in ends: what the command of
// StoreOptions.Process runs, in TestMain for instance.
func ServeStore(s ports.Store, in io.Reader, out io.Writer) error {
	answer := json.NewEncoder(out)
	for orders := json.NewDecoder(in); ; {
		var o order
		switch err := orders.Decode(&o); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("reading an order: %w", err)
		}
		if err := o.obey(s, answer); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
	}
}

// obey carries out an order and answers once for a lock, once for each
// document.
func (o order) obey(s ports.Store, answer *json.Encoder) error {
	reply := func(err error) error {
		if err != nil {
			return answer.Encode(err.Error())
		}
		return answer.Encode("")
	}
	ctx := context.Background()
	if o.Lock {
		_, err := s.Lock(ctx, o.Label) // for as long as the process lives
		return reply(err)
	}
	for again := true; again; again = o.Forever {
		for _, b := range o.Docs {
			err := s.Write(ctx, o.Label, o.Name, document(b, o.Repeat), ports.Durability(!o.Volatile))
			if err := reply(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// document returns what an order writes for a byte.
func document(b byte, repeat int) []byte {
	doc := make([]byte, repeat*int(b-'a'+1))
	for i := range doc {
		doc[i] = b
	}
	return doc
}

// A process is another one, over the state of a store.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Scanner
}

// process starts another process over the state of s.
func (s *store) process(c *check) *process {
	c.needs(s.opts.Process != nil, "StoreOptions.Process")
	p := &process{cmd: s.opts.Process(c, s.Store)}
	var err error
	p.in, err = p.cmd.StdinPipe()
	c.must(err, "the input of another process")
	out, err := p.cmd.StdoutPipe()
	c.must(err, "the output of another process")
	p.answers = bufio.NewScanner(out)
	c.must(p.cmd.Start(), "starting another process")
	c.Cleanup(p.kill)
	return p
}

// kill ends the process without a chance to clean up.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.in.Close()
}

// order has the process do something, and waits for some answers.
func (p *process) order(c *check, o order, answers int) {
	doc, err := json.Marshal(o)
	c.must(err, "writing an order")
	_, err = p.in.Write(append(doc, '\n'))
	c.must(err, "ordering another process")
	c.soon("an order to another process", func() {
		for range answers {
			var failed string
			if !p.answers.Scan() {
				c.Fatalf("another process has ended: %v", p.answers.Err())
			}
			if err := json.Unmarshal(p.answers.Bytes(), &failed); err != nil || failed != "" {
				c.Fatalf("another process: %s%v", p.answers.Text(), err)
			}
		}
	})
	if c.Failed() {
		c.FailNow()
	}
}
