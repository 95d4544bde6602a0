package agltest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/exampletest"
)

// The process dies while an agent works; a resume runs that step again, and no
// other.
func ExampleTurn_Crash() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Handle(h, reviewer, func(_ context.Context, turn *agltest.Turn) (Findings, error) {
			if turn.Attempt == 1 {
				turn.Crash()
			}
			return Findings{}, nil
		})
		require.ErrorIs(t, h.Start(job), agltest.ErrCrashed)
		require.Equal(t, agl.StateInterrupted, h.Run().State)
		require.NoError(t, h.Resume(Repair))
		require.Equal(t, []string{"implementer #1", "reviewer #1", "reviewer #1"}, h.Agents())
	})
	// Output:
}

// The process dies when the agent's work is noted down and not yet committed:
// it is not bought again. A point that does not exist fails the test with a
// list of those that do.
func ExampleHarness_CrashAt() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Reply(h, reviewer, Findings{})
		h.CrashAt("_base step implementer #1: commit")
		require.ErrorIs(t, h.Start(job), agltest.ErrCrashed)
		require.NoError(t, h.Resume(Repair))
		require.Equal(t, []string{"implementer #1", "reviewer #1"}, h.Agents())
	})
	// Output:
}

// Wherever the process dies, a resume ends in the same tree with nothing
// bought twice.
func ExampleCrashEverywhere() {
	_ = func(t *testing.T) {
		agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness {
			h := agltest.New(t)
			agltest.Reply(h, implementer, Patch{}, Patch{})
			agltest.Reply(h, reviewer, Findings{Items: []string{"no test"}}, Findings{})
			return h
		}, job, Repair)
	}
}

// With Main, Replay resumes in a new process, too.
func ExampleMain() {
	// func TestMain(m *testing.M) { agltest.Main(m) }
	_ = func(m *testing.M) { agltest.Main(m) }
}

// A resume of the finished run asks for what is recorded, and for nothing
// else.
func ExampleHarness_Replay() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Reply(h, reviewer, Findings{})
		require.NoError(t, h.Start(job))
		h.Replay(Repair)
	})
	// Output:
}

// A workflow that depends on more than its parameters and what the verbs
// returned asks for something else when it is called again.
func ExampleHarness_Replay_fails() {
	exampletest.Run(func(t testing.TB) {
		calls := 0
		forgetful := agl.NewWorkflow(agl.Spec{Name: "forgetful", Version: 1, Roles: []agl.Role{reviewer}},
			func(ctx context.Context, run *agl.Run, _ agl.None) error {
				calls++
				return run.Step(ctx, reviewer, agl.In("summary", fmt.Sprint("call ", calls)))
			})
		h := agltest.New(t)
		agltest.Reply(h, reviewer, Findings{})
		require.NoError(t, h.Start(forgetful.With(agl.None{})))
		h.Replay(forgetful)
	})
	// Output:
	// FAIL: agltest: replay with seed 1: _base: 0 recorded, then step reviewer (#1): input:summary changed from "call 1" to "call 2", 1 not reached (first step reviewer, record 1)
}

// The journal's shape is that of a golden file.
func ExampleHarness_Golden() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Reply(h, reviewer, Findings{})
		require.NoError(t, h.Start(job))
		h.Golden("testdata/repair.journal.txt")
	})
	// Output:
}

// Somebody reworded a prompt: Plan says what that is about, and Rebuy buys
// what follows again.
func ExampleHarness_Plan() {
	exampletest.Run(func(t testing.TB) {
		review := func(role agl.Reader[Findings]) *agl.Workflow[agl.None] {
			return agl.NewWorkflow(agl.Spec{Name: "review", Version: 1, Roles: []agl.Role{role}},
				func(ctx context.Context, run *agl.Run, _ agl.None) error { return run.Step(ctx, role) })
		}
		h := agltest.New(t)
		agltest.Reply(h, reviewer, Findings{}, Findings{})
		require.NoError(t, h.Start(review(reviewer).With(agl.None{})))

		strict := reviewer
		strict.Prompt = "Review the change, and its tests."
		plan, err := h.Plan(review(strict))
		require.NoError(t, err)
		fmt.Println(plan.Namespaces[0].Miss)

		var diverged *agl.DivergedError
		require.ErrorAs(t, h.Resume(review(strict)), &diverged)
		require.Len(t, h.Agents(), 1) // nothing was started
		require.NoError(t, h.Resume(review(strict), agl.ResumeOptions{Rebuy: true}))
		require.Len(t, h.Agents(), 2)
	})
	// Output: step reviewer (#1): prompt changed from "Review the change." to "Review the change, and its tests."
}
