package agl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

func TestASpentBudgetDeniesTheNextPurchase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	err := w.start(fix(1).With(params{Request: "x"}), agl.StartOptions{Tokens: 200})
	require.ErrorIs(t, err, agl.Denied)
	require.Equal(t, 5, agl.ExitCode(err))
	require.Equal(t, []string{"editor#1", "reader#1"}, w.agents())

	err = w.resume(fix(1))
	require.ErrorIs(t, err, agl.Denied, "the budget is the run's")
	require.Empty(t, w.agents())
	require.NoError(t, w.resume(fix(1), agl.ResumeOptions{Tokens: 1000}))
	require.Equal(t, []string{"editor#2", "reader#2"}, w.agents())
}

func TestTheAgentsCapHoldsOverAllRunsOfAnEngine(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	running, most := 0, 0
	proceed := make(chan struct{})
	w := newWorld(t, func(*turn) (any, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		<-proceed
		mu.Lock()
		running--
		mu.Unlock()
		return findings{}, nil
	})
	e, err := agl.New(w.set, &agl.Options{Agents: 2})
	require.NoError(t, err)
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
	errs := make(chan error)
	for i := range 5 {
		go func() { errs <- e.Start(t.Context(), fmt.Sprintf("job%d", i), job(wf), nil) }()
	}
	close(proceed)
	for range 5 {
		require.NoError(t, <-errs)
	}
	require.LessOrEqual(t, most, 2)
}

func TestPreflightSaysEverythingAtOnceAndWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.set.Workspaces = sick{w.repo}
	w.set.Agents = map[string]ports.Agent{"fake": weak{}}
	err := w.start(fix(1).With(params{Request: "x"}))
	for _, part := range []string{"no identity", "editor", "reader", "no-write", "call tools"} {
		require.ErrorContains(t, err, part)
	}
	runs, err := w.engine().Runs(t.Context())
	require.NoError(t, err)
	require.Empty(t, runs)

	w.set.Agents = nil
	err = w.start(fix(1).With(params{}))
	require.ErrorContains(t, err, `no agent for provider "fake"`)
	require.Equal(t, 1, strings.Count(err.Error(), "no agent for provider"), "what two roles share is said once: %v", err)
}

func TestMissingPortsAreNamedInOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		_, err := agl.New(ports.Set{Store: (*mem.Store)(nil)}, nil)
		require.ErrorIs(t, err, agl.Invalid)
		require.ErrorContains(t, err, "the set has no Store, Workspaces, Integrator, History, Verifier, Clock")
	}
}

type sick struct{ *mem.Repository }

func (sick) Check(context.Context) error { return ports.Unavailable.Errorf("", "no identity") }

type weak struct{ mem.Agent }

func (weak) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{}, nil
}

func TestAResumedRunIsCheckedBeforeItsFirstMissOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
	w.set.Workspaces = sick{w.repo}
	require.NoError(t, w.resume(fix(1)), "nothing is missed, nothing is checked")
}

func TestEventsComeInOrderFromOneGoroutine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	e := w.engine()
	require.NoError(t, e.Start(t.Context(), "job", fix(1).With(params{Request: "x"}), nil))
	require.NoError(t, e.Close())
	var kinds []string
	for i, ev := range w.events {
		require.Equal(t, int64(i+1), ev.Seq)
		require.Equal(t, "job", ev.Run)
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", ev.What), "ports."))
	}
	step := "Missed Began Ended "
	require.Equal(t, "RunBegan "+strings.Repeat(step, 4)+"RunEnded", strings.Join(kinds, " "))
}

func TestASlowListenerStallsNothingAndLosesOnlyChatter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(tn *turn) (any, error) {
			for i := range 10_000 {
				tn.emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: fmt.Sprint(i)})
			}
			return findings{}, nil
		})
		block := make(chan struct{})
		var got []agl.Event
		e, err := agl.New(w.set, &agl.Options{Events: func(ev agl.Event) {
			<-block
			got = append(got, ev)
		}})
		require.NoError(t, err)
		wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
		require.NoError(t, e.Start(t.Context(), "job", job(wf), nil))
		close(block)
		require.NoError(t, e.Close())
		require.Less(t, len(got), 5_000)
		require.IsType(t, agl.RunEnded{}, got[len(got)-1].What)
		require.Greater(t, got[len(got)-1].Seq, int64(10_000), "the gap shows")
	})
}

func TestStatusIsASnapshotOfARunningRun(t *testing.T) {
	t.Parallel()
	var seen agl.Status
	var e *agl.Engine
	w := newWorld(t, func(tn *turn) (any, error) {
		tn.emit(ports.AgentEvent{Kind: ports.AgentActivity, Text: "reads\x1b[31m main.go\n"})
		var err error
		seen, err = e.Status(tn.ctx, "job")
		if err != nil {
			return nil, err
		}
		return findings{}, nil
	})
	e = w.engine()
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
	require.NoError(t, e.Start(t.Context(), "job", job(wf), nil))
	require.Equal(t, agl.StateRunning, seen.Run.State)
	require.Equal(t, "reader", seen.Namespaces[0].Name)
	require.Equal(t, "reads\uFFFD[31m main.go", seen.Namespaces[0].Activity)
	after, err := e.Status(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, agl.StateDone, after.Run.State)
	require.Equal(t, int64(110), after.Usage.Tokens())
}

func TestARunThatIsHeldIsInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	inside, proceed := make(chan struct{}), make(chan struct{})
	wf := script(func(context.Context, *agl.Run) error {
		close(inside)
		<-proceed
		return nil
	})
	done := make(chan error)
	e := w.engine()
	go func() { done <- e.Start(t.Context(), "job", job(wf), nil) }()
	<-inside
	var used *agl.InUseError
	require.ErrorAs(t, w.resume(wf), &used)
	_, err := w.engine().Clear(t.Context(), "job")
	require.ErrorAs(t, err, &used)
	close(proceed)
	require.NoError(t, <-done)
}

func TestAnAgentThatIsCutOffOrRefusedDoesNotSucceed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome ports.Outcome
		kind    agl.Kind
		says    string
	}{
		"limit":               {ports.Outcome{Stop: ports.StopLimit}, agl.Unexpected, "was cut off (limit)"},
		"no stop":             {ports.Outcome{}, agl.Unexpected, "gave no reason for its end"},
		"a report, no stop":   {ports.Outcome{}, agl.Unexpected, "gave no reason for its end"},
		"no report":           {ports.Outcome{Stop: ports.StopCompleted, Text: "all done!"}, agl.Unexpected, "without its report"},
		"a report and denied": {ports.Outcome{Stop: ports.StopCompleted, Denied: []string{"Bash"}}, agl.Denied, "Bash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(tn *turn) (any, error) {
				if name == "limit" || strings.HasPrefix(name, "a report") {
					tn.call("report", `{"items":[]}`)
				}
				return c.outcome, nil
			})
			wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
			err := w.start(job(wf))
			require.Equal(t, c.kind, agl.KindOf(err))
			require.ErrorContains(t, err, c.says)
			var incomplete *agl.IncompleteError
			require.Equal(t, c.kind == agl.Unexpected, errors.As(err, &incomplete))
		})
	}
}

// An agent that never gets its report right is not paid for for ever.
func TestATurnEndsWhenTooManyReportsWereRefused(t *testing.T) {
	t.Parallel()
	for name, ended := range map[string]func(tn *turn) (any, error){
		"it is cancelled":   func(tn *turn) (any, error) { <-tn.ctx.Done(); return nil, tn.ctx.Err() },
		"it ends by itself": func(*turn) (any, error) { return ports.Outcome{Stop: ports.StopCompleted, Text: "well"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(tn *turn) (any, error) {
				for range 9 {
					require.NotContains(t, tn.call("report", `{"items":5}`).Text, "no further")
				}
				require.NoError(t, tn.ctx.Err(), "it may try once more")
				tn.call("report", `{"items":[5]}`)
				require.Error(t, tn.ctx.Err())
				require.Contains(t, tn.call("report", `{"items":[]}`).Text, "no further one is taken")
				return ended(tn)
			})
			wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
			err := w.start(job(wf))
			var incomplete *agl.IncompleteError
			require.ErrorAs(t, err, &incomplete)
			require.Equal(t, "items[0]: must be a string, got 5", incomplete.Refused)
			require.ErrorContains(t, err, "too many reports that were refused, the last because")
			records := w.journal()
			require.Equal(t, incomplete, records[len(records)-1].Failure.Incomplete, "it is recorded")
		})
	}
}

// What an agent says is any bytes. A record that could not be written would have
// what it did bought again, on each resume.
func TestWhateverAnAgentSaysIsRecorded(t *testing.T) {
	t.Parallel()
	reported := func(o ports.Outcome) func(*turn) (any, error) {
		return func(tn *turn) (any, error) {
			tn.call("report", `{"items":[]}`)
			return o, nil
		}
	}
	says := func(err error) func(*turn) (any, error) { return func(*turn) (any, error) { return nil, err } }
	limit := func(year int) error { return &agl.LimitError{Reset: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)} }
	completed := ports.Outcome{Stop: ports.StopCompleted}
	for name, play := range map[string]func(*turn) (any, error){
		"a session":   reported(ports.Outcome{Stop: ports.StopCompleted, Session: "a\xff\n"}),
		"a stop":      reported(ports.Outcome{Stop: "\xff"}),
		"a last word": func(*turn) (any, error) { return ports.Outcome{Stop: ports.StopCompleted, Text: "\xff"}, nil },
		"a session when it begins": func(tn *turn) (any, error) {
			tn.emit(ports.AgentEvent{Kind: ports.AgentSession, Text: "a\xff"})
			return reported(completed)(tn)
		},
		"a refusal":                  reported(ports.Outcome{Stop: ports.StopCompleted, Denied: []string{"\xff"}}),
		"a failure":                  says(errors.New("\xff")),
		"a limit":                    says(&agl.LimitError{Message: "\xff"}),
		"a limit after year 9999":    says(limit(10_000)),
		"a limit before all years":   says(limit(-1)),
		"a limit at an odd distance": says(&agl.LimitError{Reset: time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", 30*3600))}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, play)
			wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
			err := w.start(job(wf))
			records := w.journal()
			require.Len(t, records, 1, "%v", err)
			require.Equal(t, err == nil, records[0].Failure == nil, "%v", err)
			if err == nil {
				require.Equal(t, "a\uFFFD", strings.TrimSpace(records[0].Session))
			}
		})
	}
}

func TestAStepThatChangesNothingHasNothingToCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*turn) (any, error) { return patch{}, nil })
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Commit("m")) })
	require.ErrorIs(t, w.start(job(wf)), agl.Unexpected)

	w = newWorld(t, func(*turn) (any, error) { return patch{}, nil })
	wf = script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Commit("m").AllowEmpty()) })
	require.NoError(t, w.start(job(wf)))
}

func TestAReaderThatWritesFailsAndOneThatLeavesAFileStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		tn.write("main.go", "changed")
		return findings{}, nil
	})
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
	err := w.start(job(wf))
	require.ErrorIs(t, err, agl.Unexpected)
	require.ErrorContains(t, err, "main.go")

	w = newWorld(t, func(tn *turn) (any, error) {
		tn.write("cover.out", "mode: set")
		return findings{}, nil
	})
	require.NoError(t, w.start(job(wf)))
	salvaged, err := w.engine().Salvaged(t.Context(), "job")
	require.NoError(t, err)
	require.Len(t, salvaged, 1)
	require.Equal(t, map[string]string{"main.go": "package main\n"}, w.files())
}

func TestDiscardKeepsTheReportAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		tn.write("try.txt", "x")
		return patch{"tried"}, nil
	})
	var got patch
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Discard().Into(&got)) })
	require.NoError(t, w.start(job(wf)))
	require.Equal(t, "tried", got.Summary)
	require.NotContains(t, w.files(), "try.txt")
}

func TestAFunctionThatChangesTheCheckoutWithoutCommitFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.set.Workspaces = touching{w.repo}
	change := agl.Func("change", func(context.Context, agl.World) (int, error) { return 1, nil })
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Do(ctx, change) })
	err := w.start(job(wf))
	require.ErrorIs(t, err, agl.Unexpected)
	require.ErrorContains(t, err, "gen.go")
}

// touching are workspaces whose checkouts are never clean when they are
// inspected.
type touching struct{ *mem.Repository }

func (w touching) Attach(ctx context.Context, label string, lock ports.Lock) (ports.Worktrees, error) {
	trees, err := w.Repository.Attach(ctx, label, lock)
	return touchingTrees{trees}, err
}

type touchingTrees struct{ ports.Worktrees }

func (t touchingTrees) Open(ctx context.Context, place ports.Place, head string) (ports.Workspace, error) {
	ws, err := t.Worktrees.Open(ctx, place, head)
	return touchingWorkspace{ws}, err
}

type touchingWorkspace struct{ ports.Workspace }

func (t touchingWorkspace) Inspect(_ context.Context, head string) (ports.Changes, error) {
	return ports.Changes{Head: head, Untracked: []string{"gen.go"}}, nil
}
