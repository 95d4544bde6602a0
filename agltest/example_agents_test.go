package agltest_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/exampletest"
)

// The first review finds something, the second does not.
func ExampleReply() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{Summary: "nil is an error"}, Patch{Summary: "and is tested"})
		agltest.Reply(h, reviewer, Findings{Items: []string{"no test"}}, Findings{})
		require.NoError(t, h.Start(job))
		require.Equal(t, []string{"implementer #1", "reviewer #1", "implementer #2", "reviewer #2"}, h.Agents())
	})
	// Output:
}

// The reviewer is never content.
func ExampleReply_stops() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		still := Findings{Items: []string{"no test"}}
		agltest.Reply(h, implementer, Patch{}, Patch{})
		agltest.Reply(h, reviewer, still, still)
		err := h.Start(Repair.With(Params{Request: "handle nil", Rounds: 2}))
		require.ErrorIs(t, err, agl.Stopped)
		require.EqualError(t, err, "1 findings left after 2 rounds")
	})
	// Output:
}

// An agent reads its checkout, and changes files.
func ExampleHandle() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.Options{Files: map[string]string{"main.go": "package main\n", "old.go": "package main\n"}}.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			was, err := fs.ReadFile(turn.Tree, "main.go")
			if err != nil {
				return Patch{}, err
			}
			turn.WriteFile("main.go", string(was)+"\nfunc main() {}\n")
			turn.Remove("old.go")
			return Patch{Summary: "there is a main"}, nil
		})
		agltest.Reply(h, reviewer, Findings{})
		require.NoError(t, h.Start(job))
		require.Equal(t, map[string]string{"main.go": "package main\n\nfunc main() {}\n"}, h.Files())
		require.Equal(t, []string{"main.go", "old.go"}, h.Commits()[0].Paths)
		require.Equal(t, "handle nil (round 1)", h.Commits()[0].Message)
	})
	// Output:
}

// A handler decodes its step's inputs by name.
func ExampleTurn_Input() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			var findings []string
			turn.Input("findings", &findings)
			if turn.N == 2 {
				require.Equal(t, []string{"no test"}, findings)
				require.Contains(t, turn.Instructions, "no test")
			}
			turn.WriteFile("main.go", fmt.Sprintf("package main // %d\n", turn.N))
			return Patch{}, nil
		})
		agltest.Reply(h, reviewer, Findings{Items: []string{"no test"}}, Findings{})
		require.NoError(t, h.Start(job))
	})
	// Output:
}

// A report that does not fit goes back to the agent, in the same turn.
func ExampleTurn_Report() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Handle(h, reviewer, func(_ context.Context, turn *agltest.Turn) (Findings, error) {
			told := turn.Report(map[string]any{"items": "none", "score": 7})
			require.True(t, told.Rejected)
			fmt.Println(told.Text)
			return Findings{}, nil // this one is accepted
		})
		require.NoError(t, h.Start(job))
	})
	// Output: items: must be a list, got "none"; score: unknown key; the keys here are items
}

// A tool's handler runs, with the World that the agent's step would give it.
func ExampleTurn_Call() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.Options{Files: map[string]string{"main.go": "package main\n"}}.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			require.Equal(t, agltest.Result{Text: "main.go"}, turn.Call("search", Query{Text: "package"}))
			none := turn.Call("search", Query{Text: "nil"})
			require.True(t, none.Rejected)
			require.Equal(t, `no file holds "nil"`, none.Text)
			turn.WriteFile("nil.go", "package main\n")
			return Patch{}, nil
		})
		agltest.Reply(h, reviewer, Findings{})
		require.NoError(t, h.Start(job))
	})
	// Output:
}

// A handler's error is its agent's. A vendor's limit is a LimitError.
func ExampleHandle_limit() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		reset := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		agltest.Handle(h, implementer, func(context.Context, *agltest.Turn) (Patch, error) {
			return Patch{}, &agl.LimitError{Reset: reset}
		})
		err := h.Start(job)
		var limit *agl.LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, reset, limit.Reset)
		require.ErrorIs(t, err, agl.Unavailable)
	})
	// Output:
}

// An agent that is cut off has not done its step, whatever it has done so far.
func ExampleTurn_StopAtLimit() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			turn.WriteFile("main.go", "package main\n")
			turn.Say("I will now write the tests")
			turn.StopAtLimit()
			return Patch{}, nil
		})
		var cut *agl.IncompleteError
		require.ErrorAs(t, h.Start(job), &cut)
		require.Equal(t, "I will now write the tests", cut.Said)
		require.Empty(t, h.Files()) // nothing is committed, and nothing lost
		require.Len(t, h.Salvaged(), 1)
	})
	// Output:
}

// An agent that was refused what its role needs has not done its step.
func ExampleTurn_Refused() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			turn.Refused("Bash(go test)")
			return Patch{}, nil
		})
		require.ErrorIs(t, h.Start(job), agl.Denied)
	})
	// Output:
}

// Beyond its budget a run buys nothing more.
func ExampleTurn_Usage() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
			turn.WriteFile("main.go", "package main\n")
			turn.Usage(agl.Usage{Input: 900, Output: 200, Complete: true})
			return Patch{}, nil
		})
		require.ErrorIs(t, h.Start(job, agl.StartOptions{Tokens: 1000}), agl.Denied)
		require.Equal(t, []string{"implementer #1"}, h.Agents()) // no reviewer

		agltest.Reply(h, reviewer, Findings{})
		require.NoError(t, h.Resume(Repair, agl.ResumeOptions{Tokens: 5000}))
	})
	// Output:
}

// What an agent does is told while it does it.
func ExampleTurn_Activity() {
	exampletest.Run(func(t testing.TB) {
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{})
		agltest.Handle(h, reviewer, func(_ context.Context, turn *agltest.Turn) (Findings, error) {
			turn.Activity("Read main.go")
			return Findings{}, nil
		})
		require.NoError(t, h.Start(job))
		for _, e := range h.Events() {
			switch what := e.What.(type) {
			case agl.Began:
				fmt.Println(what.Kind, what.Name)
			case agl.Activity:
				fmt.Println(" ", what.Text)
			}
		}
	})
	// Output:
	// step implementer
	// verdict verify
	// step reviewer
	//   Read main.go
}
