package agl_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/files"
	"example.com/agl/ports"
)

// fixWith is fix with another prompt for its reviewer.
func fixWith(prompt string) *agl.Workflow[agl.None] {
	changed := reader
	changed.Prompt = prompt
	return script(func(ctx context.Context, run *agl.Run) error {
		for round := range 2 {
			if err := run.Step(ctx, editor.Commit("edit"), agl.In("round", round)); err != nil {
				return err
			}
			if err := run.Step(ctx, changed, agl.In("round", round)); err != nil {
				return err
			}
		}
		return nil
	}, editor, changed)
}

func TestAChangedPromptDivergesAndStartsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(job(fixWith("Look for bugs in the change."))))
	before := w.outcome()
	w.agents()

	err := w.resume(fixWith("Look for races in the change."))
	var diverged *agl.DivergedError
	require.ErrorAs(t, err, &diverged)
	require.Equal(t, 4, agl.ExitCode(err))
	for _, part := range []string{"reader", "prompt", "bugs", "races", "330 tokens"} {
		require.Contains(t, err.Error(), part)
	}
	plan, planErr := w.engine().Plan(t.Context(), "job", fixWith("Look for races in the change."))
	require.NoError(t, planErr)
	require.Equal(t, diverged.Plan, plan)
	require.True(t, plan.Diverged())
	require.Equal(t, 1, plan.Namespaces[0].Hits)
	require.Len(t, plan.Namespaces[0].Unreached, 3)
	require.Empty(t, w.agents())
	require.Equal(t, before, w.outcome())
}

func TestRebuyGivesUpWhatIsNotReachedAndItsCommitsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.Role == "editor" {
			tn.write("f", string(rune('a'+tn.n)))
			return patch{}, nil
		}
		return findings{}, nil
	})
	require.NoError(t, w.start(job(fixWith("one"))))
	given := w.journal()[2].Head
	w.agents()
	require.NoError(t, w.resume(fixWith("two"), agl.ResumeOptions{Rebuy: true}))
	require.Equal(t, []string{"reader#1", "editor#2", "reader#2"}, w.agents())
	require.Len(t, w.journal(), 4)
	require.NotEmpty(t, w.repo.Files(given), "the superseded commit is kept")
	require.NoError(t, w.resume(fixWith("two")))
	require.Empty(t, w.agents())
}

func TestARebuyInterruptedAnywhereIsResumedWithoutDiverging(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, f *faults) *world {
		w := newWorld(t, func(tn *turn) (any, error) {
			if tn.Role == "editor" {
				tn.write("f", tn.Role+string(rune('0'+tn.Ordinal)))
				return patch{}, nil
			}
			return findings{}, nil
		})
		require.NoError(t, w.start(job(fixWith("one"))))
		plain := w.set
		w.set = f.wrap(plain)
		err := w.resume(fixWith("two"), agl.ResumeOptions{Rebuy: true})
		w.set = plain
		w.store.PowerCut()
		if f.failed && err != nil {
			err = w.resume(fixWith("two"))
			var diverged *agl.DivergedError
			if errors.As(err, &diverged) {
				// It was stopped before the rebuy was recorded.
				err = w.resume(fixWith("two"), agl.ResumeOptions{Rebuy: true})
			}
		}
		require.NoError(t, err)
		return w
	}
	probe := &faults{}
	want := run(t, probe).outcome()
	recorded := false
	for i, name := range probe.names {
		recorded = recorded || bytes.HasPrefix([]byte(name), []byte("write records/00000006"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, run(t, &faults{at: i + 1, crash: true}).outcome())
		})
	}
	require.True(t, recorded, "the superseded record is among the calls: %v", probe.names)
}

// limited steps, and goes another way if the step met a limit.
func limited(after func()) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		err := run.Step(ctx, reader, agl.In("way", "first"))
		var limit *agl.LimitError
		if !errors.As(err, &limit) {
			return err
		}
		if err := run.Step(ctx, reader, agl.In("way", limit.Reset)); err != nil {
			return err
		}
		after()
		return run.Step(ctx, reader, agl.In("way", "last"))
	})
}

func TestAFailureThatTheWorkflowWentOnAfterReplays(t *testing.T) {
	t.Parallel()
	reset := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	refusals := 1
	w := newWorld(t, func(*turn) (any, error) {
		if refusals > 0 {
			refusals--
			return nil, &agl.LimitError{Reset: reset, Message: "too much"}
		}
		return findings{}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	err := w.engine().Start(ctx, "job", job(limited(cancel)), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, agl.StateInterrupted, w.info().State)
	require.Equal(t, []string{"reader#1", "reader#2"}, w.agents())

	require.NoError(t, w.resume(limited(func() {})))
	require.Equal(t, []string{"reader#3"}, w.agents(), "what was bought on that way is not bought again")

	require.NoError(t, w.resume(limited(func() {}), agl.ResumeOptions{Retry: true}))
	require.Equal(t, []string{"reader#1"}, w.agents(), "the failed one is tried again, and the other way is given up")
	require.Len(t, w.journal(), 1)
}

func TestARunThatEndedInAFailureRetriesItUntilItSucceedsAndThenNever(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		switch {
		case tn.Role == "editor":
			tn.write("f", "x")
			return patch{}, nil
		case tn.n < 4:
			return nil, ports.Unavailable.Errorf("", "attempt %d", tn.n)
		}
		return findings{}, nil
	})
	wf := script(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, editor.Commit("m")); err != nil {
			return err
		}
		return run.Step(ctx, reader)
	})
	err := w.start(job(wf))
	require.ErrorIs(t, err, agl.Unavailable)
	require.Equal(t, 6, agl.ExitCode(err))
	require.Equal(t, agl.StateFailed, w.info().State)
	require.Len(t, w.journal(), 2)

	plan, err := w.engine().Plan(t.Context(), "job", wf)
	require.NoError(t, err)
	require.Len(t, plan.Retries, 1)

	require.ErrorContains(t, w.resume(wf), "attempt 3")
	require.NoError(t, w.resume(wf))
	require.Equal(t, []string{"editor#1", "reader#1", "reader#1", "reader#1"}, w.agents())
	require.Len(t, w.journal(), 2, "a position holds one live record")
	require.NoError(t, w.resume(wf))
	require.Empty(t, w.agents())
}

func TestAFailureSaysTheSameOnTheFirstRunAndOnReplay(t *testing.T) {
	t.Parallel()
	secret := errors.New("a cause that is not recorded")
	for name, cause := range map[string]error{
		"limit":      &agl.LimitError{Reset: time.Unix(5, 0).UTC(), Message: "m"},
		"kind":       ports.Denied.Errorf("op", "why: %w", secret),
		"no kind":    secret,
		"incomplete": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(tn *turn) (any, error) {
				if tn.n == 1 {
					return nil, cause // without a cause: no report
				}
				return findings{}, nil
			})
			var seen []error
			wf := script(func(ctx context.Context, run *agl.Run) error {
				seen = append(seen, run.Step(ctx, reader))
				return run.Step(ctx, reader, agl.In("then", 1))
			})
			require.NoError(t, w.start(job(wf)))
			require.NoError(t, w.resume(wf))
			firstErr, replay := seen[0], seen[1]
			require.Error(t, firstErr)
			require.Equal(t, firstErr.Error(), replay.Error())
			require.Equal(t, agl.KindOf(firstErr), agl.KindOf(replay))
			require.NotErrorIs(t, firstErr, secret)
			var a, b *agl.LimitError
			require.Equal(t, errors.As(firstErr, &a), errors.As(replay, &b))
			require.Equal(t, a, b)
			var c, d *agl.IncompleteError
			require.Equal(t, errors.As(firstErr, &c), errors.As(replay, &d))
			require.Equal(t, c, d)
		})
	}
}

func TestACancelledStepIsNotRecordedAndItsWorkIsSalvaged(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, func(tn *turn) (any, error) {
		tn.write("half.txt", "half")
		cancel()
		<-tn.ctx.Done()
		return nil, tn.ctx.Err()
	})
	err := w.engine().Start(ctx, "job", fix(1).With(params{Request: "x"}), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, agl.KindOf(err))
	require.Empty(t, w.journal())
	require.Equal(t, agl.StateInterrupted, w.info().State)
	salvaged, err := w.engine().Salvaged(t.Context(), "job")
	require.NoError(t, err)
	require.Len(t, salvaged, 1)

	w.play = twoRounds
	require.NoError(t, w.resume(fix(1)))
	require.NotContains(t, w.files(), "half.txt")
}

func TestAStepsDeadlineIsRecordedAsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // so that time passes only while the agent waits
		w := newWorld(t, func(tn *turn) (any, error) {
			if tn.n == 1 {
				<-tn.ctx.Done()
				return nil, ports.Unexpected.Errorf("", "cut off: %w", tn.ctx.Err())
			}
			return findings{}, nil
		})
		wf := script(func(ctx context.Context, run *agl.Run) error {
			short, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			err := run.Step(short, reader)
			if !errors.Is(err, context.DeadlineExceeded) {
				return errors.New("no deadline")
			}
			return run.Step(ctx, reader, agl.In("then", 1))
		})
		require.NoError(t, w.start(job(wf)))
		w.agents()
		require.NoError(t, w.resume(wf))
		require.Empty(t, w.agents())
	})
}

// Case D12.
func TestAnotherVersionOrWorkflowIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
	w.agents()
	for _, def := range []agl.Definition{fix(2), script(func(context.Context, *agl.Run) error { return nil })} {
		err := w.resume(def)
		require.ErrorIs(t, err, agl.Conflicted)
		_, err = w.engine().Plan(t.Context(), "job", def)
		require.ErrorIs(t, err, agl.Conflicted)
	}
	require.ErrorIs(t, w.engine().Resume(t.Context(), "none", fix(1), nil), agl.NotFound)
	require.Empty(t, w.agents())
}

// strict is a report that a test makes stricter after it was recorded.
type strict struct {
	N int `json:"n"`
}

var strictest = 100

func (s strict) Validate() error {
	if s.N > strictest {
		return errors.New("n is too large")
	}
	return nil
}

// Not parallel: it changes what strict accepts.
//
// Case D13.
func TestAValueThatIsNotValidAnyMoreSaysSo(t *testing.T) {
	defer func(n int) { strictest = n }(strictest)
	role := agl.Reader[strict]{Name: "strict", Model: "fake/x", Prompt: "p"}
	wf := script(func(ctx context.Context, run *agl.Run) error {
		var s strict
		return run.Step(ctx, role.Into(&s))
	}, role)
	w := newWorld(t, func(*turn) (any, error) { return strict{50}, nil })
	require.NoError(t, w.start(job(wf)))
	w.agents()
	strictest = 10
	err := w.resume(wf)
	require.ErrorIs(t, err, agl.Conflicted)
	require.ErrorContains(t, err, "made under other rules")
	require.Empty(t, w.agents())
}

func TestARecordThatCannotBeReadIsNamedAndNothingIsDone(t *testing.T) {
	t.Parallel()
	cut := func(doc []byte) []byte { return doc[:len(doc)/2] }
	for name, c := range map[string]struct {
		document string
		edit     func([]byte) []byte
	}{
		"torn record":    {"records/00000002.json", cut},
		"empty record":   {"records/00000001.json", func([]byte) []byte { return nil }},
		"zeroed record":  {"records/00000003.json", func(doc []byte) []byte { return make([]byte, len(doc)) }},
		"unknown key":    {"records/00000001.json", func(doc []byte) []byte { return append([]byte(`{"x":1,`), doc[1:]...) }},
		"missing key":    {"records/00000001.json", func(doc []byte) []byte { return bytes.Replace(doc, []byte(`"called":0,`), nil, 1) }},
		"another format": {"records/00000001.json", func(doc []byte) []byte { return bytes.Replace(doc, []byte(`"format":1`), []byte(`"format":2`), 1) }},
		"another number": {"records/00000001.json", func(doc []byte) []byte { return bytes.Replace(doc, []byte(`"seq":1,`), []byte(`"seq":7,`), 1) }},
		"torn run":       {"run.json", cut},
		"another label": {"run.json", func(doc []byte) []byte {
			return bytes.Replace(doc, []byte(`"label":"job"`), []byte(`"label":"jab"`), 1)
		}},
		"run, new format": {"run.json", func(doc []byte) []byte {
			return bytes.Replace(doc, []byte(`"format":1`), []byte(`"format":9,"more":1`), 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, twoRounds)
			require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
			w.agents()
			w.store.Corrupt("job", c.document, c.edit)
			err := w.resume(fix(1))
			var corrupt *agl.CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.Equal(t, 6, agl.ExitCode(err))
			require.Contains(t, err.Error(), c.document)
			if name == "another format" || name == "run, new format" {
				require.Contains(t, err.Error(), "format")
			}
			require.Empty(t, w.agents())
			runs, err := w.engine().Runs(t.Context())
			require.NoError(t, err)
			require.Contains(t, runs[0].Error, c.document)
			_, err = w.engine().Clear(t.Context(), "job")
			require.NoError(t, err, "it can be cleared")
		})
	}
}

func TestAStrayFileAmongTheRecordsIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	store := files.New(t.TempDir(), "p")
	w.set.Store = store
	require.ErrorIs(t, w.start(fix(1).With(params{Request: "x"}), agl.StartOptions{Tokens: 200}), agl.Denied, "of its budget")
	for _, name := range []string{"records/.DS_Store", "records/00000003.json~", "notes/.DS_Store"} {
		require.NoError(t, os.WriteFile(store.Path("job", name), []byte("x"), 0o600))
	}
	require.NoError(t, w.resume(fix(1), agl.ResumeOptions{Tokens: 1000}))
	require.Equal(t, []string{"editor#1", "reader#1", "editor#2", "reader#2"}, w.agents())
	require.Len(t, w.journal(), 4)
	require.NoError(t, w.resume(fix(1)))
	require.Empty(t, w.agents())
	_, err := w.engine().Clear(t.Context(), "job")
	require.NoError(t, err)
	require.NoDirExists(t, store.Path("job", ""))
}

func TestABranchThatWasMovedIsConflicted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
	trees, err := w.repo.Attach(t.Context(), "job", nil)
	require.NoError(t, err)
	info := w.info()
	require.NoError(t, trees.Move(t.Context(), "agl/job", info.Head, info.Base))
	err = w.resume(fix(1))
	require.ErrorIs(t, err, agl.Conflicted)
	require.ErrorContains(t, err, info.Head[:12])
	require.ErrorContains(t, err, info.Base[:12])
	_, err = w.engine().Clear(t.Context(), "job")
	require.ErrorIs(t, err, agl.Conflicted)
}

func TestClearRemovesTheRunAndKeepsItsSalvage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		tn.write("left.txt", "x")
		return nil, ports.Unexpected.Errorf("", "no")
	})
	require.Error(t, w.start(fix(1).With(params{Request: "x"})))
	cleared, err := w.engine().Clear(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, []string{"agl/job"}, cleared.Branches)
	require.Len(t, cleared.Salvage, 1)
	_, err = w.engine().Clear(t.Context(), "job")
	require.ErrorIs(t, err, agl.NotFound)
	w.play = twoRounds
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})), "the label is free")
}
