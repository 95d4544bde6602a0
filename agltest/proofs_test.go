package agltest_test

import (
	"context"
	"fmt"
	"testing"

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
