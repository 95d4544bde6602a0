package engine

import (
	"sync"

	"example.com/agl/ports"
)

// queueLimit is how many events may wait for a slow listener before activity
// and text are dropped. What must not be lost is queued without a limit.
const queueLimit = 4096

// A publisher hands events to one listener, from one goroutine, in order. It
// never waits for the listener.
type publisher struct {
	listener func(ports.Event)
	done     chan struct{}

	mu     sync.Mutex
	wake   *sync.Cond
	queue  []ports.Event
	seq    int64 // of the last event; a dropped one has a number too
	closed bool
}

func newPublisher(listener func(ports.Event)) *publisher {
	p := &publisher{listener: listener, done: make(chan struct{})}
	p.wake = sync.NewCond(&p.mu)
	if listener == nil {
		close(p.done)
		return p
	}
	go p.deliver()
	return p
}

func (p *publisher) publish(e ports.Event) {
	if p.listener == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.seq++
	e.Seq = p.seq
	if len(p.queue) >= queueLimit && droppable(e.What) {
		return
	}
	p.queue = append(p.queue, e)
	p.wake.Signal()
}

func droppable(h ports.Happening) bool {
	switch h.(type) {
	case ports.Activity, ports.Text:
		return true
	}
	return false
}

func (p *publisher) deliver() {
	defer close(p.done)
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && !p.closed {
			p.wake.Wait()
		}
		if len(p.queue) == 0 {
			p.mu.Unlock()
			return
		}
		e := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		p.listener(e)
	}
}

// close delivers what is queued and ends the goroutine.
func (p *publisher) close() {
	p.mu.Lock()
	p.closed = true
	p.wake.Signal()
	p.mu.Unlock()
	<-p.done
}
