package vendorprog

import "time"

// A Watch notices that a program has been silent for too long. A tool that it
// called may take any time: a person may be asked. All but Replied is for one
// goroutine.
type Watch struct {
	limit   time.Duration
	timer   *time.Timer
	running func() int
	replied chan struct{}
}

// NewWatch begins to watch. running says how many tools run.
func NewWatch(limit time.Duration, running func() int) *Watch {
	return &Watch{limit: limit, timer: time.NewTimer(limit), running: running, replied: make(chan struct{}, 1)}
}

// Stop ends it.
func (w *Watch) Stop() { w.timer.Stop() }

// Seen says that the program was seen at work.
func (w *Watch) Seen() { w.timer.Reset(w.limit) }

// Replied says that a tool has returned: the program has its time from here on.
func (w *Watch) Replied() {
	select {
	case w.replied <- struct{}{}:
	default: // it was not taken note of yet that another has
	}
}

// Replies receives when a tool has returned, which is to be Seen.
func (w *Watch) Replies() <-chan struct{} { return w.replied }

// C receives when nothing was seen for the limit. Whether the program is to
// blame, Silent says.
func (w *Watch) C() <-chan time.Time { return w.timer.C }

// Silent reports whether the program was not waiting for a tool.
func (w *Watch) Silent() bool {
	if w.running() > 0 {
		return false
	}
	select {
	case <-w.replied:
		return false
	default:
		return true
	}
}
