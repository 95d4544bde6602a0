package agltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/ports"
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

// Case D14: the workflow's answers are recorded, and so is an agent's before its
// step is.
func TestAnAnswerBelongsToItsQuestion(t *testing.T) {
	t.Parallel()
	curious := reader.With(agl.AskTool())
	wf := agl.NewWorkflow(agl.Spec{Name: "asks", Version: 1, Roles: []agl.Role{curious}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			for _, text := range []string{"which branch?", "which test?"} {
				var got string
				if err := run.Ask(ctx, agl.Text(text).Into(&got)); err != nil {
					return err
				}
				if err := run.Step(ctx, curious, agl.In(text, got)); err != nil {
					return err
				}
			}
			return nil
		})
	h := agltest.New(t)
	var asked []string
	h.Person(func(q ports.Question) string {
		asked = append(asked, q.Text)
		return fmt.Sprintf("answer %d", len(asked))
	})
	agltest.Handle(h, curious, func(_ context.Context, turn *agltest.Turn) (findings, error) {
		told := turn.Ask(fmt.Sprint("mine? ", turn.N))
		if turn.N == 2 && turn.Attempt == 1 {
			turn.Crash()
		}
		return findings{[]string{told}}, nil
	})
	require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
	require.NoError(t, h.Resume(wf))
	require.Equal(t, []string{"which branch?", "mine? 1", "which test?", "mine? 2"}, asked)
	require.JSONEq(t, `{"items":["answer 4"]}`, string(h.Journal()[3].Value))
	h.Replay(wf)
	require.Len(t, asked, 4)
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
