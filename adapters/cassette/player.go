package cassette

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/agl/ports"
)

// A player plays one take, in a process of its own, in the program's place.
type player struct {
	control *control
	file    *recording
	take    take
	vars    *variables
	dir     string

	over bool   // done was called
	seen []bool // of the take's events, those from the adapter that have come
	pos  int    // the event that is next
	come chan arrival
}

// An arrival is something from the adapter: a frame, the input's end, or a signal.
type arrival struct {
	frame  frame
	closed bool
	signal string
}

// play plays one take, and ends as the program did.
func (c *control) play(program string) {
	file, err := read(c.Play)
	if err != nil {
		c.problem(0, err.Error())
		os.Exit(failed)
	}
	p := &player{control: c, file: file, vars: newVariables(file.header.Volatile, program), come: make(chan arrival, 1<<16)}
	p.dir, _ = os.Getwd()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, ending...)
	outlivePipes()
	go func() {
		for s := range signals {
			p.come <- arrival{signal: nameOf(s)}
		}
	}()
	p.choose()
	go p.listen()
	p.run()
}

// choose takes the first take that is not played and begins as this process
// was started.
func (p *player) choose() {
	got := start(os.Args[1:], recorded(p.control.Env))
	n, out, err := p.control.claim(len(p.file.takes), func(n int) bool {
		return p.vars.trial().matches(p.file.takes[n-1].start(), got)
	})
	if err != nil {
		p.control.problem(0, err.Error())
		os.Exit(failed)
	}
	if n > 0 {
		out.Close()
		p.take = p.file.takes[n-1]
		p.vars.matches(p.take.start(), got)
		p.seen = make([]bool, len(p.take.events))
		return
	}
	text := fmt.Sprintf("%s: the program is started once more than in the recording, in which it is %d times", p.control.Play, len(p.file.takes))
	for i, t := range p.file.takes {
		if _, err := os.Stat(p.control.path("take", i+1)); errors.Is(err, os.ErrNotExist) {
			text = fmt.Sprintf("%s: the program is started in another way than in the recording, take %d (-recorded +started):\n%s", p.control.Play, i+1, p.diff(t.start(), got))
			break
		}
	}
	p.control.problem(0, text)
	os.Exit(failed)
}

// start is a program's start, to be compared.
func start(args []string, env map[string]string) any {
	list, vars := make([]any, len(args)), make(map[string]any, len(env))
	for i, arg := range args {
		list[i] = arg
	}
	for name, value := range env {
		vars[name] = value
	}
	return map[string]any{"args": list, "env": vars}
}

func (t take) start() any { return start(t.Args, t.Env) }

func (p *player) diff(want, got any) string { return clip(cmp.Diff(p.vars.shown(want), got)) }

// clip shortens what nobody reads to its end.
func clip(text string) string {
	if len(text) > 8000 {
		return strings.ToValidUTF8(text[:8000], "") + "\n…"
	}
	return text
}

// listen reads what the adapter writes, so that it need never wait.
func (p *player) listen() {
	frames := newFrameReader(p.file.header.Framing, os.Stdin)
	for {
		f, err := frames.next()
		if len(f.raw) > 0 {
			p.come <- arrival{frame: f}
		}
		if err != nil {
			p.come <- arrival{closed: true}
			return
		}
	}
}

// run plays the events in their order: what came from the program is said, and
// what came from the adapter is waited for.
func (p *player) run() {
	last := int64(0)
	for p.pos = 0; p.pos < len(p.take.events); p.pos++ {
		e := p.take.events[p.pos]
		if p.onlyToBeKilled() {
			p.done() // afterwards nothing can be said
		}
		switch {
		case e.Exit != nil || e.Killed != "":
			p.pace(e.At - last)
			p.done()
			if e.Exit != nil {
				end(*e.Exit, "")
			}
			end(128, e.Killed)
		case e.fromAdapter():
			p.await(e)
		default:
			p.pace(e.At - last)
			p.say(e)
		}
		last = e.At
	}
}

// onlyToBeKilled reports whether nothing more has to come from the adapter but a
// SIGKILL, which may come while the last is being said.
func (p *player) onlyToBeKilled() bool {
	for i, e := range p.take.events[p.pos:] {
		switch {
		case e.Signal == "SIGKILL":
			return true
		case e.fromAdapter() && !p.seen[p.pos+i]:
			return false
		}
	}
	return false
}

// fromAdapter reports whether the event came from the adapter.
func (e event) fromAdapter() bool {
	return e.In != nil || e.InText != nil || e.Closed || e.Signal != ""
}

// pace waits as long as the program took, at the speed that is asked for.
func (p *player) pace(ms int64) {
	if p.control.Speed > 0 && ms > 0 {
		time.Sleep(time.Duration(float64(ms) / p.control.Speed * float64(time.Millisecond)))
	}
}

// say does what the program did. Nobody may be there to read it any more.
func (p *player) say(e event) {
	var err error
	var doc []byte
	var text string
	switch {
	case e.Out != nil:
		if doc, err = p.vars.message(e.Out); err == nil {
			_, _ = os.Stdout.Write(p.file.header.Framing.framed(doc))
		}
	case e.OutText != nil:
		if text, err = p.vars.render(*e.OutText); err == nil {
			_, _ = os.Stdout.WriteString(text)
		}
	case e.Err != nil:
		if text, err = p.vars.render(*e.Err); err == nil {
			_, _ = os.Stderr.WriteString(text)
		}
	default:
		err = e.write(p.dir, p.vars)
	}
	if err != nil {
		p.fail(err.Error())
	}
}

// await waits until what is next in the recording has come from the adapter.
func (p *player) await(e event) {
	gap := time.Duration(e.At) * time.Millisecond
	if p.pos > 0 {
		gap -= time.Duration(p.take.events[p.pos-1].At) * time.Millisecond
	}
	patience := p.control.Patience + 2*gap
	late := time.NewTimer(patience)
	defer late.Stop()
	for !p.seen[p.pos] {
		select {
		case a := <-p.come:
			p.accept(a)
		case <-late.C:
			p.fail(fmt.Sprintf("after %v there still has not come: %s", patience, p.describe(e)))
		}
	}
}

// accept finds what has come in the recording: any event that has not come yet,
// for what an adapter does at once comes in any order.
func (p *player) accept(a arrival) {
	switch {
	case a.closed:
		for i := p.pos; i < len(p.take.events); i++ {
			e := p.take.events[i]
			switch {
			case e.Closed:
				p.seen[i] = true
			case e.Signal != "":
				return
			case e.fromAdapter() && !p.seen[i]:
				p.fail("the input is closed, and there has not come: " + p.describe(e))
			}
		}
	case a.signal != "":
		for i := p.pos; i < len(p.take.events); i++ {
			if e := p.take.events[i]; e.Signal == a.signal && !p.seen[i] {
				p.seen[i] = true
				p.forgive()
				return
			}
		}
		p.fail(fmt.Sprintf("it got a %s, which it does not get in the recording", a.signal))
	default:
		p.acceptFrame(a.frame)
	}
}

// forgive waits no more for messages of an adapter that ends the program.
func (p *player) forgive() {
	for i := p.pos; i < len(p.take.events); i++ {
		if p.take.events[i].Signal == "" {
			p.seen[i] = true
		}
	}
}

func (p *player) acceptFrame(f frame) {
	var got any = string(f.raw)
	if f.message != nil {
		var err error
		if got, err = decode(f.message); err != nil {
			p.fail(err.Error())
		}
	}
	next := any(nil) // what was to come
	for i := p.pos; i < len(p.take.events); i++ {
		e := p.take.events[i]
		if p.seen[i] || e.In == nil && e.InText == nil || (e.In != nil) != (f.message != nil) {
			continue
		}
		want := e.input()
		if p.vars.matches(want, got) {
			p.seen[i] = true
			return
		}
		if next == nil {
			next = want
		}
	}
	if next == nil {
		p.fail("it was sent more than in the recording: " + clip(string(f.raw)))
	}
	p.fail("it was sent something else than in the recording (-recorded +sent):\n" + p.diff(next, got))
}

// input is what the adapter sent, to be compared.
func (e event) input() any {
	if e.InText != nil {
		return *e.InText
	}
	doc, _ := decode(e.In) // it was looked at when the file was read
	return doc
}

func (p *player) describe(e event) string {
	switch {
	case e.Signal != "":
		return "a " + e.Signal
	case e.Closed:
		return "the end of the input"
	default:
		return ports.Clip(string(encode(p.vars.shown(e.input()))), 2000)
	}
}

// done says that the take was played to its end.
func (p *player) done() {
	if p.over {
		return
	}
	p.over = true
	_ = os.WriteFile(p.control.path("done", p.take.Take), nil, 0o600)
}

// fail ends the playing: the test tells what went wrong.
func (p *player) fail(text string) {
	at := int64(0)
	if p.pos < len(p.take.events) {
		at = p.take.events[p.pos].At
	}
	p.control.problem(p.take.Take, fmt.Sprintf("%s, take %d, at %d ms: %s", p.control.Play, p.take.Take, at, text))
	os.Exit(failed)
}
