//go:build linux

package killtest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// atOnce bounds how many runs go on at the same time: each is several
// processes.
var atOnce = make(chan struct{}, 2)

func takeTurn(t *testing.T) {
	t.Helper()
	t.Parallel()
	atOnce <- struct{}{}
	t.Cleanup(func() { <-atOnce })
}

func itoa(n int) string { return strconv.Itoa(n) }

// every returns some of the points 1 to n, or all of them: each stride-th,
// beginning at first.
func every(stride, first, n int) []int {
	switch {
	case *killAll:
		stride, first = 1, 1
	case raced:
		stride *= 2
	}
	var at []int
	for i := first; i <= n; i += stride {
		at = append(at, i)
	}
	return at
}

// TestARunKilledAtAnyGitCallResumesWithoutBuyingTwice kills the command around
// its git calls, and every resume of it around a later one.
func TestARunKilledAtAnyGitCallResumesWithoutBuyingTwice(t *testing.T) {
	t.Parallel()
	w := fixPlay.uninterrupted(t)
	for i, at := range every(22, 6, w.calls) {
		for j, when := range []moment{before, after} {
			if !*killAll && (i+j)%2 == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%d %s", at, when), func(t *testing.T) {
				takeTurn(t)
				s := newSandbox(t, fixPlay.script())
				operators := s.operators()
				s.finish(fixPlay, w, []point{{gitCall, at, when}, {gitCall, 5 + at%17, when}})
				s.buysNoMore()
				s.leavesNothing(operators)
			})
		}
	}
}

// TestARunKilledAtAnyWriteOfTheJournalResumesWithoutBuyingTwice does the same
// around what the store writes and removes.
func TestARunKilledAtAnyWriteOfTheJournalResumesWithoutBuyingTwice(t *testing.T) {
	t.Parallel()
	for _, p := range []*play{relayPlay, fixPlay} {
		w := p.uninterrupted(t)
		for i, at := range every(13, 3, w.writes) {
			for j, when := range []moment{before, after} {
				if !*killAll && (i+j)%2 == 1 {
					continue
				}
				t.Run(fmt.Sprintf("%s %d %s", p.workflow, at, when), func(t *testing.T) {
					takeTurn(t)
					s := newSandbox(t, p.script())
					operators := s.operators()
					s.finish(p, w, []point{{write, at, when}, {write, 2 + at%3, when}})
					s.leavesNothing(operators)
				})
			}
		}
	}
}

// TestARunKilledInTheMiddleOfAWriteLeavesNoTraceOfIt kills a run where it syncs
// a document it is writing, or puts it in its place.
func TestARunKilledInTheMiddleOfAWriteLeavesNoTraceOfIt(t *testing.T) {
	t.Parallel()
	w := fixPlay.uninterrupted(t)
	for _, at := range every(97, 31, countDiskCalls(t)) {
		t.Run(itoa(at), func(t *testing.T) {
			takeTurn(t)
			s := newSandbox(t, fixPlay.script())
			operators := s.operators()
			s.dies(newDisk(t), point{diskCall, at, before})
			s.noteKill()
			r := s.agl(s.next(fixPlay)...)
			require.Zero(t, r.code, "%s", r)
			s.isDone(w)
			s.leavesNothing(operators)
		})
	}
}

// TestARunKilledAtTheStartOfAProcessResumesWithoutBuyingTwice kills a run where
// an agent or the build is started, by the engine or by the agent's own
// program, which may live on.
func TestARunKilledAtTheStartOfAProcessResumesWithoutBuyingTwice(t *testing.T) {
	t.Parallel()
	w := relayPlay.uninterrupted(t)
	points := []point{}
	for _, at := range every(6, 2, w.starts) {
		points = append(points, point{start, at, before}, point{start, at, after})
	}
	for i, at := range every(3, 2, w.programs) {
		if at == 4 { // the generator is no program
			at = 5
		}
		points = append(points, point{program, at, []moment{outlived, after}[i%2]})
	}
	for _, p := range points {
		t.Run(p.String(), func(t *testing.T) {
			takeTurn(t)
			s := newSandbox(t, relayPlay.script())
			operators := s.operators()
			s.finish(relayPlay, w, []point{p})
			s.leavesNothing(operators)
		})
	}
}

// TestARunKilledAtAnyInstantResumesWithoutBuyingTwice kills the command and its
// resumes whenever it pleases.
func TestARunKilledAtAnyInstantResumesWithoutBuyingTwice(t *testing.T) {
	t.Parallel()
	w := fixPlay.uninterrupted(t)
	for range *killRandom {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			takeTurn(t)
			random := rand.New(rand.NewPCG(seed, 0))
			s := newSandbox(t, fixPlay.script())
			operators := s.operators()
			var r result
			for kills := 0; ; kills++ {
				p := s.start(point{}, nil, "agl", s.next(fixPlay)...)
				if kills < 4 {
					select {
					case <-time.After(time.Duration(random.Int64N(int64(w.took)))):
						_ = p.cmd.Process.Kill()
					case <-p.done:
					}
				}
				if r = p.wait(); !r.killed {
					break
				}
				s.noteKill()
			}
			require.Zero(t, r.code, "%s", r)
			s.isDone(w)
			s.buysNoMore()
			s.leavesNothing(operators)
		})
	}
}

// TestAClearThatIsKilledCanBeRepeated kills a clear around its git calls.
func TestAClearThatIsKilledCanBeRepeated(t *testing.T) {
	t.Parallel()
	calls := len(clearAfter(t, point{}))
	for i, at := range every(5, 3, calls) {
		p := point{gitCall, at, []moment{before, after}[i%2]}
		t.Run(p.String(), func(t *testing.T) {
			takeTurn(t)
			clearAfter(t, p)
		})
	}
}

// clearAfter clears a run that has ended, once in vain if it is killed at p. It
// returns the git calls of the last time.
func clearAfter(t *testing.T, p point) []call {
	s := newSandbox(t, "")
	operators := s.operators()
	fails := filepath.Join(s.dir, "fails.txtar")
	require.NoError(t, os.WriteFile(fails, []byte("-- writer --\nexec echo half >half.txt\nfail unavailable later\n"), 0o600))
	r := s.agl("run", "lone", "-n", label, "--script", fails)
	require.Equal(t, 6, r.code, "%s", r)
	kept := s.salvaged()
	require.Len(t, kept, 1)
	if p != (point{}) {
		r = s.start(p, nil, "agl", "clear", label).wait()
		require.True(t, r.killed, "%s", r)
	}
	s.notes = true
	r = s.agl("clear", label)
	require.Zero(t, r.code, "%s", r)
	assert.Equal(t, kept, s.salvaged())
	assert.Empty(t, s.realGit(s.repo, "for-each-ref", "refs/heads/agl/", "refs/agl/keep/"))
	assert.Equal(t, 1, strings.Count(s.realGit(s.repo, "worktree", "list", "--porcelain"), "worktree "))
	assert.NoDirExists(t, s.runDir())
	assert.NoDirExists(t, s.checkout())
	assert.Equal(t, operators, s.operators())
	again := s.agl("show", label)
	assert.Equal(t, 3, again.code, "%s", again)
	return r.calls
}

// TestACommitOfAnAgentThatIsKilledIsNotAStrangersMove kills a run after its
// agent has moved the run's branch, and takes the checkout away by turns.
func TestACommitOfAnAgentThatIsKilledIsNotAStrangersMove(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprintf("checkout gone: %v", gone), func(t *testing.T) {
			takeTurn(t)
			s := newSandbox(t, "own-commit.txtar")
			r := s.start(point{program, 1, after}, nil, "agl", "run", "lone", "-n", label, "--script", s.script).wait()
			require.True(t, r.killed, "%s", r)
			own := s.realGit(s.repo, "rev-parse", "refs/heads/agl/"+label)
			require.Equal(t, "its own", s.realGit(s.repo, "log", "-1", "--format=%s", own))
			if gone {
				s.endAll()
				require.NoError(t, os.RemoveAll(s.checkout()))
			}
			r = s.agl("resume", label, "--script", s.script)
			require.Zero(t, r.code, "%s", r)
			assert.Equal(t, "work\n", s.inBranch("work.txt"))
			assert.NotEmpty(t, s.realGit(s.repo, "for-each-ref", "--contains", own, "refs/agl/"), "the commit of the killed attempt is lost")
		})
	}
}

// next is the command line that goes on: resume, or run where nothing
// is recorded yet.
func (s *sandbox) next(p *play) []string {
	if _, err := os.Stat(s.runDir() + "/run.json"); err != nil {
		return p.run(s)
	}
	return []string{"resume", label, "--script", s.script}
}

// finish runs a play that is killed at each point in turn, and checks what
// comes of it.
func (s *sandbox) finish(p *play, w *whole, kills []point) {
	s.t.Helper()
	var r result
	for i := 0; ; i++ {
		at := point{}
		if i < len(kills) {
			at = kills[i]
		}
		name, args := "agl", s.next(p)
		if at.what == write || at.what == start {
			name, args = "work", []string{p.workflow, label, s.script}
		}
		r = s.start(at, nil, name, args...).wait()
		if r.killed {
			require.Less(s.t, i, len(kills), "it was killed by nobody: %s", r)
			s.noteKill()
			if at.what == gitCall {
				s.isNoted(r)
			}
			continue
		}
		require.Zero(s.t, r.code, "%s", r)
		if i == 0 {
			require.Zero(s.t, at, "it was not killed")
		}
		break
	}
	s.isDone(w)
}

// isDone checks a run that has ended: it is the uninterrupted one, and
// everything was bought once.
func (s *sandbox) isDone(w *whole) {
	s.t.Helper()
	s.boughtOnce(w)
	s.sameAs(w)
}

// buysNoMore checks that to resume the run, which is done, buys nothing.
func (s *sandbox) buysNoMore() {
	s.t.Helper()
	starts := s.starts()
	r := s.agl("resume", label, "--script", s.script)
	require.Zero(s.t, r.code, "%s", r)
	assert.Equal(s.t, starts, s.starts(), "a run that is done was resumed, and bought something")
}
