package terminal

import (
	"fmt"
	"reflect"
	"slices"
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
	alike := w.view(f)
	f.broken = w.broken
	w.keepTime(f, now)
	if w.last == nil || !alike || !same(w.last, f) {
		w.last = f
	}
	return w.last
}

// same reports whether two frames are drawn alike, but for what the workflow
// shows. It is called all the time, and reflect would be most of what a run that
// waits costs.
func same(a, b *frame) bool {
	return a.broken == b.broken && a.elapsed == b.elapsed && slices.Equal(a.since, b.since) && sameStatus(&a.status, &b.status)
}

func sameStatus(a, b *ports.Status) bool {
	return a.Usage == b.Usage && slices.Equal(a.Notes, b.Notes) && reflect.DeepEqual(a.Run, b.Run) &&
		slices.EqualFunc(a.Namespaces, b.Namespaces, sameNamespace)
}

func sameNamespace(a, b ports.NamespaceStatus) bool {
	return a.Namespace == b.Namespace && a.Parent == b.Parent && a.Verb == b.Verb && a.Name == b.Name && a.Ordinal == b.Ordinal &&
		a.Activity == b.Activity && a.Session == b.Session && a.Waiting == b.Waiting && a.Since.Equal(b.Since) && a.Records == b.Records &&
		a.Usage == b.Usage && a.Landing == b.Landing && reflect.DeepEqual(a.Verdict, b.Verdict) &&
		reflect.DeepEqual(a.Asking, b.Asking)
}

// view fills in what the workflow shows, and reports whether that is what was
// last drawn. A view that panics, or whose screen cannot be compared, is not
// called again.
func (w *watch) view(f *frame) (alike bool) {
	if w.run.View == nil || w.broken != "" {
		return w.last != nil && !w.last.shown
	}
	defer func() {
		if r := recover(); r != nil {
			w.broken = ports.Clip(fmt.Sprintf("what the workflow shows of itself is not shown any more: it panicked: %v", r), maxLine)
			f.screen, f.shown, alike = ports.Screen{}, false, false
		}
	}()
	f.screen, f.shown = w.run.View(f.status)
	return w.last != nil && f.shown == w.last.shown && f.screen.Equal(w.last.screen)
}

// keepTime fills in how long everything has been going on. The time of what
// waits for a person stands still, so that nothing is drawn meanwhile.
func (w *watch) keepTime(f *frame, now time.Time) {
	waits := waiting(f.status.Namespaces)
	moves, stands := false, false
	f.since = make([]time.Duration, len(waits))
	for i := range waits {
		ns := &f.status.Namespaces[i]
		if ns.Verb == "" {
			continue
		}
		moves, stands = moves || !waits[i], stands || waits[i]
		f.since[i] = elapsed(ns.Since, now)
		if waits[i] && w.last != nil && i < len(w.last.since) { // namespaces keep their places
			if was := &w.last.status.Namespaces[i]; was.Namespace == ns.Namespace && was.Since.Equal(ns.Since) {
				f.since[i] = w.last.since[i]
			}
		}
	}
	end := now
	if !f.status.Run.Ended.IsZero() {
		end = f.status.Run.Ended
	}
	f.elapsed = elapsed(f.status.Run.Created, end)
	if stands && !moves && w.last != nil {
		f.elapsed = w.last.elapsed
	}
}

// waiting reports of each namespace whether it waits for a person, or for a
// namespace that does.
func waiting(namespaces []ports.NamespaceStatus) []bool {
	waits := make([]bool, len(namespaces))
	at := make(map[string]bool)
	for found := true; found; {
		found = false
		for i := range namespaces {
			ns := &namespaces[i]
			if !waits[i] && (len(ns.Asking) > 0 || ns.Waiting != "" && at[ns.Waiting]) {
				waits[i], at[ns.Namespace], found = true, true, true
			}
		}
	}
	return waits
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
