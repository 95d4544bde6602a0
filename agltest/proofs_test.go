package agltest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

// scripted returns a harness in which fix takes two rounds.
func scripted(t testing.TB, opts agltest.Options) *agltest.Harness {
	h := opts.New(t)
	agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		turn.WriteFile("main.go", fmt.Sprintf("package main // %d\n", turn.N))
		turn.WriteFile("more.go", fmt.Sprintf("package main // %d\n", turn.N))
		return patch{fmt.Sprintf("change %d", turn.N)}, nil
	})
	agltest.Reply(h, reader, findings{[]string{"no test"}}, findings{})
	return h
}

func TestAFaithfulWorkflowIsProven(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]agltest.Options{"memory": {}, "git": {Git: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := scripted(t, opts)
			require.NoError(t, h.Start(fix.With(params{Request: "x"})))
			h.Replay(fix)
			h.Golden("testdata/fix.journal.txt")
			if opts.Git {
				return // examples/fix dies everywhere over git
			}
			agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness { return scripted(t, opts) }, fix.With(params{Request: "x"}), fix)
		})
	}
}

// Of the issue: twenty steps, every crash, within ten seconds in memory.
func TestTwentyStepsSurviveEveryCrash(t *testing.T) {
	t.Parallel()
	wf := agl.NewWorkflow(agl.Spec{Name: "twenty", Version: 1, Roles: []agl.Role{editor, reader}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			for i := range 10 {
				if err := run.Step(ctx, editor.Commit("change"), agl.In("i", i)); err != nil {
					return err
				}
				if err := run.Step(ctx, reader, agl.In("i", i)); err != nil {
					return err
				}
			}
			return nil
		})
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness {
		h := agltest.New(t)
		agltest.Reply(h, editor, make([]patch, 10)...)
		agltest.Reply(h, reader, make([]findings, 10)...)
		return h
	}, wf.With(agl.None{}), wf)
}

// Every verb and ending there is, a failure that the workflow handles, a red
// gate, and an end by Stopf.
func TestEveryVerbSurvivesEveryCrash(t *testing.T) {
	t.Parallel()
	note := agl.NewTool("note", "Notes something.", func(context.Context, agl.World, word) (string, error) { return "noted", nil })
	role := editor.With(note)
	wf := agl.NewWorkflow(agl.Spec{Name: "verbs", Version: 1, Roles: []agl.Role{role, reader}},
		func(ctx context.Context, run *agl.Run, p params) error {
			format := agl.Func("format", func(_ context.Context, w agl.World) (int, error) {
				names, err := fs.Glob(w.Tree, "*.txt")
				return len(names), err
			})
			var files int
			if err := run.Do(ctx, format.Into(&files)); err != nil {
				return err
			}
			if err := run.Step(ctx, role.Discard(), agl.In("files", files)); err != nil {
				return err
			}
			if err := run.Step(ctx, reader); !errors.Is(err, agl.Unavailable) {
				return fmt.Errorf("the failure was not seen: %w", err)
			}
			for round := 1; ; round++ {
				verdict, err := run.Verify(ctx)
				if err != nil {
					return err
				}
				if verdict.Passed {
					return agl.Stopf("green after %d rounds", round)
				}
				if err := run.Step(ctx, role.Commit("mend"), agl.In("output", verdict.Output)); err != nil {
					return err
				}
			}
		})
	build := func(t *testing.T) *agltest.Harness {
		h := agltest.New(t)
		agltest.Handle(h, role, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("mend.txt", fmt.Sprint(turn.N))
			turn.Call("note", word{"it"})
			turn.WriteFile("mend.txt", fmt.Sprint(turn.N, " twice"))
			return patch{}, nil
		})
		agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) {
			return findings{}, &agl.LimitError{Reset: time.Unix(1e9, 0)}
		})
		h.VerifierFails("FAIL", 2)
		return h
	}
	h := build(t)
	require.ErrorIs(t, h.Start(wf.With(params{})), agl.Stopped)
	require.Equal(t, map[string]string{"mend.txt": "3 twice"}, h.Files())
	h.Replay(wf)
	h.Golden("testdata/verbs.journal.txt")
	agltest.CrashEverywhere(t, build, wf.With(params{}), wf)
}

// Many packages have this flag for golden files of their own:
// agltest is initialized before them, and must leave them its name.
var _ = flag.Bool("update", false, "rewrite golden files")

func TestANewProcessIsStartedAsThisOneWas(t *testing.T) {
	require.Empty(t, os.Getenv("AGLTEST_CHANGED"))
	_, err := os.Stat("testdata")
	require.NoError(t, err)
	h := scripted(t, agltest.Options{})
	require.NoError(t, h.Start(fix.With(params{})))
	t.Setenv("AGLTEST_CHANGED", "yes")
	t.Chdir(t.TempDir())
	h.Replay(fix)
}

// What a test can ask for is the same there: flags, and some of go test's.
func TestANewProcessHasTheFlagsOfThisOne(t *testing.T) {
	if os.Getenv("AGLTEST_REPLAY") == "" {
		require.NoError(t, flag.Set("about", "a b"))
		defer func() { require.NoError(t, flag.Set("about", "")) }()
	}
	require.Equal(t, "a b", *about)
	h := scripted(t, agltest.Options{})
	require.NoError(t, h.Start(fix.With(params{})))
	h.Replay(fix)
}

var about = flag.String("about", "", "what a test of flags asks for")

func TestACrashEndsTheContextOfWhatStillRuns(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	agltest.Handle(h, reader, func(ctx context.Context, turn *agltest.Turn) (findings, error) {
		if turn.Attempt == 1 {
			go turn.Crash()
			<-ctx.Done()
			return findings{}, ctx.Err()
		}
		return findings{}, nil
	})
	wf := stepOnce(reader, reader)
	require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
	require.NoError(t, h.Resume(wf))
}
