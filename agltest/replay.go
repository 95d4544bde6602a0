package agltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/agl"
	"example.com/agl/ports"
)

// Replay proves that a resume of the finished run asks for what is recorded,
// in that order, and for nothing else. It resumes several times, each in a
// fresh engine with the workflow's goroutines in another order, on one
// processor and on many, and, where TestMain calls Main, once in a new
// process, whose package variables are as they were at the start. An agent
// that is started, a person who is asked, a verb that is not recorded, or a record that is not asked
// for fails the test, in Plan's words.
func (h *Harness) Replay(def agl.Definition) {
	h.t.Helper()
	run := h.journal().Run
	switch run.State {
	case agl.StateDone, agl.StateStopped, agl.StateFailed:
	default:
		h.t.Fatalf("agltest: Replay wants a run that has ended, and this one is %s", run.State)
	}
	nth := count(h.t, &replays)
	if in := child(); in != nil {
		in.replay(h, def, nth)
		return
	}
	for _, o := range orders {
		if err := h.replay(def, run, o); err != nil {
			h.t.Errorf("agltest: replay %s: %v", o, err)
			return
		}
	}
	if err := h.replayElsewhere(nth); err != nil {
		h.t.Errorf("agltest: replay in a new process: %v", err)
	}
}

// An order is one way in which goroutines take turns.
type order struct {
	seed  uint64
	procs int // GOMAXPROCS; 0: as it is
}

func (o order) String() string {
	if o.procs == 0 {
		return fmt.Sprintf("with seed %d", o.seed)
	}
	return fmt.Sprintf("with seed %d, GOMAXPROCS=%d", o.seed, o.procs)
}

var orders = []order{
	{seed: 1},
	{2, 1},
	{3, 1},
	{4, 1},
	{5, 1},
	{6, 8},
	{7, 8},
	{8, 8},
}

// procs is held by the replay that has set GOMAXPROCS, of which the process
// has one.
var procs sync.Mutex

// noise has goroutines in everybody's way, until what it returns is called: so
// the scheduler does not start a workflow's in the same order each time.
func noise() (quiet func()) {
	var over atomic.Bool
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for !over.Load() {
				runtime.Gosched()
			}
		})
	}
	return func() { over.Store(true); group.Wait() }
}

// replay plans and resumes the run once.
func (h *Harness) replay(def agl.Definition, run agl.RunInfo, o order) error {
	if o.procs > 0 {
		procs.Lock()
		defer procs.Unlock()
		was := runtime.GOMAXPROCS(o.procs)
		defer func() {
			runtime.GOMAXPROCS(was)
			if os.Getenv("GOMAXPROCS") == "" {
				runtime.SetDefaultGOMAXPROCS() // it follows the machine again
			}
		}()
	}
	defer noise()()
	var plan agl.Plan
	_, err := h.live(process{yield: yielder(o.seed)}, func(ctx context.Context, e *agl.Engine) (err error) {
		plan, err = e.Plan(ctx, h.Label, def)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(plan.Retries) > 0:
		return fmt.Errorf("the run ended in a recorded failure (%s), which a resume tries again: there is nothing to replay", plan.Retries[0])
	}
	if err := faithful(plan); err != nil {
		return err
	}
	l, err := h.live(process{yield: yielder(o.seed), replays: true}, func(ctx context.Context, e *agl.Engine) error {
		return e.Resume(ctx, h.Label, def, nil)
	})
	if len(l.missed) > 0 {
		return fmt.Errorf("it asked for what is not recorded: %s", strings.Join(l.missed, "; "))
	}
	if got := message(err); got != run.Error {
		return fmt.Errorf("it ended with %q, and the run with %q", got, run.Error)
	}
	return nil
}

// message is what is recorded of an error.
func message(err error) string {
	if err == nil {
		return ""
	}
	return ports.FailureOf(err).Message
}

// faithful says where a plan is not what is recorded and no more.
func faithful(plan agl.Plan) error {
	var wrong []string
	for _, ns := range plan.Namespaces {
		if ns.Miss != nil || len(ns.Unreached) > 0 {
			wrong = append(wrong, ns.String())
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}
