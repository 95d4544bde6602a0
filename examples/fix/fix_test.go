package fix

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

func TestMain(m *testing.M) { agltest.Main(m) }

var job = Workflow.With(Params{Request: "crash on nil"})

// twoRounds returns a harness whose reviewer finds something in the first
// round.
func twoRounds(t *testing.T, opts agltest.Options) *agltest.Harness {
	h := opts.New(t)
	agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
		turn.WriteFile("main.go", fmt.Sprintf("package main // %d\n", turn.N))
		return Patch{Summary: "handle nil"}, nil
	})
	agltest.Reply(h, reviewer, Findings{Items: []Finding{{Severity: "high", Text: "no test"}}}, Findings{})
	return h
}

func TestFixRepeatsUntilTheReviewIsClean(t *testing.T) {
	t.Parallel()
	h := twoRounds(t, agltest.Options{})
	require.NoError(t, h.Start(job))
	assert.Len(t, h.Journal(), 4)
	assert.Equal(t, "package main // 2\n", h.Files()["main.go"])
	h.Replay(Workflow)                   // a resume runs no agent
	h.Golden("testdata/fix.journal.txt") // a new shape needs a new Version
}

func TestFixTellsTheImplementerWhatTheReviewerFound(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
		var items []Finding
		turn.Input("findings", &items)
		turn.WriteFile("found.txt", fmt.Sprint(items))
		return Patch{Summary: "handle nil"}, nil
	})
	agltest.Reply(h, reviewer, Findings{Items: []Finding{{Severity: "low", Text: "no test"}}}, Findings{})
	require.NoError(t, h.Start(job))
	require.Equal(t, "[{low no test}]", h.Files()["found.txt"])
}

func TestTheImplementerMayAskAPerson(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	h.Answer("Which dialect", "CQL")
	h.Answer("Since when", "1.2")
	agltest.Handle(h, implementer, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
		turn.WriteFile("query.txt", turn.Ask("Which dialect?", "SQL", "CQL")+" since "+turn.Ask("Since when?"))
		return Patch{Summary: "choose"}, nil
	})
	agltest.Reply(h, reviewer, Findings{})
	require.NoError(t, h.Start(job))
	require.Equal(t, "CQL since 1.2", h.Files()["query.txt"])
	h.Replay(Workflow) // asks nobody
}

func TestFixStopsAfterItsRounds(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	still := Findings{Items: []Finding{{Severity: "high", Text: "no test"}}}
	agltest.Reply(h, implementer, Patch{Summary: "one"}, Patch{Summary: "two"})
	agltest.Reply(h, reviewer, still, still)
	err := h.Start(Workflow.With(Params{Request: "crash on nil", Rounds: 2}))
	require.ErrorIs(t, err, agl.Stopped)
	require.EqualError(t, err, "1 findings left after 2 rounds")
	h.Replay(Workflow)
}

func TestFixGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	h := twoRounds(t, agltest.Options{})
	h.CrashAt("_base step reviewer #1: agent reviewer has ended")
	require.ErrorIs(t, h.Start(job), agltest.ErrCrashed)
	require.NoError(t, h.Resume(Workflow))
	require.Equal(t, []string{"implementer #1", "reviewer #1", "reviewer #1", "implementer #2", "reviewer #2"}, h.Agents())
}

func TestFixSurvivesACrashAnywhere(t *testing.T) {
	t.Parallel()
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness { return twoRounds(t, agltest.Options{}) }, job, Workflow)
}

func TestFixIsTheSameOverGit(t *testing.T) {
	t.Parallel()
	git := agltest.Options{Git: true}
	h := twoRounds(t, git)
	require.NoError(t, h.Start(job))
	h.Replay(Workflow)
	h.Golden("testdata/fix.journal.txt")
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness { return twoRounds(t, git) }, job, Workflow)
}
