package agl_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// asker is an editor that asks.
var asker = agl.Editor[patch]{Name: "asker", Model: "fake/one", Prompt: "Ask.", Tools: []agl.Tool{agl.AskTool()}}

// seat is a person at a terminal, who answers as say does, and every question
// that was put.
type seat struct {
	mu    sync.Mutex
	asked []ports.Question
	say   func(q ports.Question) string
}

func (s *seat) terminal() ports.Terminal {
	return mem.Terminal(func(_ context.Context, q ports.Question) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, q)
		return s.say(q), nil
	})
}

// texts returns what was asked since the last call.
func (s *seat) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, q := range s.asked {
		texts = append(texts, q.Text)
	}
	s.asked = nil
	return texts
}

// color asks which color, and whether to go on.
func color(got *[]string) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		var n int
		if err := run.Ask(ctx, agl.Choose("Which?", agl.Opt("one", 1), agl.Opt("two", 2)).Into(&n)); err != nil {
			return err
		}
		var text string
		if err := run.Ask(ctx, agl.Text("Why?").Into(&text), agl.In("n", n)); err != nil {
			return err
		}
		*got = append(*got, fmt.Sprint(n, text))
		return nil
	})
}

func TestAnAnswerIsRecordedAndNotAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := &seat{say: func(q ports.Question) string {
		if len(q.Options) > 0 {
			return q.Options[1]
		}
		return "because\nof it "
	}}
	w.set.Terminal = s.terminal()
	var got []string
	require.NoError(t, w.start(job(color(&got))))
	require.Equal(t, []string{"Which?", "Why?"}, s.texts())
	require.Equal(t, []string{"2because\nof it "}, got[len(got)-1:])
	records := w.journal()
	require.Len(t, records, 2)
	require.Equal(t, agl.KindAnswer, records[0].Kind)
	require.JSONEq(t, `"two"`, string(records[0].Value))
	require.NoError(t, w.resume(color(&got)))
	require.Empty(t, s.texts())
	require.Equal(t, got[0], got[len(got)-1])
	open, err := w.engine().Questions(t.Context(), "job")
	require.NoError(t, err)
	require.Empty(t, open)
}

func TestAQuestionThatCannotBeAskedIsInvalidAndNobodyIsAsked(t *testing.T) {
	t.Parallel()
	n, text := 0, ""
	for name, c := range map[string]struct {
		query agl.Query
		want  string
	}{
		"blank":              {agl.Text(" \n").Into(&text), "blank"},
		"a label twice":      {agl.Choose("Which?", agl.Opt("a", 1), agl.Opt("a", 2)).Into(&n), `it has option "a" twice`},
		"a blank label":      {agl.Choose("Which?", agl.Opt("a", 1), agl.Opt(" ", 2)).Into(&n), "option 2 is blank"},
		"no destination":     {agl.Text("Why?").Into(nil), "destination"},
		"a zero question":    {agl.Question[int]{}.Into(&n), "zero Question"},
		"no option's value":  {agl.Choose("Which?", agl.Opt("a", 1)).Unattended(2).Into(&n), "none of its options"},
		"a blank unattended": {agl.Text("Why?").Unattended("").Into(&text), "blank"},
		"no UTF-8":           {agl.Text("\xff").Into(&text), "UTF-8"},
		"nil":                {nil, "nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			s := &seat{say: func(ports.Question) string { return "a" }}
			w.set.Terminal = s.terminal()
			err := w.start(job(script(func(ctx context.Context, run *agl.Run) error { return run.Ask(ctx, c.query) })))
			require.ErrorIs(t, err, agl.Invalid)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, s.texts())
			require.Empty(t, w.journal())
		})
	}
}

func TestWhereNobodyIsThereAQuestionWaitsOnDiskAndTheRunStopsInOrder(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"nobody was there": false, "the person has gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				if gone {
					w.set.Terminal = mem.Terminal(func(context.Context, ports.Question) (string, error) {
						return "", ports.Unavailable.Errorf("", "end of input")
					})
				}
				var got []string
				err := w.start(job(color(&got)))
				var unanswered *agl.UnansweredError
				require.ErrorAs(t, err, &unanswered)
				require.ErrorIs(t, err, agl.Unavailable)
				require.Equal(t, 6, agl.ExitCode(err))
				require.Len(t, unanswered.Questions, 1)
				require.Equal(t, agl.StateInterrupted, w.info().State)

				e := w.engine()
				open, err := e.Questions(t.Context(), "job")
				require.NoError(t, err)
				require.Len(t, open, 1)
				q := open[0].Question
				require.Equal(t, unanswered.Questions[0], q)
				require.Equal(t, []string{"one", "two"}, q.Options)
				require.Equal(t, "Which?", q.Text)

				require.ErrorIs(t, e.Answer(t.Context(), "job", q.ID, "three"), agl.Invalid)
				require.ErrorIs(t, e.Answer(t.Context(), "job", "0123456789", "one"), agl.NotFound)
				require.ErrorIs(t, e.Answer(t.Context(), "job", "../run", "one"), agl.NotFound)
				require.ErrorIs(t, e.Answer(t.Context(), "other", q.ID, "one"), agl.NotFound)
				require.NoError(t, e.Answer(t.Context(), "job", q.ID, "two"))
				require.NoError(t, e.Answer(t.Context(), "job", q.ID, "one"), "until it is taken it may be changed")
				open, err = e.Questions(t.Context(), "job")
				require.NoError(t, err)
				require.Equal(t, "one", open[0].Answer)

				w.set.Terminal = nil
				require.ErrorAs(t, w.resume(color(&got)), &unanswered)
				require.Equal(t, "Why?", unanswered.Questions[0].Text, "the first was answered")
				require.NoError(t, w.engine().Answer(t.Context(), "job", unanswered.Questions[0].ID, "so"))
				require.NoError(t, w.resume(color(&got)))
				require.Equal(t, "1so", got[len(got)-1])
				open, err = w.engine().Questions(t.Context(), "job")
				require.NoError(t, err)
				require.Empty(t, open)
			})
		})
	}
}

func TestUnattendedAnswersOnlyWhereNobodyIsThere(t *testing.T) {
	t.Parallel()
	wf := func(got *int) *agl.Workflow[agl.None] {
		return script(func(ctx context.Context, run *agl.Run) error {
			return run.Ask(ctx, agl.Choose("Which?", agl.Opt("one", 1), agl.Opt("two", 2)).Unattended(2).Into(got))
		})
	}
	w, got := newWorld(t, nil), 0
	require.NoError(t, w.start(job(wf(&got))))
	require.Equal(t, 2, got)
	w = newWorld(t, nil)
	w.set.Terminal = (&seat{say: func(ports.Question) string { return "one" }}).terminal()
	require.NoError(t, w.start(job(wf(&got))))
	require.Equal(t, 1, got)
}

// A long step of a sibling goes on while a question waits; then the run stops.
func TestARunStopsForAQuestionOnlyWhenNothingElseIsLeftToDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(tn *turn) (any, error) {
			time.Sleep(time.Hour)
			tn.write("f", tn.Namespace)
			return patch{}, nil
		})
		began := time.Now()
		wf := script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, "a", "b")
			if err != nil {
				return err
			}
			return each([]string{"a", "b"}, func(name string) error {
				if name == "a" {
					var text string
					return children[0].Ask(ctx, agl.Text("What?").Into(&text))
				}
				return children[1].Step(ctx, editor.Commit("b"))
			})
		}, editor)
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, w.start(job(wf)), &unanswered)
		require.Equal(t, "a", unanswered.Questions[0].Namespace)
		took := time.Since(began)
		require.True(t, took >= time.Hour && took < time.Hour+5*time.Second, "%v", took)
		require.Len(t, w.journal(), 1, "the step was recorded")
	})
}

func TestAnAnswerFromElsewhereReachesALiveRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		put := make(chan ports.Question, 1)
		takenBack := false
		w.set.Terminal = mem.Terminal(func(ctx context.Context, q ports.Question) (string, error) {
			put <- q
			<-ctx.Done()
			takenBack = true
			return "", ctx.Err()
		})
		var text string
		wf := script(func(ctx context.Context, run *agl.Run) error { return run.Ask(ctx, agl.Text("What?").Into(&text)) })
		go func() {
			q := <-put
			time.Sleep(time.Hour)
			require.NoError(t, w.engine().Answer(context.Background(), "job", q.ID, "that"))
		}()
		began := time.Now()
		require.NoError(t, w.start(job(wf)))
		require.Equal(t, "that", text)
		require.Less(t, time.Since(began), time.Hour+time.Second)
		require.True(t, takenBack)
		synctest.Wait()
		var by []ports.AnsweredBy
		for _, e := range w.events {
			if answered, ok := e.What.(agl.Answered); ok {
				by = append(by, answered.By)
			}
		}
		require.Equal(t, []ports.AnsweredBy{ports.AnsweredElsewhere}, by)
	})
}

func TestADeadlineThatPassesWhileAPersonIsAskedIsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		asked := 0
		w.set.Terminal = mem.Terminal(func(ctx context.Context, _ ports.Question) (string, error) {
			asked++
			<-ctx.Done()
			return "", ctx.Err()
		})
		var failed []error
		wf := script(func(ctx context.Context, run *agl.Run) error {
			var text string
			under, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			failed = append(failed, run.Ask(under, agl.Text("What?").Into(&text)))
			return nil
		})
		require.NoError(t, w.start(job(wf)))
		require.NoError(t, w.resume(wf))
		require.Equal(t, 1, asked)
		for _, err := range failed {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, agl.Unexpected)
		}
	})
}

func TestAConflictIsAskedAboutAsItStands(t *testing.T) {
	t.Parallel()
	prompt := "x"
	w, _ := turns(t, &prompt)
	s := &seat{say: func(ports.Question) string { return "no" }}
	w.set.Terminal = s.terminal()
	again := 0
	resolve := func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
		var yes bool
		q := agl.Choose(c.Summary(), agl.Opt("yes", true), agl.Opt("no", false)).Ahead(10)
		if err := c.Ask(ctx, q.Into(&yes)); err != nil || !yes {
			return c.Abort(), err
		}
		again++
		return c.Retry(), nil
	}
	var late *agl.Conflict
	keeping := func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
		late = c
		return resolve(ctx, c)
	}
	w.verifier.Command = "make"
	w.verifier.Find = func(context.Context, ports.VerifyTask, int) (ports.Verdict, error) { return ports.Verdict{}, nil }
	wf := script(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "a")
		if err != nil {
			return err
		}
		if err := build(ctx, child, "a"); err != nil {
			return err
		}
		return child.Integrate(ctx, keeping)
	}, builder)
	require.ErrorIs(t, w.start(job(wf)), agl.Conflicted)
	require.Equal(t, []string{"a: the build gate failed (make)"}, s.texts())
	require.ErrorIs(t, w.resume(wf), agl.Conflicted)
	require.Len(t, s.texts(), 1, "it is asked about again")
	var yes bool
	require.ErrorIs(t, late.Ask(t.Context(), agl.Choose("?", agl.Opt("a", true)).Into(&yes)), agl.Invalid, "it is settled")
}

func TestAPersonIsAskedOnceHoweverARunIsInterrupted(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, f *faults, powerCut bool) (w *world, answered int) {
		w = newWorld(t, func(tn *turn) (any, error) {
			tn.write("f", tn.call("ask", `{"question": "Which?"}`).Text)
			return patch{}, nil
		})
		s := &seat{say: func(q ports.Question) string { return "to " + q.ID }}
		wf := script(func(ctx context.Context, run *agl.Run) error {
			var text string
			if err := run.Ask(ctx, agl.Text("What?").Into(&text)); err != nil {
				return err
			}
			if err := run.Step(ctx, asker.Commit(text)); err != nil {
				return err
			}
			return run.Ask(ctx, agl.Text("What?").Into(&text))
		}, asker)
		w.set.Terminal = s.terminal()
		plain := w.set
		w.set = f.wrap(plain)
		err := w.start(job(wf))
		w.set = plain
		require.Equal(t, f.failed, err != nil, "%v", err)
		if powerCut {
			w.store.PowerCut()
			w.repo.PowerCut()
		}
		if err = w.resume(wf); errors.Is(err, agl.NotFound) {
			err = w.start(job(wf))
		}
		require.NoError(t, err)
		open, err := w.engine().Questions(t.Context(), "job")
		require.NoError(t, err)
		require.Empty(t, open)
		return w, len(s.texts())
	}
	probe := &faults{}
	want, asked := run(t, probe, false)
	require.Equal(t, 3, asked)
	for i, name := range probe.names {
		for kind := range 4 {
			powerCut, after := kind%2 == 1, kind/2 == 1
			t.Run(fmt.Sprintf("%d %s after=%v powercut=%v", i+1, name, after, powerCut), func(t *testing.T) {
				t.Parallel()
				w, asked := run(t, &faults{at: i + 1, after: after, crash: true}, powerCut)
				if diff := cmp.Diff(want.outcome(), w.outcome()); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
				require.LessOrEqual(t, asked, 4, "one at most was being recorded")
			})
		}
	}
}
