package terminal

import (
	"fmt"
	"reflect"
	"time"

	"example.com/agl/ports"
)

// A watch is a run that is watched, and what was last drawn of it.
type watch struct {
	run    ports.Watched
	broken string // why its view is not called any more
	last   *frame
}

// next returns the run as it is to be drawn now. The same frame comes back
// while nothing in it has changed.
func (w *watch) next(now time.Time) *frame {
	f := &frame{status: w.run.Status()}
	f.screen, f.shown = w.view(f.status)
	f.broken = w.broken
	w.keepTime(f, now)
	if w.last == nil || !same(w.last, f) {
		w.last = f
	}
	return w.last
}

func same(a, b *frame) bool {
	return a.shown == b.shown && a.broken == b.broken && a.elapsed == b.elapsed && a.screen.Equal(b.screen) &&
		reflect.DeepEqual(a.since, b.since) && reflect.DeepEqual(a.status, b.status)
}

// view returns what the workflow shows. A view that panics is not called again.
func (w *watch) view(s ports.Status) (screen ports.Screen, ok bool) {
	if w.run.View == nil || w.broken != "" {
		return ports.Screen{}, false
	}
	defer func() {
		if r := recover(); r != nil {
			w.broken = ports.Clip(fmt.Sprintf("what the workflow shows of itself is not shown any more: it panicked: %v", r), maxLine)
			screen, ok = ports.Screen{}, false
		}
	}()
	return w.run.View(s)
}

// keepTime fills in how long everything has been going on. The time of what
// waits for a person stands still, so that nothing is drawn meanwhile.
func (w *watch) keepTime(f *frame, now time.Time) {
	namespaces := f.status.Namespaces
	at := make(map[string]int, len(namespaces))
	for i := range namespaces {
		at[namespaces[i].Namespace] = i
	}
	// waits reports whether a namespace waits for a person, or for one that does.
	waits := func(i int) bool {
		for range namespaces {
			ns := &namespaces[i]
			next, ok := at[ns.Waiting]
			switch {
			case len(ns.Asking) > 0:
				return true
			case ns.Waiting == "" || !ok:
				return false
			}
			i = next
		}
		return false
	}
	moves, waiting := false, false
	f.since = make(map[string]time.Duration)
	for i := range namespaces {
		ns := &namespaces[i]
		if ns.Verb == "" {
			continue
		}
		still := waits(i)
		moves, waiting = moves || !still, waiting || still
		since := elapsed(ns.Since, now)
		if still && w.last != nil {
			if was, ok := w.last.since[ns.Namespace]; ok && w.sameVerb(ns) {
				since = was
			}
		}
		f.since[ns.Namespace] = since
	}
	end := now
	if !f.status.Run.Ended.IsZero() {
		end = f.status.Run.Ended
	}
	f.elapsed = elapsed(f.status.Run.Created, end)
	if waiting && !moves && w.last != nil {
		f.elapsed = w.last.elapsed
	}
}

// sameVerb reports whether a namespace was at the same verb when it was last
// drawn.
func (w *watch) sameVerb(ns *ports.NamespaceStatus) bool {
	for i := range w.last.status.Namespaces {
		if was := &w.last.status.Namespaces[i]; was.Namespace == ns.Namespace {
			return was.Since.Equal(ns.Since)
		}
	}
	return false
}

// elapsed returns how long something has been going on, no finer than it is
// drawn.
func elapsed(since, now time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	d := max(0, now.Sub(since))
	if d >= time.Hour {
		return d.Truncate(time.Minute)
	}
	return d.Truncate(time.Second)
}
