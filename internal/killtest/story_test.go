//go:build linux

package killtest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// A chapter is what must be the same of a record however often the run was
// killed.
type chapter struct {
	Kind, Namespace, Name, Value, Tree string
}

// A story is what must be the same of a run.
type story struct {
	Chapters []chapter
	Tree     string // of its branch
}

// An uninterrupted run, to compare with.
type whole struct {
	story
	calls, writes, starts int    // of the process that ran it
	notes                 []call // of the calls
	programs              int    // that agents, functions and the build noted
	took                  time.Duration
}

// A play is a workflow with what its agents do.
type play struct {
	workflow string
	args     []string // of its run command
	chunks   []string // the worktrees in which it works; nil: it works in the run's own
	once     sync.Once
	whole    *whole
}

var (
	fixPlay   = &play{workflow: "fix", args: []string{"--request", request}}
	relayPlay = &play{workflow: "relay"}
)

// script is the play's file in testdata.
func (p *play) script() string {
	if p.chunks != nil {
		return "crowd.txtar"
	}
	return p.workflow + ".txtar"
}

// sandbox returns one for the play.
func (p *play) sandbox(t testing.TB) *sandbox {
	t.Helper()
	s := newSandbox(t, p.script())
	if s.chunks = p.chunks; s.chunks != nil {
		s.env = append(s.env, "AGL_BUILD=test -f README.md")
	}
	return s
}

// chapters is how many records it has.
func (p *play) chapters() int {
	switch p {
	case crowdPlay:
		return 2*len(p.chunks) + 1
	case pairPlay:
		return 2 * len(p.chunks)
	}
	return 6
}

// run is the command line that starts the play.
func (p *play) run(s *sandbox) []string {
	return append([]string{"run", p.workflow, "-n", label, "--script", s.script}, p.args...)
}

// uninterrupted returns the play as it goes when nobody kills it.
func (p *play) uninterrupted(t *testing.T) *whole {
	t.Helper()
	p.once.Do(func() {
		s := p.sandbox(t)
		s.notes = true
		before := s.operators()
		began := time.Now()
		r := s.start(point{}, nil, "work", p.workflow, label, s.script).wait()
		took := time.Since(began)
		require.Zero(t, r.code, "%s", r)
		w := &whole{story: s.story(), calls: len(r.calls), notes: r.calls, writes: r.writes, starts: r.starts, programs: len(s.starts()), took: took}
		require.Len(t, w.Chapters, p.chapters(), "the play is whole")
		s.leavesNothing(before)
		p.whole = w
	})
	require.NotNil(t, p.whole, "the uninterrupted run failed")
	return p.whole
}

// shown is `show --json`.
type shown struct {
	Run struct {
		State string `json:"state"`
	} `json:"run"`
	Records []struct {
		Kind      string          `json:"kind"`
		Namespace string          `json:"namespace"`
		Name      string          `json:"name"`
		Value     json.RawMessage `json:"value"`
		Failure   *struct {
			Kind string `json:"kind"`
		} `json:"failure"`
		Head string `json:"head"`
	} `json:"records"`
}

func (s *sandbox) show() shown {
	s.t.Helper()
	r := s.agl("show", label, "--json")
	require.Zero(s.t, r.code, "%s", r)
	var answer shown
	require.NoError(s.t, json.Unmarshal([]byte(r.stdout), &answer))
	return answer
}

// story tells the run as it is recorded.
func (s *sandbox) story() story {
	s.t.Helper()
	var told story
	revs := []string{"rev-parse", "refs/heads/agl/" + label + "^{tree}"}
	for _, r := range s.show().Records {
		revs = append(revs, r.Head+"^{tree}")
		value := r.Value
		if r.Kind == "verdict" { // how long the build took is not part of the story
			var verdict map[string]any
			require.NoError(s.t, json.Unmarshal(value, &verdict))
			delete(verdict, "took")
			var err error
			value, err = json.Marshal(verdict)
			require.NoError(s.t, err)
		}
		var compact bytes.Buffer
		require.NoError(s.t, json.Compact(&compact, value))
		told.Chapters = append(told.Chapters, chapter{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Value: compact.String()})
	}
	trees := strings.Fields(s.realGit(s.repo, revs...))
	require.Len(s.t, trees, len(revs)-1)
	told.Tree = trees[0]
	for i := range told.Chapters {
		told.Chapters[i].Tree = trees[i+1]
	}
	// Each namespace has its own order; who of them came first is no part of the story.
	slices.SortStableFunc(told.Chapters, func(a, b chapter) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return told
}

// A begun is a line of the counter: an agent, a function or a build was started
// by a process of AGL's.
type begun struct {
	name    string
	process int
}

func (s *sandbox) begun() []begun {
	s.t.Helper()
	var all []begun
	for line := range strings.Lines(read(s.counter)) {
		var b begun
		_, err := fmt.Sscan(line, &b.name, &b.process)
		require.NoError(s.t, err, "%q", line)
		all = append(all, b)
	}
	return all
}

// starts returns what was started, in order.
func (s *sandbox) starts() []string {
	var names []string
	for _, b := range s.begun() {
		names = append(names, b.name)
	}
	return names
}

// A kill is what is known of a process that was killed.
type kill struct{ process, bought int }

// noteKill is called when the last process was killed.
func (s *sandbox) noteKill() {
	s.t.Helper()
	s.kills = append(s.kills, kill{s.started, s.bought()})
}

// isNoted checks that what was started is noted: the process died at a git call,
// and AGL notes that an agent has ended before it lets git look at what the
// agent did.
func (s *sandbox) isNoted(died result) {
	s.t.Helper()
	different := map[string]bool{}
	for _, name := range s.starts() {
		different[name] = true
	}
	if n := s.bought(); n != len(different) {
		s.t.Errorf("killed at git %q: %d were started, %d are noted", died.calls[len(died.calls)-1].Args, len(different), n)
	}
}

// excused counts, by name, the kills that fell between the start of what has
// that name and the note that it has ended. It is called at the end of a run: a
// program may outlive the AGL that started it, and note its start after that.
func (s *sandbox) excused() map[string]int {
	s.t.Helper()
	excused := map[string]int{}
	for _, k := range s.kills {
		different := map[string]bool{}
		last := ""
		for _, b := range s.begun() {
			if b.process <= k.process {
				different[b.name] = true
			}
			if b.process == k.process {
				last = b.name
			}
		}
		if last != "" && len(different) > k.bought {
			excused[last]++
		}
	}
	return excused
}

// boughtOnce checks that everything was started once, and once more only for
// each kill that fell between its start and its note.
func (s *sandbox) boughtOnce(w *whole) {
	s.t.Helper()
	counts, excused := map[string]int{}, s.excused()
	for _, name := range s.starts() {
		counts[name]++
	}
	require.Len(s.t, counts, w.programs, "every agent was started")
	for name, n := range counts {
		if n != 1+excused[name] {
			s.t.Errorf("%s was started %d times; %d kills fell between its start and its note", name, n, excused[name])
		}
	}
}

// bought counts the verbs that are recorded, or noted as ended, in the
// documents of the run.
func (s *sandbox) bought() int {
	s.t.Helper()
	type doc struct {
		Kind    string          `json:"kind"`
		Key     string          `json:"key"`
		Started string          `json:"started"`
		Ending  json.RawMessage `json:"ending"`
	}
	n := 0
	recorded := map[string]bool{}
	for _, file := range s.documents("records") {
		var d doc
		require.NoError(s.t, json.Unmarshal([]byte(read(file)), &d), file)
		if d.Kind == "step" || d.Kind == "call" || d.Kind == "verdict" {
			n++
			recorded[d.Key+d.Started] = true
		}
	}
	for _, file := range s.documents("notes") {
		var d doc
		_, text, _ := strings.Cut(read(file), "\n") // behind its checksum
		if json.Unmarshal([]byte(text), &d) != nil {
			continue // torn, by a kill while it was written
		}
		if strings.HasPrefix(string(d.Ending), "{") && !recorded[d.Key+d.Started] {
			n++
		}
	}
	return n
}

// sameAs compares the run with the uninterrupted one.
func (s *sandbox) sameAs(w *whole) {
	s.t.Helper()
	if diff := gocmp.Diff(w.story, s.story()); diff != "" {
		s.t.Errorf("the run is not what it is without kills (-want +got):\n%s", diff)
	}
}
