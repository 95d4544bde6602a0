package agl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// askingSteps are two children whose agents ask the same.
func askingSteps() *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "a", "b")
		if err != nil {
			return err
		}
		return each([]string{"a", "b"}, func(name string) error {
			return children[strings.Index("ab", name)].Step(ctx, asker.Commit("x"))
		})
	}, asker)
}

func TestIdenticalQuestionsOfTwoAgentsGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		for i := range 2 {
			said := tn.call("ask", `{"question": "Which?", "options": ["x", "y"], "free": true}`)
			if said.Rejected {
				return nil, errors.New(said.Text)
			}
			tn.write(fmt.Sprint(tn.Namespace, i), said.Text)
		}
		return patch{}, nil
	})
	s := &seat{say: func(q ports.Question) string { return "for " + q.Namespace + " " + q.ID }}
	w.set.Terminal = s.terminal()
	require.NoError(t, w.start(job(askingSteps())))
	var ids []string
	for _, q := range s.asked {
		require.Equal(t, "asker", q.From)
		require.True(t, q.TakesText())
		ids = append(ids, q.ID)
	}
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 4)
	for _, r := range w.journal() {
		files := w.repo.Files(r.Head)
		require.True(t, strings.HasPrefix(string(files[r.Namespace+"0"]), "for "+r.Namespace), "%v", files)
		require.NotEqual(t, files[r.Namespace+"0"], files[r.Namespace+"1"])
	}
}

func TestAnAgentWhoseQuestionNobodyAnswersIsStoppedAndGivenTheAnswerOnResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said []string
		w := newWorld(t, func(tn *turn) (any, error) {
			tn.write("f", "half")
			res := tn.call("ask", `{"question": "Which?", "options": ["x", "y"]}`)
			if res.Rejected {
				<-tn.ctx.Done()
				return nil, tn.ctx.Err()
			}
			said = append(said, res.Text)
			tn.write("f", res.Text)
			return patch{}, nil
		})
		wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, asker.Commit("x")) }, asker)
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, w.start(job(wf)), &unanswered)
		require.Empty(t, w.journal(), "it is no failure")
		require.NoError(t, w.engine().Answer(t.Context(), "job", unanswered.Questions[0].ID, "y"))
		require.NoError(t, w.resume(wf))
		require.Equal(t, []string{"y"}, said)
		require.Equal(t, "y", w.files()["f"])
	})
}

// The agent dies after its question was answered: its step runs again, and the
// person is not asked again.
func TestAQuestionThatWasAnsweredIsNotPutAgainWhenItsStepRunsAgain(t *testing.T) {
	t.Parallel()
	died := false
	w := newWorld(t, func(tn *turn) (any, error) {
		res := tn.call("ask", `{"question": "Which?"}`)
		if !died {
			died = true
			return nil, errors.New("it died")
		}
		tn.write("f", res.Text)
		return patch{}, nil
	})
	s := &seat{say: func(ports.Question) string { return "this" }}
	w.set.Terminal = s.terminal()
	wf := script(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, asker.Commit("x")); err != nil {
			return err
		}
		return run.Step(ctx, asker.Discard())
	}, asker)
	require.Error(t, w.start(job(wf)))
	require.Equal(t, []string{"Which?"}, s.texts())
	require.NoError(t, w.resume(wf))
	require.Equal(t, []string{"Which?"}, s.texts(), "of the second step, not of the first again")
	require.Equal(t, "this", w.files()["f"])
}

// The agent that asks is the only one that may run, and a sibling's waits for it.
func TestARunStopsForAQuestionThatKeepsAnotherAgentFromBeginning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(tn *turn) (any, error) {
			if tn.call("ask", `{"question": "Which?"}`).Rejected {
				<-tn.ctx.Done()
				return nil, tn.ctx.Err()
			}
			tn.write("f", "x")
			return patch{}, nil
		})
		e, err := agl.New(w.set, &agl.Options{Agents: 1})
		require.NoError(t, err)
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, e.Start(t.Context(), "job", job(askingSteps()), nil), &unanswered)
		require.NotEmpty(t, unanswered.Questions)
		require.NoError(t, e.Close())
	})
}

// Another verb halts the run while a person thinks about what an agent asks: what
// the agent has done is worth the wait.
func TestAnAgentsQuestionOutlivesAHaltOfTheRunWhileAPersonSitsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(tn *turn) (any, error) {
			tn.write("f", tn.call("ask", `{"question": "Which?"}`).Text)
			return patch{}, nil
		})
		w.set.Terminal = mem.Terminal(func(ctx context.Context, _ ports.Question) (string, error) {
			time.Sleep(time.Hour)
			return "this", ctx.Err()
		})
		wf := script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, "a", "b")
			if err != nil {
				return err
			}
			return each([]string{"a", "b"}, func(name string) error {
				if name == "a" {
					return children[0].Step(ctx, asker.Commit("x"))
				}
				time.Sleep(time.Minute)
				_, err := children[1].Verify(ctx) // there is no gate: the run cannot go on
				return err
			})
		}, asker)
		require.ErrorIs(t, w.start(job(wf)), agl.Invalid)
		require.Len(t, w.journal(), 1, "the agent's step")
	})
}

func TestWhatAnAgentMayAskIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		for _, args := range []string{
			fmt.Sprintf(`{"question": %q}`, strings.Repeat("x", 20_000)),
			fmt.Sprintf(`{"question": "?", "options": [%q]}`, strings.Repeat("x", 2000)),
			fmt.Sprintf(`{"question": "?", "options": [%s"x"]}`, strings.Repeat(`"y",`, 60)),
			`{"question": " "}`, `{"question": "?", "options": ["a", "a"]}`, `{}`,
		} {
			res := tn.call("ask", args)
			if !res.Rejected || len(res.Text) > 2000 {
				return nil, fmt.Errorf("%.80s was taken: %.200s", args, res.Text)
			}
		}
		tn.write("f", "x")
		return patch{}, nil
	})
	s := &seat{say: func(ports.Question) string { return "x" }}
	w.set.Terminal = s.terminal()
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, asker.Commit("x")) }, asker))))
	require.Empty(t, s.texts())
}

// The turn goes on without the answer: nobody can give one any more.
func TestAQuestionThatItsAskerGaveUpCanNotBeAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.play = func(tn *turn) (any, error) {
			under, cancel := context.WithTimeout(tn.ctx, time.Minute)
			defer cancel()
			outer := tn.ctx
			tn.ctx = under
			if res := tn.call("ask", `{"question": "Which?"}`); !res.Rejected {
				return nil, errors.New("it was answered")
			}
			tn.ctx = outer
			open, err := w.engine().Questions(tn.ctx, "job")
			if err != nil || len(open) > 0 {
				return nil, fmt.Errorf("%v is open (%w)", open, err)
			}
			tn.write("f", "x")
			return patch{}, nil
		}
		w.set.Terminal = mem.Terminal(func(ctx context.Context, _ ports.Question) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, asker.Commit("x")) }, asker))))
	})
}
