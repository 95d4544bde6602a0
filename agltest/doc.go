// Package agltest proves workflows in go test, with no vendor installed: a
// Harness runs them with scripted agents and a scripted person, over a
// repository, a store, a clock and a build gate in memory.
//
//	func TestFix(t *testing.T) {
//		h := agltest.New(t)
//		agltest.Reply(h, implementer, Patch{Summary: "handle nil"})
//		agltest.Reply(h, reviewer, Findings{})
//		require.NoError(t, h.Start(fix.Workflow.With(fix.Params{Request: "crash on nil"})))
//		h.Replay(fix.Workflow)
//		h.Golden("testdata/fix.journal.txt")
//	}
//
// Three proofs are a line each: Replay (a resume of the finished run asks for
// what is recorded, and nothing else), Golden (the journal has the shape it
// had) and CrashEverywhere (wherever the process dies, a resume ends in the
// same tree with nothing bought twice).
//
// The harness reaches no vendor: its agents are the scripts, whatever the
// roles' models. docs/testing.md is a table of recipes: I want to test that…
// The examples here are the same, about the workflow of the first.
package agltest
