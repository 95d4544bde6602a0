package split

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/ports"
)

func TestMain(m *testing.M) { agltest.Main(m) }

var job = Workflow.With(Params{Request: "greet"})

// A play says what the agents do; what is nil is left to new.
type play struct {
	agltest.Options
	chunks []string
	edits  map[string]func(*agltest.Turn) // of the builders, by chunk

	planner  func(*agltest.Turn) Plan
	builder  func(*agltest.Turn) (Patch, error)
	mender   func(*agltest.Turn)
	reviewer func(*agltest.Turn) Findings
}

// new returns a harness whose planner plans the chunks, whose builders each
// write a file named for their chunk, and whose reviewer has nothing to say.
func (p play) new(t *testing.T) *agltest.Harness {
	h := p.New(t)
	agltest.Handle(h, planner, func(_ context.Context, turn *agltest.Turn) (Plan, error) {
		if p.planner != nil {
			return p.planner(turn), nil
		}
		var plan Plan
		for _, id := range p.chunks {
			plan.Chunks = append(plan.Chunks, Chunk{ID: id, Task: "build " + id})
		}
		return plan, nil
	})
	agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (Patch, error) {
		if p.builder != nil {
			return p.builder(turn)
		}
		if edit := p.edits[turn.Namespace]; edit != nil {
			edit(turn)
		} else {
			turn.WriteFile(turn.Namespace+".txt", turn.Namespace+"\n")
		}
		return Patch{Summary: "built " + turn.Namespace}, nil
	})
	agltest.Handle(h, mender, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
		p.mender(turn)
		return agl.None{}, nil
	})
	agltest.Handle(h, reviewer, func(_ context.Context, turn *agltest.Turn) (Findings, error) {
		if p.reviewer != nil {
			return p.reviewer(turn), nil
		}
		return Findings{}, nil
	})
	return h
}

func writes(path, text string) func(*agltest.Turn) {
	return func(turn *agltest.Turn) { turn.WriteFile(path, text) }
}

// crossing is of two chunks that write the same file, and one that does not.
var crossing = play{
	chunks: []string{"left", "alone", "right"},
	edits:  map[string]func(*agltest.Turn){"left": writes("both.txt", "left\n"), "right": writes("both.txt", "right\n")},
	mender: writes("both.txt", "left\nright\n"),
}

// renaming is of two chunks that build alone, and not together: one renames
// what the other calls anew. Git finds nothing wrong with that.
var renaming = play{
	Options: agltest.Options{Files: map[string]string{"greet.go": "package greet\n\nfunc Greet() {}\n"}},
	chunks:  []string{"rename", "call"},
	edits: map[string]func(*agltest.Turn){
		"rename": writes("greet.go", "package greet\n\nfunc Hello() {}\n"),
		"call":   writes("caller.go", "package greet\n\nvar hello = Greet()\n"),
	},
}

// compile is a compiler for what renaming's chunks write.
func compile(tree fs.FS) error {
	greet, _ := fs.ReadFile(tree, "greet.go")
	caller, _ := fs.ReadFile(tree, "caller.go") // empty if it is not there
	for _, name := range []string{"Greet", "Hello"} {
		if strings.Contains(string(caller), name+"()") && !strings.Contains(string(greet), "func "+name+"()") {
			return fmt.Errorf("undefined: %s", name)
		}
	}
	return nil
}

func TestChunksAreBuiltInWorktreesAndLanded(t *testing.T) {
	t.Parallel()
	h := play{chunks: []string{"a", "b", "c"}}.new(t)
	require.NoError(t, h.Start(job))
	want := map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}
	if diff := cmp.Diff(want, h.Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	require.Len(t, h.Agents(), 5)
	h.Replay(Workflow)
	h.Golden("testdata/split.journal.txt")
}

func TestTheMenderResolvesAConflict(t *testing.T) {
	t.Parallel()
	p := crossing
	p.mender = func(turn *agltest.Turn) {
		var paths []agl.ConflictPath
		turn.Input("paths", &paths)
		require.Equal(t, []agl.ConflictPath{{Path: "both.txt", Kind: "add/add"}}, paths)
		text, err := fs.ReadFile(turn.Tree, "both.txt")
		require.NoError(t, err)
		require.Contains(t, string(text), "<<<<<<< ")
		turn.WriteFile("both.txt", "left\nright\n")
	}
	h := p.new(t)
	require.NoError(t, h.Start(job))
	require.Equal(t, "left\nright\n", h.Files()["both.txt"])
	h.Replay(Workflow)
}

// asking is the job whose conflicts come to a person.
var asking = Workflow.With(Params{Request: "greet", Resolve: Person})

func TestAPersonMendsWhatTheMenderCannot(t *testing.T) {
	t.Parallel()
	p := crossing
	p.Git = true
	p.mender = func(*agltest.Turn) {} // leaves it
	h := p.new(t)
	h.Person(func(q ports.Question) string {
		assert.Contains(t, q.Text, "conflicts in both.txt (markers, line 1) (still, after 2 tries)\n")
		_, dir, _ := strings.Cut(q.Text, "The merge is in ")
		dir, _, _ = strings.Cut(dir, ". Edit it there")
		assert.NoError(t, os.WriteFile(filepath.Join(dir, "both.txt"), []byte("left\nright\n"), 0o600))
		return "try again"
	})
	require.NoError(t, h.Start(asking))
	require.Equal(t, "left\nright\n", h.Files()["both.txt"])
	h.Replay(Workflow) // asks nobody
}

func TestAPersonGivesUpWhatTheMenderCannot(t *testing.T) {
	t.Parallel()
	p := crossing
	p.mender = func(*agltest.Turn) {}
	h := p.new(t)
	h.Answer("both.txt", "give it up")
	var conflict *agl.ConflictError
	require.ErrorAs(t, h.Start(asking), &conflict)
	require.Contains(t, []string{"left", "right"}, conflict.Child)
	require.Contains(t, h.Files(), "alone.txt")
}

func TestChunksThatAreGreenAloneAndRedTogetherAreMended(t *testing.T) {
	t.Parallel()
	p := renaming
	p.mender = func(turn *agltest.Turn) {
		var output string
		turn.Input("output", &output)
		require.Equal(t, "undefined: Greet", output)
		turn.WriteFile("caller.go", "package greet\n\nvar hello = Hello()\n")
	}
	h := p.new(t)
	h.Gate(compile)
	require.NoError(t, h.Start(job))
	want := map[string]string{"greet.go": "package greet\n\nfunc Hello() {}\n", "caller.go": "package greet\n\nvar hello = Hello()\n"}
	if diff := cmp.Diff(want, h.Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	h.Replay(Workflow)
}

func TestChunksThatAreRedTogetherAreNotLandedTogether(t *testing.T) {
	t.Parallel()
	h := renaming.new(t)
	h.Gate(compile)
	err := h.Start(Workflow.With(Params{Request: "greet", Resolve: GiveUp}))
	var conflict *agl.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, "undefined: Greet", conflict.Verdict.Output)
	_, called := h.Files()["caller.go"]
	require.Equal(t, called, strings.Contains(h.Files()["greet.go"], "func Greet()"), "one of the two has landed")
}

func TestAChunkThatIsGivenUpIsTriedAgainAlone(t *testing.T) {
	t.Parallel()
	h := play{Options: agltest.Options{Files: map[string]string{"main.go": "package main\n"}}, chunks: []string{"a", "b", "c"}}.new(t)
	h.Conflicts("b", "main.go")
	err := h.Start(Workflow.With(Params{Request: "greet", Resolve: GiveUp}))
	var conflict *agl.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.ErrorIs(t, err, agl.Conflicted)
	require.Equal(t, "b", conflict.Child)
	require.Contains(t, h.Files(), "a.txt")
	require.Contains(t, h.Files(), "c.txt")
	require.NotContains(t, h.Files(), "b.txt")
	before := h.Agents()

	require.NoError(t, h.Resume(Workflow))
	require.Contains(t, h.Files(), "b.txt")
	require.Equal(t, append(before, "reviewer #1"), h.Agents())
	h.Replay(Workflow)
}

func TestOneResumeTriesAllChunksAgainThatFailed(t *testing.T) {
	t.Parallel()
	h := play{chunks: []string{"a", "b", "c"}, builder: func(turn *agltest.Turn) (Patch, error) {
		if turn.Namespace != "b" && turn.Attempt == 1 {
			return Patch{}, agl.Unavailable.Errorf("", "nobody is logged in")
		}
		turn.WriteFile(turn.Namespace+".txt", turn.Namespace+"\n")
		return Patch{}, nil
	}}.new(t)
	err := h.Start(job)
	require.ErrorIs(t, err, agl.Unavailable)
	require.Len(t, leaves(err), 2)
	require.Len(t, h.Agents(), 4)
	require.NoError(t, h.Resume(Workflow))
	require.Len(t, h.Agents(), 4+2+1)
	require.Len(t, h.Files(), 3)
}

// leaves returns what a workflow has joined.
func leaves(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

func TestThePlannerIsToldWhichIDsNoWorktreeMayHave(t *testing.T) {
	t.Parallel()
	h := play{planner: func(turn *agltest.Turn) Plan {
		told := turn.Report(Plan{Chunks: []Chunk{{ID: "a/b"}, {ID: "Doc"}, {ID: "doc"}, {ID: "_base"}}})
		require.True(t, told.Rejected)
		for _, problem := range []string{`the id "a/b" has '/'`, `ids "Doc" and "doc"`, `"_base" is reserved`} {
			require.Contains(t, told.Text, problem)
		}
		require.True(t, turn.Report(Plan{Chunks: []Chunk{}}).Rejected)
		return Plan{Chunks: []Chunk{{ID: "doc", Task: "write"}}}
	}}.new(t)
	require.NoError(t, h.Start(job))
	require.Equal(t, map[string]string{"doc.txt": "doc\n"}, h.Files())
}

func TestChunksThatAreTooManyAreBuiltAsOne(t *testing.T) {
	t.Parallel()
	given := func(text string) func(*agltest.Turn) {
		return func(turn *agltest.Turn) {
			var task string
			turn.Input("task", &task)
			require.Equal(t, text, task)
			turn.WriteFile(turn.Namespace, "x")
		}
	}
	h := play{
		chunks: []string{"a", "b", "c", "d"},
		edits:  map[string]func(*agltest.Turn){"a": given("build a"), "b": given("build b\n\nbuild c\n\nbuild d")},
	}.new(t)
	require.NoError(t, h.Start(Workflow.With(Params{Request: "greet", Chunks: 2})))
	require.Equal(t, map[string]string{"a": "x", "b": "x"}, h.Files())
}

func TestAFindingAboutTheWholeStopsTheRun(t *testing.T) {
	t.Parallel()
	h := play{chunks: []string{"a"}, reviewer: func(turn *agltest.Turn) Findings {
		var patches []Patch
		turn.Input("patches", &patches)
		require.Equal(t, []Patch{{Summary: "built a"}}, patches)
		return Findings{Items: []Finding{{Severity: "high", Text: "no test"}}}
	}}.new(t)
	err := h.Start(job)
	require.ErrorIs(t, err, agl.Stopped)
	require.EqualError(t, err, "everything has landed, and the review has findings: 1, the first: no test")
	require.Contains(t, h.Files(), "a.txt")
}

func TestParametersThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	for _, p := range []Params{{Chunks: -1}, {Resolve: "nobody"}} {
		h := agltest.New(t)
		require.ErrorIs(t, h.Start(Workflow.With(p)), agl.Invalid)
	}
}

func TestSplitSurvivesACrashAnywhere(t *testing.T) {
	t.Parallel()
	p := crossing
	p.chunks = []string{"left", "right"}
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness { return p.new(t) }, job, Workflow)
}

func TestSplitIsTheSameOverGit(t *testing.T) {
	t.Parallel()
	p := crossing
	p.Git = true
	h := p.new(t)
	require.NoError(t, h.Start(job))
	require.Equal(t, map[string]string{"alone.txt": "alone\n", "both.txt": "left\nright\n"}, h.Files())
	h.Replay(Workflow)
}

func TestWhatMendingCostIsThatOfTheLanding(t *testing.T) {
	t.Parallel()
	p := crossing
	p.mender = func(turn *agltest.Turn) {
		turn.Usage(agl.Usage{Input: 900, Output: 100, Complete: true})
		if turn.N == 2 { // the first leaves the conflict as it is
			turn.WriteFile("both.txt", "left\nright\n")
		}
	}
	h := p.new(t)
	require.NoError(t, h.Start(job))
	var used []int64
	for _, r := range h.Journal() {
		if r.Kind == agl.KindLanding && r.Usage != (agl.Usage{Complete: true}) {
			used = append(used, r.Usage.Tokens())
		}
	}
	require.Equal(t, []int64{2000}, used)
	status, err := h.Engine().Status(t.Context(), h.Label)
	require.NoError(t, err)
	var of int64
	for _, ns := range status.Namespaces {
		of += ns.Usage.Tokens()
	}
	require.Equal(t, []int64{2000, 2000}, []int64{status.Usage.Tokens(), of})
}
