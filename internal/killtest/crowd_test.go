//go:build linux

package killtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/agl"
)

// The plays in which children land: six at once, and two one after the other,
// whose git calls come in the same order every time. c1 and c2 write the same
// file, so whichever lands second is in conflict, which an agent mends.
var (
	crowdPlay = &play{workflow: "crowd", chunks: []string{"c1", "c2", "c3", "c4", "c5", "c6"}}
	pairPlay  = &play{workflow: "pair", chunks: []string{"c1", "c2"}}
)

// landings is a workflow that builds each chunk in a worktree and lands it. One
// whose chunks do so at once has a closing step then; of the other a landing is
// the last. The word is in the prompt of c4 alone.
func landings(name, word string, chunks []string, atOnce bool) *agl.Workflow[agl.None] {
	builder := agl.Editor[report]{Name: "builder", Model: "script/b", Prompt: "Build it.", Report: "Say what you built."}
	mender := agl.Editor[agl.None]{Name: "mender", Model: "script/m", Prompt: "Mend it."}
	closer := agl.Editor[agl.None]{Name: "closer", Model: "script/c", Prompt: "Close it."}
	each := func(do func(i int) error) error {
		errs := make([]error, len(chunks))
		var group sync.WaitGroup
		for _, i := range shuffled(len(chunks)) {
			if !atOnce {
				errs[i] = do(i)
				continue
			}
			group.Go(func() {
				dawdle()
				errs[i] = do(i)
			})
		}
		group.Wait()
		return errors.Join(errs...)
	}
	return agl.NewWorkflow(agl.Spec{
		Name: name, Version: 1, Doc: "Build chunks in worktrees and land them.", Roles: []agl.Role{builder, mender, closer},
	}, func(ctx context.Context, run *agl.Run, _ agl.None) error {
		children, built := make([]*agl.Run, len(chunks)), make([]report, len(chunks))
		err := each(func(i int) (err error) { // all before the first lands: they are of the same base
			children[i], err = run.Worktree(ctx, chunks[i])
			return err
		})
		if err != nil {
			return err
		}
		err = each(func(i int) error {
			builder := builder
			if chunks[i] == "c4" {
				builder.Prompt = "Build it " + word + "."
			}
			err := children[i].Step(ctx, builder.Commit("build "+chunks[i]).Into(&built[i]), agl.In("chunk", chunks[i]))
			if err != nil {
				return err
			}
			return children[i].Integrate(ctx, agl.ResolveWith(mender, 2, nil))
		})
		if err != nil || !atOnce {
			return err
		}
		return run.Step(ctx, closer.Commit("close"), agl.In("built", built))
	})
}

// shuffled returns 0 to n-1, in an order that the environment chooses.
func shuffled(n int) []int {
	if seed, err := strconv.ParseUint(os.Getenv(envShuffle), 10, 64); err == nil {
		return rand.New(rand.NewPCG(seed, 1)).Perm(n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// dawdle lets other goroutines go first, if the environment shuffles them.
func dawdle() {
	if os.Getenv(envShuffle) != "" {
		for range rand.IntN(200) {
			runtime.Gosched()
		}
	}
}

// disorder is an environment in which a process of AGL takes another course.
func disorder(random *rand.Rand) []string {
	return []string{fmt.Sprintf("GOMAXPROCS=%d", 1+random.IntN(8)), fmt.Sprintf("%s=%d", envShuffle, random.Uint32())}
}

// TestACrowdKilledAtAnyInstantLandsEachChildOnce kills a run whose children
// build and land at once, and its resumes, whenever it pleases.
func TestACrowdKilledAtAnyInstantLandsEachChildOnce(t *testing.T) {
	t.Parallel()
	w := crowdPlay.uninterrupted(t)
	for range *killRandom {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			takeTurn(t)
			random := rand.New(rand.NewPCG(seed, 0))
			s := crowdPlay.sandbox(t)
			operators := s.operators()
			ledger := &purchases{s: s}
			var r result
			for kills := 0; ; kills++ {
				p := s.start(point{}, disorder(random), "agl", s.next(crowdPlay)...)
				if kills < 4 {
					p.killedAt(random, w, w.records-len(s.documents("records")))
				}
				r = p.wait()
				ledger.note(r.killed)
				if !r.killed {
					t.Logf("killed %d times", kills)
					break
				}
			}
			require.Zero(t, r.code, "%s", r)
			s.isLanded(crowdPlay, w, ledger)
			s.leavesNothing(operators)
			s.missesNothing(random)
		})
	}
}

// killedAt kills a process at an instant that is random in what is left of the
// run, however slow the machine is at the moment: some records from now, of so
// many that are left, and a moment later.
func (p *process) killedAt(random *rand.Rand, w *whole, left int) {
	after := len(p.s.documents("records")) + random.IntN(max(1, left))
	moment := time.Duration(random.Int64N(int64(w.took) / int64(w.records)))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for len(p.s.documents("records")) < after {
		select {
		case <-tick.C:
		case <-p.done:
			return
		}
	}
	select {
	case <-time.After(moment):
		_ = p.cmd.Process.Kill()
	case <-p.done:
	}
}

// TestOneOfACrowdBoughtAgainAndKilledAtAnyInstantStartsNoOther changes the
// prompt of one child of a run that is done, and kills the resume that buys it
// again, and those after it, whenever it pleases. What was landed after that
// child is landed again; no other child is built again.
func TestOneOfACrowdBoughtAgainAndKilledAtAnyInstantStartsNoOther(t *testing.T) {
	t.Parallel()
	w := crowdPlay.uninterrupted(t)
	for range *killRandom {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			takeTurn(t)
			random := rand.New(rand.NewPCG(seed, 0))
			s := crowdPlay.sandbox(t)
			operators := s.operators()
			ledger := &purchases{s: s}
			r := s.start(point{}, disorder(random), "agl", crowdPlay.run(s)...).wait()
			require.Zero(t, r.code, "%s", r)
			ledger.note(false)
			done := len(s.documents("records"))
			s.env = append(s.env, changedWord...)
			for kills := 0; ; kills++ {
				args := []string{"resume", label, "--script", s.script}
				if !s.has("superseded") {
					args = append(args, "--rebuy")
				}
				p := s.start(point{}, disorder(random), "agl", args...)
				if kills < 4 { // it gives up, builds, lands six, mends, and closes
					p.killedAt(random, w, done+12-len(s.documents("records")))
				}
				r = p.wait()
				ledger.note(r.killed)
				if !r.killed {
					t.Logf("killed %d times", kills)
					break
				}
			}
			require.Zero(t, r.code, "%s", r)
			for _, chunk := range crowdPlay.chunks {
				want := 1
				if chunk == "c4" {
					want = 2
				}
				assert.Equal(t, want, ledger.bought["builder@"+chunk], "builds of %s", chunk)
			}
			assert.Equal(t, 2, ledger.bought["closer@_base"])
			s.sameAs(w)
			s.leavesNothing(operators)
			s.missesNothing(random)
		})
	}
}

// TestALandingKilledAtAnyGitCallIsMadeOnce kills a run whose children land one
// after the other around its git calls, and its resumes around later ones.
func TestALandingKilledAtAnyGitCallIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := pairPlay.uninterrupted(t)
	for i, back := range every(17, 1, w.calls) {
		at := w.calls - back // the last but one moves the branch
		for j, when := range []moment{after, before} {
			if !*killAll && (i+j)%2 == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%d %s", at, when), func(t *testing.T) {
				takeTurn(t)
				random := rand.New(rand.NewPCG(uint64(at), 0))
				s := pairPlay.sandbox(t)
				operators := s.operators()
				ledger := &purchases{s: s}
				kills := []point{{gitCall, at, when}, {gitCall, 3 + at%23, when}, {}}
				var r result
				for _, kill := range kills {
					r = s.start(kill, nil, "agl", s.next(pairPlay)...).wait()
					ledger.note(r.killed)
					if !r.killed {
						break
					}
				}
				require.Zero(t, r.code, "%s", r)
				s.isLanded(pairPlay, w, ledger)
				s.leavesNothing(operators)
				s.missesNothing(random)
			})
		}
	}
}

// purchases follows what was bought from process to process.
type purchases struct {
	s      *sandbox
	bought map[string]int // when the last process had ended
}

// note is called when a process has ended. Every agent that it started is
// bought: recorded, or noted as ended; but for one of each name if it was
// killed.
func (p *purchases) note(killed bool) {
	s := p.s
	s.t.Helper()
	now := s.boughtNames()
	started := map[string]int{}
	for _, b := range s.begun() {
		if b.process == s.started {
			started[b.name]++
		}
	}
	for name, n := range started {
		interrupted := n - (now[name] - p.bought[name])
		if interrupted < 0 || interrupted > 1 || interrupted == 1 && !killed {
			s.t.Errorf("process %d started %s %d times, and %d of these are recorded", s.started, name, n, now[name]-p.bought[name])
		}
	}
	p.bought = now
}

// boughtNames counts the agents' turns that are recorded, or noted as ended, by
// the names under which they begin.
func (s *sandbox) boughtNames() map[string]int {
	s.t.Helper()
	type turn struct{ Kind, Name, Namespace, Key, Started string }
	count, recorded := map[string]int{}, map[string]bool{}
	buy := func(d turn) {
		if id := d.Key + d.Started; (d.Kind == "step" || d.Kind == "fix") && !recorded[id] {
			recorded[id] = true
			count[d.Name+"@"+d.Namespace]++
		}
	}
	for _, file := range s.documents("records") {
		var d turn
		header, _, _ := strings.Cut(read(file), "\n") // a large value is behind it
		require.NoError(s.t, json.Unmarshal([]byte(header), &d), file)
		buy(d)
	}
	for _, file := range s.documents("notes") {
		var d struct{ Record turn }
		_, text, _ := strings.Cut(read(file), "\n") // behind its checksum
		if json.Unmarshal([]byte(text), &d) == nil {
			buy(d.Record)
		}
	}
	return count
}

// isLanded checks a run that has ended: each chunk was built and landed once,
// and everything is as if nobody had killed it.
func (s *sandbox) isLanded(p *play, w *whole, bought *purchases) {
	s.t.Helper()
	want := map[string]int{}
	if p == crowdPlay {
		want["closer@_base"] = 1
	}
	for _, chunk := range p.chunks {
		want["builder@"+chunk] = 1
	}
	got, mended := map[string]int{}, 0
	for name, n := range bought.bought {
		if strings.HasPrefix(name, "mender@") {
			mended += n
			continue
		}
		got[name] = n
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("agents that were paid (-want +got):\n%s", diff)
	}
	if mended != 1 {
		s.t.Errorf("the conflict was mended %d times", mended)
	}
	s.sameAs(w)
}

// missesNothing checks that to resume a run that is done, whatever the order
// of its goroutines, starts nothing and records nothing.
func (s *sandbox) missesNothing(random *rand.Rand) {
	s.t.Helper()
	starts, records := s.starts(), s.documents("records")
	again := 1
	if *killAll {
		again = 8
	}
	for range again {
		s.notes = true
		r := s.start(point{}, disorder(random), "agl", "resume", label, "--script", s.script).wait()
		s.notes = false
		require.Zero(s.t, r.code, "%s", r)
		assert.Equal(s.t, starts, s.starts(), "a run that is done was resumed, and bought something")
		assert.Equal(s.t, records, s.documents("records"))
		for _, c := range r.calls {
			assert.Contains(s.t, []string{"rev-parse", "config"}, c.Args[0], "to find the repository is all that a replay asks git for")
		}
	}
}
