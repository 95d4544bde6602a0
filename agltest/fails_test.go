package agltest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

var silent = agl.Editor[agl.None]{Name: "silent", Model: "claude/opus", Prompt: "Change it."}

// What is wrong with a test's scripts fails the test, and says what to do.
func TestAHarnessFailsTheTestThatUsesItWrongly(t *testing.T) {
	t.Parallel()
	start := func(t testing.TB, h *agltest.Harness) error {
		return h.Start(fix.With(params{Request: "crash on nil"}))
	}
	edits := func(h *agltest.Harness, handle func(turn *agltest.Turn)) {
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			handle(turn)
			return patch{}, nil
		})
		agltest.Reply(h, reader, findings{})
	}
	for name, c := range map[string]struct {
		test func(t testing.TB, h *agltest.Harness)
		want string
	}{
		"a role without a script": {func(t testing.TB, h *agltest.Harness) {
			agltest.Reply(h, editor, patch{"done"})
			require.ErrorContains(t, start(t, h), "no script")
		}, `role "reader" has no script: call Reply or Handle (scripted are ["editor"]); its step #1 in _base has the inputs summary="done"`},
		"a reply too few": {func(t testing.TB, h *agltest.Harness) {
			agltest.Reply(h, editor, patch{"done"})
			agltest.Reply(h, reader, findings{[]string{"no"}})
			require.Error(t, start(t, h))
		}, `role "editor" has 1 reply and is asked for one more; its step #2 in _base has the inputs request="crash on nil", findings=["no"]`},
		"a reply too many": {func(t testing.TB, h *agltest.Harness) {
			agltest.Reply(h, editor, patch{"done"}, patch{"done too"})
			agltest.Reply(h, reader, findings{})
			require.NoError(t, start(t, h))
		}, `reply 2 of 2 of role "editor" was never asked for`},
		"a reply without a report": {func(t testing.TB, h *agltest.Harness) {
			agltest.Reply(h, reader)
		}, `Reply for role "reader" has no report, and the role reports a agltest_test.findings`},
		"a reply that does not fit": {func(t testing.TB, h *agltest.Harness) {
			counter := agl.Reader[positive]{Name: "counter", Model: "claude/opus", Prompt: "Count."}
			agltest.Reply(h, counter, positive{-1})
			require.Error(t, h.Start(stepOnce(counter, counter).With(agl.None{})))
		}, `reply 1 of role "counter" does not fit: n must be positive`},
		"a script of another role of that name": {func(t testing.TB, h *agltest.Harness) {
			agltest.Reply(h, agl.Editor[agl.None]{Name: "editor", Model: "claude/opus", Prompt: "?"})
			require.Error(t, start(t, h))
		}, `role "editor" is scripted as another role of that name`},
		"a gate that fails no times": {func(t testing.TB, h *agltest.Harness) {
			h.VerifierFails("red", 0)
		}, `VerifierFails 0 times`},
		"two scripts of a role": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(*agltest.Turn) {})
			agltest.Reply(h, editor, patch{})
		}, `role "editor" is scripted by Handle already`},
		"an input that is not there": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.Input("reqest", new(string)) })
			require.Error(t, start(t, h))
		}, `role "editor" has no input "reqest"; it has the inputs request="crash on nil", findings=[]`},
		"an input of another type": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.Input("request", new(int)) })
			require.Error(t, start(t, h))
		}, `input "request" of role "editor" does not fit into a *int`},
		"a tool that is not there": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.Call("grep", agl.None{}) })
			require.Error(t, start(t, h))
		}, `role "editor" has no tool "grep"; it has []`},
		"a path out of the checkout": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.WriteFile("../x", "") })
			require.Error(t, start(t, h))
		}, `role "editor": write ../x: `},
		"removing what is no file's path": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.Remove(".") })
			require.Error(t, start(t, h))
		}, `role "editor": remove .: `},
		"what only git can tell": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.WriteFile(".gitignore", "*.log\n") })
			require.Error(t, start(t, h))
		}, `use Options.Git`},
		"a report of a role that has none": {func(t testing.TB, h *agltest.Harness) {
			agltest.Handle(h, silent, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
				turn.Report(patch{})
				return agl.None{}, nil
			})
			wf := agl.NewWorkflow(agl.Spec{Name: "silent", Version: 1, Roles: []agl.Role{silent}},
				func(ctx context.Context, run *agl.Run, _ agl.None) error { return run.Step(ctx, silent.Commit("x")) })
			require.Error(t, h.Start(wf.With(agl.None{})))
		}, `role "silent" reports nothing`},
		"failures of the gate that are not asked for": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.WriteFile("x", "") })
			h.VerifierFails("red", 2)
			require.NoError(t, start(t, h))
		}, `2 failures of the build gate were never asked for`},
		"a conflict on a file that is nowhere": {func(t testing.TB, h *agltest.Harness) {
			builds(h)
			h.Conflicts("two", "one.txt")
			require.Error(t, h.Start(giveUp.With(chunks{[]string{"two"}})))
		}, `Conflicts("two", "one.txt"): neither agl/test nor agl/_work/test/two has that file`},
		"a landing too few": {func(t testing.TB, h *agltest.Harness) {
			builds(h)
			h.Conflicts("one", "one.txt", "other.txt")
			require.NoError(t, h.Start(giveUp.With(chunks{[]string{"two"}})))
		}, `no landing of worktree "one" has met the conflict on one.txt, other.txt`},
		"a conflict without paths": {func(_ testing.TB, h *agltest.Harness) {
			h.Conflicts("one")
		}, `Conflicts wants the name of a worktree, and paths`},
		"a crash point that is not there": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.WriteFile("x", "") })
			h.CrashAt("_base step editor #9: commit")
			require.NoError(t, start(t, h))
		}, `never came to the crash point "_base step editor #9: commit"; it passed 21, of which these are the nearest:
  _base step editor #1: commit
  _base step editor #1: `},
		"a crash point that is nothing like one": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.WriteFile("x", "") })
			h.CrashAt("?")
			require.NoError(t, start(t, h))
		}, "it passed these:\n  the run: lock\n  the run: write run.json\n"},
		"a crash that no run came after": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.WriteFile("x", "") })
			require.NoError(t, start(t, h))
			h.CrashAt("the run: lock")
		}, `no run was started that could crash at "the run: lock"`},
		"a turn that is kept": {func(t testing.TB, h *agltest.Harness) {
			var kept *agltest.Turn
			edits(h, func(turn *agltest.Turn) { turn.WriteFile("x", ""); kept = turn })
			require.NoError(t, start(t, h))
			done := make(chan struct{})
			go func() { defer close(done); kept.WriteFile("y", "") }()
			<-done
		}, `the turn of role "editor" is over: its handler has returned`},
		"more options than one": {func(t testing.TB, h *agltest.Harness) {
			_ = h.Resume(fix, agl.ResumeOptions{}, agl.ResumeOptions{})
		}, `there are 2 agl.ResumeOptions, and may be one`},
		"a job that does not start": {func(t testing.TB, h *agltest.Harness) {
			agltest.CrashOneByOne(t, func(testing.TB) *agltest.Harness { return h }, fix.With(params{Request: "\xff"}), fix)
		}, `the run did not start: `},
		"a harness that has run": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.WriteFile("x", "") })
			require.NoError(t, start(t, h))
			agltest.CrashOneByOne(t, func(testing.TB) *agltest.Harness { return h }, fix.With(params{}), fix)
		}, `build must return a new harness each time`},
		"a replay of a run that has not ended": {func(t testing.TB, h *agltest.Harness) {
			edits(h, func(turn *agltest.Turn) { turn.Crash() })
			require.ErrorIs(t, start(t, h), agltest.ErrCrashed)
			h.Replay(fix)
		}, `Replay wants a run that has ended, and this one is interrupted`},
		"a replay of a run that ended in a failure": {func(t testing.TB, h *agltest.Harness) {
			agltest.Handle(h, editor, func(context.Context, *agltest.Turn) (patch, error) { return patch{}, errors.New("no") })
			require.Error(t, start(t, h))
			h.Replay(fix)
		}, `the run ended in a recorded failure (step editor, record 1), which a resume tries again: there is nothing to replay`},
		"files before there is a run": {func(t testing.TB, h *agltest.Harness) {
			h.Files()
		}, `there is no run "test"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failures, _ := failing(t, func(t testing.TB) { c.test(t, agltest.New(t)) })
			require.Contains(t, failures, c.want)
		})
	}
}

func TestAPanicIsAnErrorWithItsStackInTheLog(t *testing.T) {
	t.Parallel()
	hurt := agl.NewTool("hurt", "Hurts.", func(context.Context, agl.World, agl.None) (agl.None, error) { panic("in a tool") })
	wf := agl.NewWorkflow(agl.Spec{Name: "panics", Version: 1, Roles: []agl.Role{editor.With(hurt)}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			if err := run.Step(ctx, editor.With(hurt).Commit("x").AllowEmpty()); err != nil {
				return err
			}
			panic("in the workflow")
		})
	for name, c := range map[string]struct {
		turn func(turn *agltest.Turn)
		err  string
		log  string
	}{
		"handler":  {func(*agltest.Turn) { panic("in a handler") }, "in a handler", "fails_test.go"},
		"tool":     {func(turn *agltest.Turn) { turn.Say(turn.Call("hurt", agl.None{}).Text) }, "in the workflow", "in a tool"},
		"workflow": {func(*agltest.Turn) {}, "in the workflow", "fails_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			failures, logs := failing(t, func(t testing.TB) {
				h := agltest.New(t)
				agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
					c.turn(turn)
					return patch{}, nil
				})
				err = h.Start(wf.With(agl.None{}))
			})
			require.Empty(t, failures)
			require.ErrorIs(t, err, agl.Internal)
			require.ErrorContains(t, err, c.err)
			require.Contains(t, logs, c.log)
			require.Contains(t, logs, "goroutine")
		})
	}
}
