package agltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

// Case D2, in one namespace: what came before the failure is not bought again,
// whatever fails. (Children that fail beside each other come with worktrees.)
func TestAFailureDoesNotCostWhatSucceededBefore(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	agltest.Handle(h, reader, func(_ context.Context, turn *agltest.Turn) (findings, error) {
		if turn.N == 10 && turn.Attempt == 1 {
			return findings{}, errors.New("overloaded")
		}
		return findings{}, nil
	})
	wf := of(func(ctx context.Context, run *agl.Run) error {
		for i := range 10 {
			if err := run.Step(ctx, reader, agl.In("i", i)); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorContains(t, h.Start(wf.With(agl.None{})), "overloaded")
	require.NoError(t, h.Resume(wf))
	require.Equal(t, []string{"reader #10", "reader #10"}, h.Agents()[9:])
}

// Case D14, with what there is to ask a person by now: a recorded function for
// a question of the workflow, a tool for one of an agent.
func TestAnAnswerBelongsToItsQuestion(t *testing.T) {
	t.Parallel()
	var asked []string
	answer := func(question string) string {
		asked = append(asked, question)
		return fmt.Sprintf("answer %d", len(asked))
	}
	type question struct {
		Text string `json:"text"`
	}
	ask := agl.NewTool("question", "Asks a person.", func(_ context.Context, _ agl.World, q question) (string, error) {
		return answer(q.Text), nil
	})
	curious := reader.With(ask)
	wf := agl.NewWorkflow(agl.Spec{Name: "asks", Version: 1, Roles: []agl.Role{curious}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			for _, text := range []string{"which branch?", "which test?"} {
				var got string
				call := agl.Func("ask", func(context.Context, agl.World) (string, error) { return answer(text), nil })
				if err := run.Do(ctx, call.Into(&got), agl.In("question", text)); err != nil {
					return err
				}
				if err := run.Step(ctx, curious, agl.In(text, got)); err != nil {
					return err
				}
			}
			return nil
		})
	h := agltest.New(t)
	agltest.Handle(h, curious, func(_ context.Context, turn *agltest.Turn) (findings, error) {
		told := turn.Call("question", question{fmt.Sprint("mine? ", turn.N)}).Text
		if turn.N == 2 && turn.Attempt == 1 {
			turn.Crash()
		}
		return findings{[]string{told}}, nil
	})
	require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
	require.NoError(t, h.Resume(wf))
	require.Equal(t, []string{
		"which branch?", "mine? 1", "which test?", "mine? 2",
		"mine? 2", // its step runs again, and its question with it; the workflow's own are recorded
	}, asked)
	require.JSONEq(t, `{"items":["answer 5"]}`, string(h.Journal()[3].Value))
	h.Replay(wf)
	require.Len(t, asked, 5)
}

// Case D17: the key is the same wherever the checkout is, whatever the build
// (this test also runs with -race) and the process.
func TestAKeyDependsOnNothingButWhatTheStepSays(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Reply(h, editor, patch{"done"})
		agltest.Reply(h, reader, findings{})
		require.NoError(t, h.Start(fix.With(params{Request: "crash on <nil> & co\u2028"})))
		require.Equal(t, "dad59a806ac79139444c4252f4a45c0c410dceabc2ed12a87226dc7abc0ad628", h.Journal()[0].Key)
		h.Replay(fix)
	})
}
