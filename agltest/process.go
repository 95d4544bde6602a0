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
	"example.com/agl/ports"
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
	Test  string `json:"test"`
	Nth   int    `json:"nth"`   // the how manieth Replay of its test
	Which int    `json:"which"` // the how manieth of the test's harnesses that started a run
	// Fresh is whether the run is not started there: its Starts and Resumes
	// return what they did here, so that nothing of it has run in the process
	// that replays it.
	Fresh  bool            `json:"fresh"`
	Ends   []end           `json:"ends"`
	Agents []string        `json:"agents"`
	Store  []byte          `json:"store"`
	Repo   json.RawMessage `json:"repo"`

	file string
}

// An end is what a Start or a Resume came to.
type end struct {
	Crashed bool           `json:"crashed"`
	Failure *ports.Failure `json:"failure"` // nil: it ended well
}

func endOf(err error) end {
	switch {
	case errors.Is(err, ErrCrashed):
		return end{Crashed: true}
	case err != nil:
		return end{Failure: ports.FailureOf(err)}
	}
	return end{}
}

func (e end) err() error {
	switch {
	case e.Crashed:
		return ErrCrashed
	case e.Failure != nil:
		return e.Failure.Err()
	}
	return nil
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
	h.mu.Lock()
	in := handover{Test: h.t.Name(), Nth: nth, Which: h.which, Ends: h.ends, Agents: h.agents, Store: exported, Repo: repo}
	h.mu.Unlock()
	file := filepath.Join(h.t.TempDir(), "run.json")
	var said string
	// Where a test looks at more than the run before it comes to this Replay, the
	// run is started there as well.
	for _, in.Fresh = range []bool{true, false} {
		doc, err := json.Marshal(in)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, doc, 0o600); err != nil {
			return err
		}
		cmd := exec.CommandContext(h.t.Context(), self, h.flags()...)
		cmd.Dir, cmd.Env = was.dir, append(slices.Clone(was.env), envReplay+"="+file)
		cmd.WaitDelay = 10 * time.Second
		out, failed := cmd.CombinedOutput()
		said = fmt.Sprintf("%v:\n%s", failed, out)
		answer, err := os.ReadFile(file + ".answer")
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return err
		case len(answer) > 0:
			return errors.New(string(answer))
		default:
			return nil
		}
	}
	return fmt.Errorf("the test did not come to this Replay there (%s)", said)
}

// began is called when the harness is about to start or resume a run. In a
// process that replays another one's, which was not started here, it returns
// what that came to.
func (h *Harness) began() (err error, elsewhere bool) {
	h.mu.Lock()
	first := h.which == 0 && !h.uncounted
	if first {
		h.which = count(h.t, &starting)
	}
	n := len(h.ends)
	in := child()
	elsewhere = in != nil && in.Fresh && in.Test == h.t.Name() && in.Which == h.which && n < len(in.Ends)
	if elsewhere {
		h.ends, h.agents, h.crashAt = append(h.ends, in.Ends[n]), in.Agents, ""
	}
	h.mu.Unlock()
	if !elsewhere {
		return nil, false
	}
	if first {
		if err := in.take(h); err != nil {
			h.t.Fatalf("agltest: %v", err)
		}
	}
	return in.Ends[n].err(), true
}

// take gives the harness the run that was handed over.
func (in *handover) take(h *Harness) error {
	if err := h.store.Import(in.Store); err != nil {
		return err
	}
	return h.repo.restore(in.Repo)
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

// What is counted for each test that runs, by its name: that is how a new
// process finds what it is about.
var (
	replays  sync.Map // its Replays
	starting sync.Map // its harnesses that have started a run
)

// count returns the how manieth of its test the next is.
func count(t testing.TB, counted *sync.Map) int {
	n, _ := counted.LoadOrStore(t.Name(), new(atomic.Int64))
	t.Cleanup(func() { counted.Delete(t.Name()) })
	return int(n.(*atomic.Int64).Add(1))
}

// replay resumes the run that was handed over and ends the test, if this is
// the Replay that it is about.
func (in *handover) replay(h *Harness, def agl.Definition, nth int) {
	h.t.Helper()
	if in.Test != h.t.Name() || in.Nth != nth {
		return
	}
	err := in.take(h)
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
