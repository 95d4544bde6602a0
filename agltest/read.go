package agltest

import (
	"time"

	"example.com/agl"
)

// A Commit is a commit of the run's branch.
type Commit struct {
	ID      string
	Message string
	Paths   []string // what it changed, sorted
}

// Files returns the files of the run's branch, by path.
func (h *Harness) Files() map[string]string {
	h.t.Helper()
	return h.repo.files(h.t, h.journal().Run.Head)
}

// Commits returns the commits the run has made, the oldest first.
func (h *Harness) Commits() []Commit {
	h.t.Helper()
	run := h.journal().Run
	return h.repo.log(h.t, run.Base, run.Head)
}

// Journal returns the live ordered records of the run.
func (h *Harness) Journal() []agl.Record {
	h.t.Helper()
	return h.journal().Records
}

// Run returns what is known of the run: its state, its branch, its error.
func (h *Harness) Run() agl.RunInfo {
	h.t.Helper()
	return h.journal().Run
}

func (h *Harness) journal() agl.Journal {
	h.t.Helper()
	e := h.engine(&life{h: h})
	defer e.Close()
	j, err := e.Journal(h.t.Context(), h.Label)
	if err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	return j
}

// Salvaged returns what was salvaged in the run, in order of number.
func (h *Harness) Salvaged() []agl.Salvage {
	h.t.Helper()
	e := h.engine(&life{h: h})
	defer e.Close()
	list, err := e.Salvaged(h.t.Context(), h.Label)
	if err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	return list
}

// Events returns what has happened so far, in order, in every process of the
// run.
func (h *Harness) Events() []agl.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]agl.Event(nil), h.events...)
}

// Agents returns the agents that were started so far, in order, as
// "role #ordinal".
func (h *Harness) Agents() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.agents...)
}

// Advance moves the clock. It stands still but for a millisecond each time
// that it is read.
func (h *Harness) Advance(d time.Duration) { h.clock.Advance(d) }
