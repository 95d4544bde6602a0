package cassette

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"strings"
	"sync"
	"time"
)

// A recorder stands between an adapter and the program, in a process of its
// own, and writes down what passes. The program is started as this process's
// child, in its group: what is sent to the group reaches both, and what ends
// the one ends the other.
type recorder struct {
	control *control
	redact  *redactor
	began   time.Time
	dir     string
	take    int

	mu    sync.Mutex
	out   *os.File
	files snapshot // nil: files are not recorded

	failing sync.Mutex
	bad     error // what the recording failed on; the program runs on
}

// linger is how long a program's output may be held open after its end.
const linger = 500 * time.Millisecond

// record records one start of the program, and ends as it did.
func (c *control) record() {
	n, out, err := c.claim(maxTakes, func(int) bool { return true })
	if err != nil || n == 0 {
		c.problem(0, "no file could be made for the recording")
		os.Exit(failed)
	}
	r := &recorder{control: c, redact: newRedactor(c.Record, c.Secrets, c.Header.Volatile), began: time.Now(), out: out, take: n}
	r.dir, _ = os.Getwd()
	if c.Header.Files {
		r.files, err = takeSnapshot(r.dir)
		r.fail(err)
	}
	t := take{Take: n, Args: []string{}, Env: map[string]string{}}
	for _, arg := range os.Args[1:] {
		t.Args = append(t.Args, r.redact.text(arg))
	}
	for name, value := range recorded(c.Env) {
		t.Env[name] = r.redact.text(value)
	}
	r.line(t)
	r.run()
}

// recorded returns the variables of this process's environment whose names
// match a pattern.
func recorded(patterns []string) map[string]string {
	env := make(map[string]string)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		for _, pattern := range patterns {
			if ok, _ := path.Match(pattern, name); ok {
				env[name] = value
			}
		}
	}
	return env
}

// run runs the program, and ends this process as it ended.
func (r *recorder) run() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, ending...)
	outlivePipes()
	cmd := exec.Command(r.control.Record, os.Args[1:]...)
	stdin, errIn := cmd.StdinPipe()
	stdout, errOut := cmd.StdoutPipe()
	stderr, errErr := cmd.StderrPipe()
	err := errors.Join(errIn, errOut, errErr)
	if err == nil {
		bind(cmd)
		err = cmd.Start()
	}
	if err != nil {
		r.control.problem(r.take, err.Error())
		os.Exit(failed)
	}
	go r.input(stdin)
	go func() {
		for s := range signals {
			r.add(event{Signal: nameOf(s)})
		}
	}()
	var outputs sync.WaitGroup
	outputs.Go(func() { r.output(stdout) })
	outputs.Go(func() { r.errors(stderr) })
	ended := make(chan struct{})
	go func() {
		state, _ := cmd.Process.Wait()
		cmd.ProcessState = state
		close(ended)
	}()
	read := make(chan struct{})
	go func() { outputs.Wait(); close(read) }()
	<-ended
	select {
	case <-read:
	case <-time.After(linger):
	}
	if name := killedBy(cmd.ProcessState); name != "" {
		r.add(event{Killed: name})
	} else {
		code := cmd.ProcessState.ExitCode()
		r.add(event{Exit: &code})
	}
	r.mu.Lock() // nothing more is written
	r.failing.Lock()
	if r.bad != nil {
		r.control.problem(r.take, "it could not be recorded: "+r.bad.Error())
	}
	end(cmd.ProcessState.ExitCode(), killedBy(cmd.ProcessState))
}

// input passes on what the adapter writes: it is written down first, so that
// nothing that comes of it is before it.
func (r *recorder) input(stdin io.WriteCloser) {
	defer stdin.Close()
	frames := newFrameReader(r.control.Header.Framing, os.Stdin)
	for {
		f, err := frames.next()
		switch {
		case f.message != nil:
			r.add(event{In: f.message})
		case len(f.raw) > 0:
			r.add(event{InText: text(f.raw)})
		}
		if err == nil || errors.Is(err, io.EOF) {
			_, _ = stdin.Write(f.raw) // the program may have ended
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.fail(err)
			}
			r.add(event{Closed: true})
			return
		}
	}
}

// output passes on what the program writes, written down first as well.
func (r *recorder) output(stdout io.Reader) {
	frames := newFrameReader(r.control.Header.Framing, stdout)
	for {
		f, err := frames.next()
		switch {
		case f.message != nil:
			r.add(event{Out: f.message})
		case len(f.raw) > 0:
			r.add(event{OutText: text(f.raw)})
		}
		_, _ = os.Stdout.Write(f.raw) // nobody may be there to read it
		if err != nil {
			if errors.Is(err, errTooLong) {
				r.fail(err)
				_, _ = io.Copy(os.Stdout, frames.src)
			}
			return
		}
	}
}

func (r *recorder) errors(stderr io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := stderr.Read(buf)
		if n > 0 {
			r.add(event{Err: text(buf[:n])})
			_, _ = os.Stderr.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// text is bytes as text: what is not UTF-8 is not kept.
func text(raw []byte) *string {
	s := string(bytes.ToValidUTF8(raw, []byte("\ufffd")))
	return &s
}

// add writes an event down, after what has happened to the files.
func (r *recorder) add(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := time.Since(r.began).Milliseconds()
	if r.files != nil && (e.Out != nil || e.Exit != nil || e.Killed != "") {
		next, err := takeSnapshot(r.dir)
		if err == nil {
			var changes []event
			changes, err = r.files.changes(next, r.dir, r.redact.text)
			for _, change := range changes {
				change.At = at
				r.line(change)
			}
			r.files = next
		}
		r.fail(err)
	}
	e.At = at
	if e.Out != nil && unread(e.Out, r.control.Header.Unread) {
		return
	}
	var err error
	for _, doc := range []*[]byte{(*[]byte)(&e.In), (*[]byte)(&e.Out)} {
		if *doc != nil {
			*doc, err = r.redact.message(quiet(*doc, r.control.Header.Noise))
			r.fail(err)
		}
	}
	for _, s := range []*string{e.InText, e.OutText, e.Err} {
		if s != nil {
			*s = r.redact.text(*s)
		}
	}
	r.line(e)
}

// line writes a line of the file.
func (r *recorder) line(v any) {
	line := encode(v)
	if err := r.redact.leaked(line); err != nil {
		r.fail(err)
		return
	}
	_, err := r.out.Write(line)
	r.fail(err)
}

func (r *recorder) fail(err error) {
	r.failing.Lock()
	defer r.failing.Unlock()
	if r.bad == nil {
		r.bad = err
	}
}
