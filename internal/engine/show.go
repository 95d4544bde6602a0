package engine

import "example.com/agl/ports"

// A View says what is shown of a run.
type View func(ports.Status) ports.Screen

// Show has the run shown by view, in place of the last one.
func (r *Run) Show(view View) { r.walk.x.view.Store(&view) }

// show shows the run at the terminal, until the function it returns is called.
func (x *execution) show() (stop func()) {
	terminal := x.engine.set.Terminal
	if terminal == nil {
		return func() {}
	}
	return terminal.Watch(ports.Watched{Label: x.label, Status: x.snapshot, View: x.screen})
}

// screen is what the workflow shows of its run at an instant. A view that
// panics is told of, and not called again.
func (x *execution) screen(s ports.Status) (screen ports.Screen, ok bool) {
	view := x.view.Load()
	if view == nil || *view == nil {
		return ports.Screen{}, false
	}
	screen, err := guardPanic(x, "view", func() (ports.Screen, error) { return (*view)(s), nil })
	if err != nil {
		if x.view.CompareAndSwap(view, nil) {
			x.note("", "what the workflow shows of itself is not shown any more: %v", err)
		}
		return ports.Screen{}, false
	}
	return screen, true
}
