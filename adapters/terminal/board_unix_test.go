//go:build unix

package terminal_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/terminal"
	"example.com/agl/ports"
)

// A stage is a run that a test moves.
type stage struct {
	mu     sync.Mutex
	status ports.Status
}

func newStage(namespaces ...ports.NamespaceStatus) *stage {
	return &stage{status: ports.Status{
		Run:        ports.RunInfo{Label: "demo", Workflow: "split", State: ports.StateRunning, Created: time.Now()},
		Namespaces: namespaces,
	}}
}

func (s *stage) now() ports.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Namespaces = append([]ports.NamespaceStatus(nil), s.status.Namespaces...)
	return status
}

func (s *stage) set(change func(*ports.Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

func (s *stage) at(t *terminal.Terminal) (stop func()) {
	return t.Watch(ports.Watched{Label: "demo", Status: s.now})
}

func split() *stage {
	return newStage(
		ports.NamespaceStatus{Namespace: ports.Base},
		ports.NamespaceStatus{
			Namespace: "parser", Parent: ports.Base, Verb: ports.KindStep, Name: "coder", Ordinal: 2, Activity: "reads lexer.go",
			Since: time.Now().Add(-65 * time.Second), Usage: ports.Usage{Input: 12_000, Output: 345, Cost: 0.125},
		},
		ports.NamespaceStatus{Namespace: "tests", Parent: "parser", Verb: ports.KindLanding, Waiting: "parser", Landing: ports.LandingUnderWay},
		ports.NamespaceStatus{
			Namespace: "docs", Parent: ports.Base, Landing: ports.LandingFailed,
			Verdict: &ports.Verdict{Command: "make test", Note: "exit status 2", Output: "\x1b[31mFAIL\x1b[0m docs_test.go:7\nmake: *** [test] Error 2\n"},
		},
	)
}

func TestTheBoardShowsTheTreeAndWhatEachIsAt(t *testing.T) {
	t.Parallel()
	p := sit(t, 140, 24)
	at := p.at()
	s := split()
	stop := s.at(at)
	screen := p.sees("reads lexer.go")
	require.Contains(t, screen, "demo  split")
	require.Regexp(t, `├ parser +step coder #2 +1m0\ds +12k tokens \$0\.12 +reads lexer\.go`, screen)
	require.Regexp(t, `│ └ tests +landing +waits for parser, landing`, screen)
	require.Regexp(t, `└ docs +not landed, gate red`, screen)
	require.Contains(t, screen, "? help")

	s.set(func(s *ports.Status) {
		s.Namespaces[1].Activity = "writes lexer.go"
		s.Notes = []string{"something to know"}
		s.Usage = ports.Usage{Output: 777}
	})
	screen = p.sees("writes lexer.go")
	require.Contains(t, screen, "! something to know")
	require.Contains(t, screen, "777 tokens")

	p.types("g")
	screen = p.sees("gate of docs: make test (exit status 2)")
	require.Contains(t, screen, "FAIL docs_test.go:7")
	p.types("g")
	p.misses("gate of docs")
	p.types("?")
	p.sees("stop in order; again: at once")
	p.types("?")
	p.sees("writes lexer.go")

	stop()
	stop()
	p.misses("writes lexer.go")
	require.NoError(t, at.Close())
	p.finds()
}

func TestSeveralRunsAreOnOneBoard(t *testing.T) {
	t.Parallel()
	p := sit(t, 80, 24)
	at := p.at()
	split().at(at)
	other := newStage(ports.NamespaceStatus{Namespace: ports.Base, Verb: ports.KindCall, Name: "fetch"})
	other.set(func(s *ports.Status) { s.Run.Label = "other" })
	stop := other.at(at)
	p.sees("call fetch")
	p.sees("parser")
	stop()
	p.misses("call fetch")
	p.sees("parser")
}

func TestABoardThatDoesNotFitIsScrolled(t *testing.T) {
	t.Parallel()
	p := sit(t, 40, 10)
	at := p.at()
	var all []ports.NamespaceStatus
	for i := range 50 {
		all = append(all, ports.NamespaceStatus{Namespace: fmt.Sprintf("n%02d", i)})
	}
	newStage(all...).at(at)
	p.sees("lines 1-9 of 51")
	p.types("\x1b[F")
	p.sees("n49")
	p.types("\x1b[H")
	p.sees("n00")
	p.types("jjj")
	p.misses("n01")
}

func TestWhatAWorkflowShowsIsInPlaceOfTheTree(t *testing.T) {
	t.Parallel()
	p := sit(t, 60, 24)
	at := p.at()
	s := split()
	at.Watch(ports.Watched{Label: "demo", Status: s.now, View: func(s ports.Status) (ports.Screen, bool) {
		return ports.Screen{Title: "My board", Body: []ports.Block{
			ports.Paragraph(strings.Repeat("wrapped ", 12)),
			ports.Table{Header: []string{"Name", "At"}, Rows: [][]string{{"parser", s.Namespaces[1].Activity}, {"日本語", "x"}}},
			ports.Progress{Label: "Parts", Done: 1, Total: 4},
		}}, true
	}})
	screen := p.sees("My board")
	require.Regexp(t, `Name    At`, screen)
	require.Regexp(t, `parser  reads lexer\.go`, screen)
	require.Regexp(t, `日本語  x`, screen)
	require.Regexp(t, `Parts  █+░+  1/4`, screen)
	require.NotContains(t, screen, "step coder")
}

// Case F6.
func TestAViewThatPanicsIsNotCalledAgain(t *testing.T) {
	t.Parallel()
	p := sit(t, 100, 24)
	at := p.at()
	s, calls := split(), 0
	at.Watch(ports.Watched{Label: "demo", Status: s.now, View: func(ports.Status) (ports.Screen, bool) {
		calls++
		panic("at the \x1b[2J disco")
	}})
	p.sees("it panicked: at the �[2J disco")
	s.set(func(s *ports.Status) { s.Namespaces[1].Activity = "goes on" })
	p.sees("goes on")
	require.NoError(t, at.Close())
	require.Equal(t, 1, calls)
	p.finds()
}

// A handmade block has the unexported method of ports.Block, and cannot be
// compared.
type handmade struct {
	ports.Block
	draw func()
}

// Case F6.
func TestABlockThatIsNoneDoesNoHarm(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]ports.Block{"nil": nil, "of the author's": handmade{draw: func() {}}, "a pointer": (*ports.Table)(nil)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sit(t, 100, 24)
			at := p.at()
			s := split()
			at.Watch(ports.Watched{Label: "demo", Status: s.now, View: func(s ports.Status) (ports.Screen, bool) {
				return ports.Screen{Body: []ports.Block{block, ports.Paragraph("at: " + s.Namespaces[1].Activity)}}, true
			}})
			p.sees("at: reads lexer.go")
			s.set(func(s *ports.Status) { s.Namespaces[1].Activity = "goes on" })
			p.sees("at: goes on")
			require.NoError(t, at.Close())
			p.finds()
		})
	}
}

// Case F6.
func TestAFaultInWhatIsDrawnEndsTheBoardAndNotTheProcess(t *testing.T) {
	t.Parallel()
	p := sit(t, 100, 24)
	at := p.at()
	s := split()
	var broken atomic.Bool
	at.Watch(ports.Watched{Label: "demo", Status: func() ports.Status {
		if broken.Load() {
			panic("at the \x1b[2J disco")
		}
		return s.now()
	}})
	answer := ask(t.Context(), at, goOn)
	p.sees("Go on?")
	broken.Store(true)
	require.ErrorIs(t, gets(t, answer).err, ports.Unavailable)
	p.sees("the board is not drawn any more: it panicked: at the �[2J disco")
	p.finds()
	require.NotContains(t, p.written(), "goroutine ")
}

func TestAViewThatBlocksKeepsNobodyFromAnswering(t *testing.T) {
	t.Parallel()
	p := sit(t, 100, 24)
	at := p.at()
	called, goOnNow := make(chan struct{}), make(chan struct{})
	defer close(goOnNow)
	var once sync.Once
	at.Watch(ports.Watched{Label: "demo", Status: split().now, View: func(ports.Status) (ports.Screen, bool) {
		once.Do(func() { close(called) })
		<-goOnNow
		return ports.Screen{}, false
	}})
	<-called
	answer := ask(t.Context(), at, goOn)
	p.sees("Go on?")
	p.types("2\r")
	require.Equal(t, result{answer: "no"}, gets(t, answer))
	require.NoError(t, at.Close())
	p.finds()
}

// Case F13: run with -race.
func TestARunMayChangeWhileItIsDrawn(t *testing.T) {
	t.Parallel()
	p := sit(t, 100, 60)
	at := p.at()
	all := make([]ports.NamespaceStatus, 50)
	for i := range all {
		all[i] = ports.NamespaceStatus{Namespace: fmt.Sprint("n", i), Verb: ports.KindStep, Name: "coder"}
	}
	s := newStage(all...)
	at.Watch(ports.Watched{Label: "demo", Status: s.now, View: func(s ports.Status) (ports.Screen, bool) {
		return ports.Screen{Body: []ports.Block{ports.Paragraph(s.Namespaces[49].Activity)}}, true
	}})
	var children sync.WaitGroup
	for i := range all {
		children.Go(func() {
			for n := range 2000 {
				s.set(func(s *ports.Status) { s.Namespaces[i].Activity = fmt.Sprint("at ", n) })
			}
		})
	}
	children.Wait()
	p.sees("at 1999")
}

func TestTheTimeOfWhatWaitsForAPersonStandsStill(t *testing.T) {
	t.Parallel()
	p := sit(t, 100, 24)
	at := p.at()
	s := newStage(
		ports.NamespaceStatus{Namespace: ports.Base, Verb: ports.KindLanding, Waiting: "a", Since: time.Now()},
		ports.NamespaceStatus{Namespace: "a", Verb: ports.KindStep, Name: "coder", Since: time.Now(), Asking: []ports.Question{goOn}},
		ports.NamespaceStatus{Namespace: "b", Verb: ports.KindStep, Name: "tester", Since: time.Now()},
	)
	s.at(at)
	screen := p.waits("see b's time go on", regexp.MustCompile(`step tester +2s`).MatchString)
	require.NotRegexp(t, `step coder .*[0-9]s`, screen)
	require.NotRegexp(t, `landing .*[0-9]s`, screen)
	s.set(func(s *ports.Status) { s.Namespaces[1].Asking = nil })
	p.waits("see a's time", regexp.MustCompile(`step coder +[2-9]s`).MatchString)
}
