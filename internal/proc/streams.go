package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"time"
)

// streams carry a child's standard streams over pipes of our own. Those of
// os/exec keep its Wait until everybody has closed them, and the group, whose
// members may hold them, is ended only after that Wait.
type streams struct {
	ours   []*os.File
	theirs []*os.File
	feed   func()
	reads  []*os.File // of ours, those that are read
	passes []func() error
	errs   chan error
}

// connect gives cmd its ends.
func (s *streams) connect(cmd *exec.Cmd, c *Cmd) error {
	if c.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.theirs, s.ours = append(s.theirs, r), append(s.ours, w)
		cmd.Stdin = r
		s.feed = func() {
			defer w.Close()
			io.Copy(w, c.Stdin) // a program need not read what it is given
		}
	}
	if c.Stdout != nil {
		w, err := s.output(c.Stdout)
		if err != nil {
			return err
		}
		cmd.Stdout = w
	}
	switch {
	case c.Stderr == nil:
	case same(c.Stdout, c.Stderr):
		cmd.Stderr = cmd.Stdout
	default:
		w, err := s.output(c.Stderr)
		if err != nil {
			return err
		}
		cmd.Stderr = w
	}
	return nil
}

// output returns the child's end of a pipe that leads to dst.
func (s *streams) output(dst io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.ours, s.theirs = append(s.ours, r), append(s.theirs, w)
	s.reads = append(s.reads, r)
	s.passes = append(s.passes, func() error {
		defer r.Close() // a child whose output is no longer wanted must not wait
		if err := pass(dst, r); !errors.Is(err, os.ErrClosed) {
			return err
		}
		return nil
	})
	return w, nil
}

// begin starts copying; the child has its ends.
func (s *streams) begin() {
	closeAll(s.theirs)
	if s.feed != nil {
		go s.feed()
	}
	s.errs = make(chan error, len(s.passes))
	for _, pass := range s.passes {
		go func() { s.errs <- pass() }()
	}
}

// pass passes on what is read. Once the time for that was set (by close) it ends
// when nothing comes for drain: the time that dst takes does not count, and what
// is in the pipe by then is not lost.
func pass(dst io.Writer, r *os.File) error {
	buf := make([]byte, 32<<10)
	late, left := false, pipeSize
	for {
		began := time.Now()
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return err
			}
		}
		if late {
			left -= n
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if time.Since(began) >= drain || left <= 0 {
				return nil
			}
			late = true
			if err := r.SetReadDeadline(began.Add(drain)); err != nil {
				return err
			}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case left <= 0: // somebody outside the group goes on writing
			return nil
		}
	}
}

// pipeSize is the most that a pipe holds.
const pipeSize = 1 << 20

// close waits for the output to end, but not for long, and returns what went
// wrong with passing it on.
func (s *streams) close() error {
	defer closeAll(s.ours)
	for _, r := range s.reads {
		if errors.Is(r.SetReadDeadline(time.Now().Add(drain)), os.ErrNoDeadline) { // there are none on this system
			timer := time.AfterFunc(drain, func() { closeAll(s.ours) }) // which ends the copying
			defer timer.Stop()
			break
		}
	}
	var errs []error
	for range s.passes {
		errs = append(errs, <-s.errs)
	}
	return errors.Join(errs...)
}

// abandon closes everything; there is no child.
func (s *streams) abandon() {
	closeAll(s.ours)
	closeAll(s.theirs)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// same reports whether two writers are one.
func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}
