package agltest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	return h.repo.files(h.t, h.head(h.journal().Run))
}

// Commits returns the commits the run has made, the oldest first.
func (h *Harness) Commits() []Commit {
	h.t.Helper()
	run := h.journal().Run
	return h.repo.log(h.t, run.Base, h.head(run))
}

// head returns the commit that the run's branch is at, whatever the records
// say.
func (h *Harness) head(run agl.RunInfo) string {
	h.t.Helper()
	workspaces, _, _ := h.repo.open(h.t)
	at, err := workspaces.Branch(h.t.Context(), run.Branch)
	if err != nil || at == "" {
		h.t.Fatalf("agltest: branch %s: %q, %v", run.Branch, at, err)
	}
	return at
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
	if errors.Is(err, agl.NotFound) {
		h.t.Fatalf("agltest: %v yet: call Start first", err)
	}
	if err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	return j
}

func (h *Harness) status() agl.Status {
	h.t.Helper()
	e := h.engine(&life{h: h})
	defer e.Close()
	s, err := e.Status(h.t.Context(), h.Label)
	if err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	return s
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

// SalvagedFiles returns the files of salvage n, by path: what was in the
// checkout before it was put back.
func (h *Harness) SalvagedFiles(n int) map[string]string {
	h.t.Helper()
	e := h.engine(&life{h: h})
	defer e.Close()
	dir := h.t.TempDir()
	if err := e.WriteSalvage(h.t.Context(), h.Label, n, dir); err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	return files
}

// Events returns what has happened so far, in order, in every process of the
// run.
func (h *Harness) Events() []agl.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]agl.Event(nil), h.events...)
}

// Agents returns the agents that were started so far, in order, as
// "role #ordinal", after its namespace if it is a worktree's.
func (h *Harness) Agents() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.agents...)
}

// Advance moves the clock. It stands still but for a millisecond each time
// that it is read.
func (h *Harness) Advance(d time.Duration) { h.clock.Advance(d) }
