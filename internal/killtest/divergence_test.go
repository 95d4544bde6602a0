//go:build linux

package killtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// changedWord is the environment of a program with another word in a prompt.
var changedWord = []string{envWord + "=diligently"}

// interrupted returns a run of relay that was killed in its build: its writer,
// checker, sketcher and generator are recorded.
func interrupted(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t, relayPlay.script())
	r := s.start(point{program, 5, after}, nil, "agl", relayPlay.run(s)...).wait()
	require.True(t, r.killed, "%s", r)
	require.Equal(t, 4, s.bought())
	s.noteKill()
	return s
}

// TestAChangedPromptStopsAResumeBeforeItBuysAnything changes a word of a prompt
// between a kill and the resume.
func TestAChangedPromptStopsAResumeBeforeItBuysAnything(t *testing.T) {
	takeTurn(t)
	s := interrupted(t)
	starts, before := s.starts(), s.everything()
	r := s.start(point{}, changedWord, "agl", "plan", label).wait()
	require.Zero(t, r.code, "%s", r)
	tellsTheDivergence(t, r.stdout)
	if diff := cmp.Diff(before, s.everything()); diff != "" {
		t.Errorf("plan changed something (-was +is):\n%s", diff)
	}

	r = s.start(point{}, changedWord, "agl", "resume", label, "--script", s.script).wait()
	assert.Equal(t, 4, r.code, "%s", r)
	tellsTheDivergence(t, r.stderr)
	assert.Equal(t, starts, s.starts(), "something was bought")

	r = s.agl("resume", label, "--script", s.script) // the word is as it was
	require.Zero(t, r.code, "%s", r)
	s.sameAs(relayPlay.uninterrupted(t))
	s.boughtOnce(relayPlay.uninterrupted(t))
}

func tellsTheDivergence(t *testing.T, text string) {
	t.Helper()
	for _, part := range []string{"sketcher", "prompt", "carefully", "diligently", "77 tokens"} {
		assert.Contains(t, text, part)
	}
}

// everything tells all that there is of the run: its documents, its branch and
// its checkout.
func (s *sandbox) everything() []string {
	s.t.Helper()
	return append(digest(s.t, s.home, nil), digest(s.t, s.gitDir(), nil)...)
}

// TestARebuyKilledInTheMiddleResumesWithoutDiverging kills a resume with
// --rebuy where it gives records up, and where it buys them again. A plain
// resume goes on.
func TestARebuyKilledInTheMiddleResumesWithoutDiverging(t *testing.T) {
	t.Parallel()
	w := relayPlay.uninterrupted(t)
	points := []point{{program, 6, outlived}}
	for i, at := range every(16, 7, 16) {
		points = append(points, point{gitCall, at, []moment{before, after}[i%2]})
	}
	for _, p := range points {
		t.Run(p.String(), func(t *testing.T) {
			takeTurn(t)
			s := interrupted(t)
			operators := s.operators()
			rebuy := []string{"resume", label, "--script", s.script, "--rebuy"}
			r := s.start(p, changedWord, "agl", rebuy...).wait()
			require.True(t, r.killed, "%s", r)
			superseded := s.has("superseded")
			r = s.start(point{}, changedWord, "agl", "resume", label, "--script", s.script).wait()
			if !superseded { // then nothing was given up yet
				require.Equal(t, 4, r.code, "%s", r)
				r = s.start(point{}, changedWord, "agl", rebuy...).wait()
			}
			require.Zero(t, r.code, "%s", r)
			s.sameAs(w)
			s.leavesNothing(operators)
			counts := map[string]int{}
			for _, name := range s.starts() {
				counts[name]++
			}
			assert.Equal(t, 1, counts["writer#1"])
			assert.Equal(t, 1, counts["checker#1"])
			assert.GreaterOrEqual(t, counts["sketcher#1"], 2)
			assert.LessOrEqual(t, counts["sketcher#1"], 3)
			assert.LessOrEqual(t, counts["writer#2"], 2)
		})
	}
}

// has reports whether the run has a record of a kind.
func (s *sandbox) has(kind string) bool {
	for _, file := range s.documents("records") {
		if strings.Contains(read(file), fmt.Sprintf(`"kind":%q`, kind)) {
			return true
		}
	}
	return false
}

// TestAWayAroundAFailureIsNotLeftByAResume kills a run that went another way
// after a step met its limit.
func TestAWayAroundAFailureIsNotLeftByAResume(t *testing.T) {
	takeTurn(t)
	s := newSandbox(t, "")
	r := s.start(point{program, 4, after}, nil, "agl", "run", "detour", "-n", label).wait()
	require.True(t, r.killed, "%s", r)
	way := []string{"writer#1", "dear#1", "cheap#1", "writer#2"}
	require.Equal(t, way, s.starts())

	r = s.agl("resume", label)
	require.Zero(t, r.code, "%s", r)
	require.Equal(t, append(way, "writer#2"), s.starts())
	r = s.agl("resume", label)
	require.Zero(t, r.code, "%s", r)
	require.Len(t, s.starts(), 5, "a run that is done was resumed, and bought something")

	r = s.agl("resume", label, "--retry")
	require.Zero(t, r.code, "%s", r)
	require.Equal(t, append(way, "writer#2", "dear#1"), s.starts()[:6], "--retry tries the failed step again")
}

// TestAFailureThatEndedARunIsTriedAgainUntilItSucceeds resumes a run that ended
// in a failure, once in vain, once killed, until its step has succeeded.
func TestAFailureThatEndedARunIsTriedAgainUntilItSucceeds(t *testing.T) {
	takeTurn(t)
	s := newSandbox(t, "")
	fails, works := filepath.Join(s.dir, "fails.txtar"), filepath.Join(s.dir, "works.txtar")
	require.NoError(t, os.WriteFile(fails, []byte("-- writer --\nexec agent writer#1\nfail unavailable later\n"), 0o600))
	require.NoError(t, os.WriteFile(works, []byte("-- writer --\nexec agent writer#1\nwrite work.txt work\n-- work --\nwork\n"), 0o600))
	r := s.agl("run", "lone", "-n", label, "--script", fails)
	require.Equal(t, 6, r.code, "%s", r)
	r = s.agl("resume", label, "--script", fails)
	require.Equal(t, 6, r.code, "%s", r)
	require.Len(t, s.starts(), 2)
	r = s.start(point{program, 3, after}, nil, "agl", "resume", label, "--script", works).wait()
	require.True(t, r.killed, "%s", r)
	for range 2 {
		r = s.agl("resume", label, "--script", works)
		require.Zero(t, r.code, "%s", r)
		require.Len(t, s.starts(), 4)
	}
	require.Len(t, s.show().Records, 1)
	require.Nil(t, s.show().Records[0].Failure)
}
