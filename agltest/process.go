package agltest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/agl"
)

// A start is how a process was started, before its tests changed its folder
// and its environment.
type start struct {
	dir string
	env []string
}

// thisStart is set by Main: the test binary can be started once more, as it
// was.
var thisStart atomic.Pointer[start]

// Main runs a package's tests, and lets Replay resume runs in a new process,
// too: the same binary, which runs the same test again up to that Replay.
//
//	func TestMain(m *testing.M) { agltest.Main(m) }
//
// It defines the flag -update of Golden for a test binary that is started
// without the go command.
func Main(m *testing.M) {
	defineUpdate()
	if dir, err := os.Getwd(); err == nil {
		thisStart.Store(&start{dir, os.Environ()})
	}
	m.Run()
}

// envReplay names the file that tells a process to replay another one's run.
const envReplay = "AGLTEST_REPLAY"

// A handover is what a process that replays a run is given.
type handover struct {
	Test  string          `json:"test"`
	Nth   int             `json:"nth"` // the how manieth Replay of its test
	Store []byte          `json:"store"`
	Repo  json.RawMessage `json:"repo"`

	file string
}

// child returns what this process was started to replay, or nil.
var child = sync.OnceValue(func() *handover {
	file := os.Getenv(envReplay)
	if file == "" {
		return nil
	}
	os.Unsetenv(envReplay) // what this process starts is about nothing
	doc, err := os.ReadFile(file)
	h := &handover{file: file}
	if err == nil {
		err = json.Unmarshal(doc, h)
	}
	if err != nil {
		panic(fmt.Sprintf("agltest: %s: %v", envReplay, err))
	}
	return h
})

// replayElsewhere resumes the run in a new process.
func (h *Harness) replayElsewhere(nth int) error {
	was := thisStart.Load()
	if name := h.t.Name(); was == nil || strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Fuzz") {
		return nil // these cannot be asked for again one by one
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	exported, err := h.store.Export()
	if err != nil {
		return err
	}
	repo, err := h.repo.export()
	if err != nil {
		return err
	}
	doc, err := json.Marshal(handover{Test: h.t.Name(), Nth: nth, Store: exported, Repo: repo})
	if err != nil {
		return err
	}
	file := filepath.Join(h.t.TempDir(), "run.json")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(h.t.Context(), self, h.flags()...)
	cmd.Dir, cmd.Env = was.dir, append(slices.Clone(was.env), envReplay+"="+file)
	cmd.WaitDelay = 10 * time.Second
	out, failed := cmd.CombinedOutput()
	answer, err := os.ReadFile(file + ".answer")
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the test did not come to this Replay there (%v):\n%s", failed, out)
	case err != nil:
		return err
	case len(answer) > 0:
		return errors.New(string(answer))
	}
	return nil
}

// flags are those of the new process: this one's, but for what is about how
// tests are run.
func (h *Harness) flags() []string {
	args := []string{"-test.run=" + exactly(h.t.Name()), "-test.count=1"}
	if t, ok := h.t.(*testing.T); ok {
		if end, ok := t.Deadline(); ok {
			args = append(args, "-test.timeout="+(time.Until(end)*9/10).String()) // it ends before this one has to
		}
	}
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "test.short" || !strings.HasPrefix(f.Name, "test.") && f.Name != "update" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	return append(args, flag.Args()...)
}

// exactly is a pattern of -test.run for one test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// replays counts the Replays of each test that runs, by its name: that is how a
// new process finds the one that it is about.
var replays sync.Map

// ordinal returns the how manieth Replay of its test the next is.
func ordinal(t testing.TB) int {
	n, _ := replays.LoadOrStore(t.Name(), new(atomic.Int64))
	t.Cleanup(func() { replays.Delete(t.Name()) })
	return int(n.(*atomic.Int64).Add(1))
}

// replay resumes the run that was handed over and ends the test, if this is
// the Replay that it is about.
func (in *handover) replay(h *Harness, def agl.Definition, nth int) {
	h.t.Helper()
	if in.Test != h.t.Name() || in.Nth != nth {
		return
	}
	err := h.store.Import(in.Store)
	if err == nil {
		err = h.repo.restore(in.Repo)
	}
	if err == nil {
		err = h.replay(def, h.journal().Run, order{seed: 1})
	}
	if failed := os.WriteFile(in.file+".answer", []byte(message(err)), 0o600); failed != nil {
		h.t.Errorf("agltest: %v", failed)
	}
	h.mu.Lock()
	h.silenced = true
	h.mu.Unlock()
	h.t.SkipNow()
}
