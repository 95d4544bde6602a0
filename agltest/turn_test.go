package agltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

type word struct {
	Text string `json:"text"`
}

// stepOnce makes a workflow of one step.
func stepOnce(task agl.Task, role agl.Role, inputs ...agl.Input) *agl.Workflow[agl.None] {
	return agl.NewWorkflow(agl.Spec{Name: "once", Version: 1, Roles: []agl.Role{role}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error { return run.Step(ctx, task, inputs...) })
}

func TestATurnIsGivenWhatTheAgentWouldBe(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		type input struct {
			When time.Duration `json:"when"`
			Tags []string      `json:"tags"`
		}
		in := input{time.Second, []string{"a"}}
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			var got input
			turn.Input("in", &got)
			require.Equal(t, in, got)
			require.Equal(t, 1, turn.N)
			require.Equal(t, 1, turn.Attempt)
			require.Equal(t, "editor", turn.Role)
			require.Equal(t, "_base", turn.Namespace)
			require.Equal(t, agl.Model("claude/opus"), turn.Model)
			require.Contains(t, turn.Instructions, "Change it.")
			require.Contains(t, turn.Instructions, `"1s"`)
			turn.WriteFile("a/b.txt", "one")
			text, err := fs.ReadFile(turn.Tree, "a/b.txt")
			require.NoError(t, err)
			require.Equal(t, "one", string(text))
			turn.Remove("a")
			_, err = fs.Stat(turn.Tree, "a")
			require.ErrorIs(t, err, fs.ErrNotExist)
			turn.WriteFile("a", "a file now")
			return patch{}, nil
		})
		require.NoError(t, h.Start(stepOnce(editor.Commit("x"), editor, agl.In("in", in)).With(agl.None{})))
		require.Equal(t, "a file now", h.Files()["a"])
	})
}

func TestARolesToolsRun(t *testing.T) {
	t.Parallel()
	shout := agl.NewTool("shout", "Shouts.", func(_ context.Context, w agl.World, in word) (string, error) {
		if in.Text == "" {
			return "", errors.New("nothing to shout")
		}
		return fmt.Sprint(in.Text, "!", len(w.Key) > 10), nil
	})
	role := editor.With(shout)
	h := agltest.New(t)
	agltest.Handle(h, role, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		require.Equal(t, agltest.Result{Text: "hey!true"}, turn.Call("shout", word{"hey"}))
		require.Equal(t, agltest.Result{Text: "nothing to shout", Rejected: true}, turn.Call("shout", word{}))
		refused := turn.Call("shout", json.RawMessage(`{"txt":1}`))
		require.True(t, refused.Rejected)
		require.Contains(t, refused.Text, "txt")
		return patch{}, nil
	})
	require.NoError(t, h.Start(stepOnce(role.Discard(), role).With(agl.None{})))
}

func TestAReportThatIsRefusedGoesBackToTheAgent(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	agltest.Handle(h, reader, func(_ context.Context, turn *agltest.Turn) (findings, error) {
		refused := turn.Report(map[string]any{"items": "none", "more": 1})
		require.True(t, refused.Rejected)
		require.Contains(t, refused.Text, "items")
		require.Contains(t, refused.Text, "more")
		if turn.N == 2 {
			require.False(t, turn.Report(findings{[]string{"mine"}}).Rejected)
			require.True(t, turn.Report(findings{[]string{"again"}}).Rejected)
		}
		return findings{[]string{"returned"}}, nil
	})
	var one, two findings
	wf := of(func(ctx context.Context, run *agl.Run) error {
		return errors.Join(run.Step(ctx, reader.Into(&one)), run.Step(ctx, reader.Into(&two)))
	})
	require.NoError(t, h.Start(wf.With(agl.None{})))
	require.Equal(t, []string{"returned"}, one.Items)
	require.Equal(t, []string{"mine"}, two.Items)
}

func TestHowATurnEndsIsHowItsStepEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turn func(turn *agltest.Turn) error
		kind agl.Kind
		says string
	}{
		"at a limit":   {func(turn *agltest.Turn) error { turn.Say("so far"); turn.StopAtLimit(); return nil }, agl.Unexpected, "so far"},
		"refused":      {func(turn *agltest.Turn) error { turn.Refused("Bash(rm)"); return nil }, agl.Denied, "Bash(rm)"},
		"an error":     {func(*agltest.Turn) error { return errors.New("broken pipe") }, agl.Unexpected, "broken pipe"},
		"a rate limit": {func(*agltest.Turn) error { return &agl.LimitError{Reset: time.Unix(1, 0)} }, agl.Unavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := agltest.New(t)
			agltest.Handle(h, reader, func(_ context.Context, turn *agltest.Turn) (findings, error) {
				return findings{}, c.turn(turn)
			})
			err := h.Start(stepOnce(reader, reader).With(agl.None{}))
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.says)
			require.Len(t, h.Journal(), 1)
			require.NotNil(t, h.Journal()[0].Failure)
		})
	}
}

func TestWhatATurnTellsIsAnEvent(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	agltest.Handle(h, reader, func(_ context.Context, turn *agltest.Turn) (findings, error) {
		turn.Activity("Read main.go")
		turn.Say("hm")
		turn.Usage(agl.Usage{Input: 7, Output: 3, Complete: true})
		return findings{}, nil
	})
	require.NoError(t, h.Start(stepOnce(reader, reader).With(agl.None{})))
	var told []string
	for _, e := range h.Events() {
		switch e.What.(type) {
		case agl.Activity, agl.Said, agl.UsageSeen:
			told = append(told, fmt.Sprintf("%s %v", e.Namespace, e.What))
		}
	}
	require.Equal(t, []string{"_base {Read main.go}", "_base {hm}", "_base {{7 3 0 0 0 true}}"}, told)
	require.EqualValues(t, 10, h.Journal()[0].Usage.Tokens())
}

func TestAVerificationPassesUnlessItIsScripted(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	h.VerifierFails("FAIL: TestNil\n", 1)
	h.VerifierFails("FAIL: TestOne\n", 1)
	var verdicts []agl.Verdict
	wf := of(func(ctx context.Context, run *agl.Run) error {
		verdicts = nil
		for {
			v, err := run.Verify(ctx)
			if err != nil {
				return err
			}
			verdicts = append(verdicts, v)
			if v.Passed {
				return nil
			}
		}
	})
	require.NoError(t, h.Start(wf.With(agl.None{})))
	require.Len(t, verdicts, 3)
	require.Equal(t, "FAIL: TestOne\n", verdicts[1].Output)
	h.Replay(wf)
}

type positive struct {
	N int `json:"n"`
}

func (p *positive) Validate() error {
	if p.N <= 0 {
		return errors.New("n must be positive")
	}
	return nil
}

func TestARetryIsAnotherAttemptAtTheSameStep(t *testing.T) {
	t.Parallel()
	counter := agl.Reader[positive]{Name: "counter", Model: "claude/opus", Prompt: "Count."}
	var got positive
	wf := stepOnce(counter.Into(&got), counter)
	h := agltest.New(t)
	agltest.Handle(h, counter, func(_ context.Context, turn *agltest.Turn) (positive, error) {
		require.Equal(t, 1, turn.N)
		return positive{turn.Attempt - 1}, nil
	})
	err := h.Start(wf.With(agl.None{}))
	var incomplete *agl.IncompleteError
	require.True(t, errors.As(err, &incomplete), "%v", err)
	require.Contains(t, incomplete.Said, "n must be positive")
	h.CrashAt("_base step counter #1: agent counter")
	require.ErrorIs(t, h.Resume(wf), agltest.ErrCrashed)
	require.NoError(t, h.Resume(wf))
	require.Equal(t, 1, got.N)
	require.Equal(t, []string{"counter #1", "counter #1"}, h.Agents())
}

func TestACancelledStepIsSalvagedAndRunsAgain(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	h.Context = ctx
	agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		turn.WriteFile("half.txt", "half")
		if turn.Attempt == 1 {
			cancel() // and goes on to report: an agent that is told to stop has no report
		}
		return patch{}, nil
	})
	agltest.Reply(h, reader, findings{})
	require.ErrorIs(t, h.Start(fix.With(params{})), context.Canceled)
	require.Empty(t, h.Journal())
	require.Equal(t, map[string]string{"half.txt": "half"}, h.SalvagedFiles(1))
	h.Context = nil
	require.NoError(t, h.Resume(fix))
}
