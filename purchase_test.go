package agl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

// stubborn fails the first time that it is to end a step's processes.
type stubborn struct{ calls *int }

func (r stubborn) Reap(_ context.Context, entry string) ([]string, error) {
	if !strings.HasPrefix(entry, ports.EnvStep) {
		return nil, nil
	}
	*r.calls++
	if *r.calls > 1 {
		return nil, nil
	}
	return nil, ports.Conflicted.Errorf("", "process 1 still runs")
}

func TestAStepWhoseProcessesDoNotEndIsPaidOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.set.Reaper = stubborn{new(int)}
	err := w.start(fix(1).With(params{Request: "x"}))
	require.ErrorContains(t, err, "process 1 still runs")
	require.NoError(t, w.resume(fix(1)))
	require.Equal(t, []string{"editor#1", "reader#1", "editor#2", "reader#2"}, w.agents())
}

// forgetful are workspaces that do not know the committer when they are first
// asked.
type forgetful struct {
	ports.Workspaces
	calls *int
}

func (f forgetful) Attach(ctx context.Context, label string, lock ports.Lock) (ports.Worktrees, error) {
	trees, err := f.Workspaces.Attach(ctx, label, lock)
	return forgetfulTrees{trees, f.calls}, err
}

type forgetfulTrees struct {
	ports.Worktrees
	calls *int
}

func (f forgetfulTrees) Identity(ctx context.Context) (string, error) {
	*f.calls++
	if *f.calls == 1 {
		return "", ports.Unavailable.Errorf("", "git var took too long")
	}
	return f.Worktrees.Identity(ctx)
}

func TestACommitterIsKnownBeforeAnAgentIsPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.set.Workspaces = forgetful{w.repo, new(int)}
	require.ErrorContains(t, w.start(fix(1).With(params{Request: "x"})), "git var took too long")
	require.Empty(t, w.agents())
	require.NoError(t, w.resume(fix(1)))
	require.Equal(t, []string{"editor#1", "reader#1", "editor#2", "reader#2"}, w.agents())
}

type loggedOut struct{ ports.Agent }

func (loggedOut) Ready(context.Context, ports.Model) error {
	return ports.Unavailable.Errorf("", "not logged in")
}

func TestAResumeWithAnAgentThatIsNotReadyGivesNothingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, failsFirst)
	wf := func(prompt string) *agl.Workflow[agl.None] {
		r := reader
		r.Prompt = prompt
		return script(func(ctx context.Context, run *agl.Run) error {
			failed := run.Step(ctx, r)
			if err := run.Step(ctx, editor.Commit("m")); err != nil {
				return err
			}
			return failed
		}, editor, r)
	}
	require.Error(t, w.start(job(wf("one"))))
	before, records, plain := w.outcome(), w.store.Documents("job", "records/"), w.set
	w.set.Agents = map[string]ports.Agent{ports.AnyProvider: loggedOut{plain.Agents[ports.AnyProvider]}}
	for name, resume := range map[string]func() error{
		"rebuy": func() error { return w.resume(wf("two"), agl.ResumeOptions{Rebuy: true}) },
		"retry": func() error { return w.resume(wf("one"), agl.ResumeOptions{Retry: true}) },
	} {
		require.ErrorContains(t, resume(), "not logged in", name)
		require.Equal(t, before, w.outcome(), name)
		require.Equal(t, records, w.store.Documents("job", "records/"), name)
	}
	w.set = plain
	require.NoError(t, w.resume(wf("two"), agl.ResumeOptions{Rebuy: true}))
	require.Equal(t, []string{"reader#1", "editor#1", "reader#1", "editor#1"}, w.agents())
}

func TestARetryOfARunThatDivergedGivesNothingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == "reader" && tn.Ordinal == 1 {
			return nil, ports.Unavailable.Errorf("", "no")
		}
		return twoRounds(tn)
	})
	wf := func(word string) *agl.Workflow[agl.None] {
		return script(func(ctx context.Context, run *agl.Run) error {
			if err := run.Step(ctx, editor.Commit("m"), agl.In("word", word)); err != nil {
				return err
			}
			if run.Step(ctx, reader) == nil {
				return nil
			}
			return run.Step(ctx, reader, agl.In("other", 1))
		})
	}
	require.NoError(t, w.start(job(wf("a"))))
	before, records := w.outcome(), w.store.Documents("job", "records/")
	require.Len(t, w.journal(), 3)
	w.agents()
	var diverged *agl.DivergedError
	require.ErrorAs(t, w.resume(wf("b"), agl.ResumeOptions{Retry: true}), &diverged)
	require.Empty(t, w.agents())
	require.Equal(t, before, w.outcome())
	require.Equal(t, records, w.store.Documents("job", "records/"))
}

// The function asks for something else only when it is called to run.
func TestADivergenceThatShowsOnlyLiveIsRebought(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]agl.ResumeOptions{"rebuy": {Rebuy: true}, "plain": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, twoRounds)
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			wf := script(func(c context.Context, run *agl.Run) error {
				calls++
				if err := run.Step(c, reader, agl.In("live", calls == 3)); err != nil {
					return err
				}
				if calls == 1 {
					cancel()
				}
				return run.Step(c, reader, agl.In("last", 1))
			})
			require.ErrorIs(t, w.engine().Start(ctx, "job", job(wf), nil), context.Canceled)
			require.Equal(t, []string{"reader#1"}, w.agents())
			err := w.resume(wf, opts)
			if opts.Rebuy {
				require.NoError(t, err)
				require.Equal(t, []string{"reader#1", "reader#2"}, w.agents())
				require.Len(t, w.journal(), 2)
				return
			}
			var diverged *agl.DivergedError
			require.ErrorAs(t, err, &diverged)
			require.Empty(t, w.agents())
			require.Len(t, w.journal(), 1)
		})
	}
}
