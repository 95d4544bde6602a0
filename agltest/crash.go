package agltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"example.com/agl"
	"example.com/agl/internal/intercept"
	"example.com/agl/ports"
)

// CrashEverywhere proves that the workflow survives the death of its process.
// It runs the job once, to find every point at which something is about to
// change: each write of the store, effect in the repository, start and end of
// an agent, file that an agent writes, question and answer, lock, gate. Then, for each point, a
// harness of its own runs the job, dies there (from then on every port refuses
// and changes nothing), and a fresh engine resumes. Two more passes also lose
// what was not synced, as a power cut does, with and without the notes of the
// store that nobody synced.
//
// Each time, the run must end as it did undisturbed: with the same error, the
// same tree and commits, the same records in each namespace, none of them
// unreachable; an agent may have been started twice only if the process died in
// its step, and a person asked twice only before the answer was recorded, or
// about a conflict. Points are subtests, named by namespace, verb, ordinal and
// what was about to be done; they run in parallel. What the workflow starts in
// goroutines takes turns in the same order each time, in memory; they must end
// when the workflow returns.
//
// build makes a harness with its scripts; these must do the same each time.
// Over real git only what git sees is tried, once for each role and call, and
// only the first pass.
func CrashEverywhere(t *testing.T, build func(t *testing.T) *Harness, job agl.Job, def agl.Definition) {
	t.Helper()
	if child() != nil {
		return
	}
	var proof *proof
	bubble(t, build, func(h *Harness, again func() *Harness) {
		var err error
		if proof, err = surveyTwice(h, again, job, def); err != nil {
			h.t.Fatalf("agltest: CrashEverywhere: %v", err) // of the bubble's test: t is its parent
		}
	})
	if proof == nil || t.Failed() {
		return
	}
	for _, pass := range proof.passes() {
		t.Run(pass.name, func(t *testing.T) {
			for _, p := range pass.points {
				t.Run(strings.ReplaceAll(p.String(), "/", "."), func(t *testing.T) {
					t.Parallel()
					bubble(t, build, func(h *Harness, _ func() *Harness) { proof.crash(h, p, pass.death) })
				})
			}
		})
	}
}

// bubble runs do with a harness, and with what makes another. One in memory is
// in a bubble of its own, in whose time goroutines take turns in the same order
// each time.
func bubble(t *testing.T, build func(t *testing.T) *Harness, do func(h *Harness, again func() *Harness)) {
	t.Helper()
	real := false
	synctest.Test(t, func(t *testing.T) {
		again := func() *Harness {
			h := build(t)
			if h != nil {
				h.yielder = sleeper
			}
			return h
		}
		h := again()
		if h == nil {
			t.Fatal("agltest: CrashEverywhere: build returned nil")
		}
		if _, real = h.repo.(*gitRepository); real {
			h.silenced = true
			return
		}
		do(h, again)
	})
	if real {
		again := func() *Harness { return build(t) }
		do(again(), again)
	}
}

// A proof is what a run that nothing disturbed came to.
type proof struct {
	job    agl.Job
	def    agl.Definition
	points []point
	want   outcome
	git    bool
}

// An outcome is what must be the same wherever the process died.
type outcome struct {
	Error   string
	State   agl.State
	Files   map[string]string
	Commits []string            // their messages and paths, sorted: children land in any order
	Records map[string][]string // by namespace
}

// surveyTwice runs the job undisturbed, in two harnesses: what differs then is
// no crash's doing.
func surveyTwice(h *Harness, again func() *Harness, job agl.Job, def agl.Definition) (*proof, error) {
	var both [2]*proof
	for i := range both {
		if i > 0 {
			h = again()
		}
		if h == nil || len(h.lives) > 0 {
			return nil, errors.New("build must return a new harness each time, with nothing started")
		}
		var err error
		if both[i], err = survey(h, job, def); err != nil {
			return nil, err
		}
	}
	if diff := cmp.Diff(both[0].want, both[1].want); diff != "" {
		return nil, fmt.Errorf("two runs that nothing disturbed differ: build, a script or the workflow keeps something from one to the next (-first +second):\n%s", diff)
	}
	return both[0], nil
}

// survey runs the job undisturbed.
func survey(h *Harness, job agl.Job, def agl.Definition) (*proof, error) {
	h.t.Helper()
	h.uncounted = true
	err := h.Start(job)
	if len(h.store.Documents(h.Label, "run.json")) == 0 {
		return nil, fmt.Errorf("the run did not start: %w", err)
	}
	j := h.journal()
	switch {
	case errors.Is(err, ErrCrashed):
		return nil, errors.New("a script crashes the process by itself")
	case j.Run.State == agl.StateInterrupted:
		return nil, fmt.Errorf("the run did not end (%v)", err)
	}
	plan, failed := h.Plan(def)
	switch {
	case failed != nil:
		return nil, failed
	case len(plan.Retries) > 0:
		return nil, fmt.Errorf("the run ends in a recorded failure (%s), which every resume tries again: %w", plan.Retries[0], err)
	}
	h.mu.Lock()
	first := h.lives[0]
	h.mu.Unlock()
	_, git := h.repo.(*gitRepository)
	return &proof{job: job, def: def, points: first.passed(), want: h.outcome(j, err), git: git}, faithful(plan)
}

// outcome says what a run came to whose journal is j, and which returned err.
func (h *Harness) outcome(j agl.Journal, err error) outcome {
	h.t.Helper()
	head := h.head(j.Run)
	o := outcome{Error: message(err), State: j.Run.State, Files: h.repo.files(h.t, head), Records: map[string][]string{}}
	for _, c := range h.repo.log(h.t, j.Run.Base, head) {
		o.Commits = append(o.Commits, fmt.Sprintf("%q %q", c.Message, c.Paths))
	}
	slices.Sort(o.Commits)
	for _, r := range j.Records {
		line := fmt.Sprintf("%s %s %s %s %.12s %s, used %+v", r.Kind, r.Name, r.Model, r.Ending, r.Key, r.Value, r.Usage)
		if r.Failure != nil {
			line += " failed: " + r.Failure.Message
		}
		o.Records[r.Namespace] = append(o.Records[r.Namespace], line)
	}
	return o
}

// A death is a way to die.
type death int

const (
	killed   death = iota
	powerCut       // what was not synced is lost
	spared         // and notes happen to be on the disk, though the files they are about are lost
)

// A pass is a way to die, and where.
type pass struct {
	name   string
	death  death
	points []point
}

func (p *proof) passes() []pass {
	if !p.git {
		return []pass{{"crash", killed, p.points}, {"power cut", powerCut, p.points}, {"power cut, notes spared", spared, p.points}}
	}
	// What git sees, once for each role, call and operation: memory has proven
	// the rest, a hundred times as fast.
	var seen []point
	tried := map[point]bool{}
	for _, at := range p.points {
		like := point{verb: ports.Verb{Kind: at.verb.Kind, Name: at.verb.Name}, op: at.op}
		switch what, _, _ := strings.Cut(at.op, " "); {
		case what == intercept.Lock, what == "remove", what == intercept.Gate, what == "note", what == "drop", tried[like]:
		default:
			tried[like] = true
			seen = append(seen, at)
		}
	}
	return []pass{{"crash", killed, seen}}
}

// crash runs the job in h, lets the process die at a point, and resumes.
func (p *proof) crash(h *Harness, at point, d death) {
	h.t.Helper()
	h.uncounted = true
	h.CrashAt(at.String())
	err := h.Start(p.job)
	if !errors.Is(err, ErrCrashed) {
		return // it is reported that the run never came there
	}
	h.mu.Lock()
	first := h.lives[0]
	h.mu.Unlock()
	switch d {
	case powerCut:
		h.store.PowerCut()
		h.repo.powerCut()
	case spared:
		h.store.Reboot()
		h.repo.powerCut()
	}
	if len(h.store.Documents(h.Label, "run.json")) == 0 {
		err = h.Start(p.job) // nothing was begun
	} else {
		err = h.Resume(p.def)
	}
	fail := func(format string, args ...any) {
		h.t.Helper()
		h.t.Errorf("agltest: the process died before %q: %s", at, fmt.Sprintf(format, args...))
	}
	if len(h.store.Documents(h.Label, "run.json")) == 0 {
		fail("there is no run after it was resumed: %v", err)
		return
	}
	j := h.journal()
	if diff := cmp.Diff(p.want, h.outcome(j, err)); diff != "" {
		fail("the run does not end as it does undisturbed (-want +got):\n%s", diff)
	}
	plan, err := h.Plan(p.def)
	if err == nil {
		err = faithful(plan)
	}
	if err != nil {
		fail("what is recorded is not what the workflow asks for: %v", err)
	}
	if err := h.reachable(j); err != nil {
		fail("%v", err)
	}
	for _, again := range h.boughtTwice(first, d) {
		fail("%s", again)
	}
	for _, again := range h.askedTwice(first) {
		fail("%s", again)
	}
}

// boughtTwice names the agents that were started more often than the death of
// the first process explains: it may have died in their step, before anything
// was done with what they had come to. A power cut loses all that was done
// before the record.
func (h *Harness) boughtTwice(first *life, d death) []string {
	var wrong []string
	passed := first.passed()
	h.mu.Lock()
	defer h.mu.Unlock()
	for at, s := range h.started {
		if s.times == 1 {
			continue
		}
		started, ended, recorded, more := false, false, false, false
		for _, p := range passed {
			if p.verb != at.verb {
				continue
			}
			started = started || p.op == intercept.AgentOp(at.verb.Name)
			more = more || ended
			ended = ended || p.op == intercept.AgentOp(at.verb.Name)+hasEnded
			recorded = recorded || ended && p.op == intercept.WriteEntry // what came before are answers to the agent
		}
		bought := more
		if d != killed {
			bought = recorded
		}
		if !started || bought || s.times > 2 {
			wrong = append(wrong, fmt.Sprintf("the agent of %s was started %d times", at.verb, s.times))
		}
	}
	return wrong
}

// askedTwice names the verbs in which a person was asked more often again than
// the death of the first process explains: there may be a question whose answer
// was not recorded. Those of a landing are not told: what else is recorded while
// it goes on would be taken for their answers.
func (h *Harness) askedTwice(first *life) []string {
	open := map[ports.Verb]int{}
	for _, p := range first.passed() {
		switch p.op {
		case intercept.Ask:
			open[p.verb]++
		case intercept.WriteEntry:
			open[p.verb]--
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	again := map[ports.Verb]int{}
	for at, times := range h.asked {
		again[at.verb] += times - 1
	}
	var wrong []string
	for verb, n := range again {
		if verb.Kind != ports.KindLanding && n > max(open[verb], 0) {
			wrong = append(wrong, fmt.Sprintf("%s asked a person again what had been answered", verb))
		}
	}
	return wrong
}

// reachable reports whether the run's branch is where the records say, and has
// every commit that one of them names.
func (h *Harness) reachable(j agl.Journal) error {
	h.t.Helper()
	workspaces, _, history := h.repo.open(h.t)
	at, err := workspaces.Branch(h.t.Context(), j.Run.Branch)
	if err != nil || at != j.Run.Head {
		return fmt.Errorf("the branch is at %.12q, the records say %.12q (%v)", at, j.Run.Head, err)
	}
	for _, r := range j.Records {
		if r.Namespace != ports.Base {
			continue
		}
		if in, err := history.Contains(h.t.Context(), r.Head, at); err != nil || !in {
			return fmt.Errorf("commit %.12s of record %d is not in the run's branch (%v)", r.Head, r.Seq, err)
		}
	}
	return nil
}
