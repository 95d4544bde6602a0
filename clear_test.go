package agl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
)

// cleared runs fix until the process dies in its second editor, and then
// clears the run, with a fault.
func cleared(t *testing.T, f *faults, prepare func(w *world)) (*world, error) {
	death := &faults{}
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.n == 3 {
			death.die()
		}
		return twoRounds(tn)
	})
	prepare(w)
	plain := w.set
	w.set = death.wrap(plain)
	require.ErrorIs(t, w.start(fix(1).With(params{Request: "x"})), errFault)
	w.set = f.wrap(plain)
	_, err := w.engine().Clear(t.Context(), "job")
	w.set = plain
	w.agents()
	return w, err
}

// requireOnlyClear fails unless everything that would go on with the run is
// refused.
func (w *world) requireOnlyClear() {
	w.t.Helper()
	e, ctx := w.engine(), w.t.Context()
	start := fix(1).With(params{Request: "x"})
	_, planned := e.Plan(ctx, "job", fix(1))
	_, read := e.Journal(ctx, "job")
	_, seen := e.Status(ctx, "job")
	for name, err := range map[string]error{
		"start":           e.Start(ctx, "job", start, nil),
		"start or resume": e.Start(ctx, "job", start, &agl.StartOptions{Resume: true}),
		"resume":          e.Resume(ctx, "job", fix(1), nil),
		"rebuy":           e.Resume(ctx, "job", fix(1), &agl.ResumeOptions{Rebuy: true}),
		"plan":            planned,
		"journal":         read,
		"status":          seen,
	} {
		require.ErrorIs(w.t, err, agl.Conflicted, name)
		require.ErrorContains(w.t, err, "clear it again", name)
	}
	require.Empty(w.t, w.agents())
	runs, err := e.Runs(ctx)
	require.NoError(w.t, err)
	require.Len(w.t, runs, 1)
	require.Contains(w.t, runs[0].Error, "clear it again")
}

// requireFree fails unless the label is as if there had never been a run.
func (w *world) requireFree() {
	w.t.Helper()
	require.Empty(w.t, w.store.Documents("job", ""))
	at, err := w.set.Workspaces.Branch(w.t.Context(), "agl/job")
	require.NoError(w.t, err)
	require.Empty(w.t, at)
	require.NoError(w.t, w.start(fix(1).With(params{Request: "x"})))
}

func TestAClearThatDiedAnywhereIsRepeatedAndTheRunIsWholeOrGone(t *testing.T) {
	t.Parallel()
	inMemory := func(*world) {}
	probe := &faults{}
	w, err := cleared(t, probe, inMemory)
	require.NoError(t, err)
	w.requireFree()
	mark := slices.Index(probe.names, "write run.json")
	require.Positive(t, mark)
	require.Equal(t, "clear", probe.names[mark+1])
	require.Equal(t, "remove run.json", probe.names[len(probe.names)-1])
	require.Greater(t, len(probe.names)-mark, 4, "%v", probe.names)

	for i, name := range probe.names {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s after=%v", i+1, name, after), func(t *testing.T) {
				t.Parallel()
				w, err := cleared(t, &faults{at: i + 1, after: after, crash: true}, inMemory)
				require.ErrorIs(t, err, errFault)
				if i < mark || i == mark && !after {
					require.NoError(t, w.resume(fix(1)), "it was not begun")
					require.Equal(t, []string{"editor#2", "reader#2"}, w.agents())
				} else if len(w.store.Documents("job", "")) > 0 {
					w.requireOnlyClear()
				}
				_, err = w.engine().Clear(t.Context(), "job")
				if i == len(probe.names)-1 && after {
					require.ErrorIs(t, err, agl.NotFound, "all of it was done")
				} else {
					require.NoError(t, err)
				}
				w.requireFree()
			})
		}
	}
}

func TestAClearThatDiedIsRepeatedOverRealGit(t *testing.T) {
	t.Parallel()
	probe := &faults{}
	_, err := cleared(t, probe, (*world).overGit)
	require.NoError(t, err)
	for _, c := range []struct {
		call  string
		after bool
	}{{"write run.json", true}, {"clear", true}, {"remove run.json", false}} {
		t.Run(fmt.Sprintf("%s after=%v", c.call, c.after), func(t *testing.T) {
			t.Parallel()
			refs := ""
			f := &faults{at: slices.Index(probe.names, c.call) + 1, after: c.after, crash: true}
			w, err := cleared(t, f, func(w *world) {
				w.overGit()
				refs = w.git("for-each-ref")
			})
			require.ErrorIs(t, err, errFault)
			w.requireOnlyClear()
			again, err := w.engine().Clear(t.Context(), "job")
			require.NoError(t, err)
			require.Len(t, again.Salvage, 1, "what the editor had written")
			require.Equal(t, "round 2", w.git("show", again.Salvage[0].Ref+":fix.txt"))
			w.git("update-ref", "-d", again.Salvage[0].Ref)
			require.Equal(t, refs, w.git("for-each-ref"))
			require.NotContains(t, w.git("worktree", "list"), "job")
			w.requireFree()
		})
	}
}

// A step made git run a program of its own, and the process died.
func TestClearRunsNothingThatAnInterruptedStepPlanted(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	death := &faults{}
	checkout := ""
	var w *world
	w = newWorld(t, func(tn *turn) (any, error) {
		checkout = tn.Dir
		w.gitIn(tn.Dir, "config", "filter.x.clean", "touch '"+ran+"'; cat")
		tn.write(".gitattributes", "* filter=x\n")
		tn.write("main.go", "package MAIN\n") // of the same size: git has to look into it
		later := time.Now().Add(time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(tn.Dir, "main.go"), later, later))
		death.die()
		return patch{}, nil
	})
	w.overGit()
	plain := w.set
	w.set = death.wrap(plain)
	require.ErrorIs(t, w.start(fix(1).With(params{Request: "x"})), errFault)
	w.set = plain

	before := w.git("for-each-ref")
	var tampered *agl.TamperedError
	require.ErrorAs(t, w.resume(fix(1)), &tampered)
	for range 2 {
		_, err := w.engine().Clear(t.Context(), "job")
		require.ErrorAs(t, err, &tampered)
		require.ErrorContains(t, err, "filter.x.clean")
	}
	require.NoFileExists(t, ran)
	require.Equal(t, before, w.git("for-each-ref"))
	require.Equal(t, agl.StateInterrupted, w.info().State, "nothing was removed")

	w.gitIn(checkout, "status", "--short")
	require.FileExists(t, ran, "what was planted works")
	require.NoError(t, os.Remove(ran))
	w.git("config", "--remove-section", "filter.x")
	cleared, err := w.engine().Clear(t.Context(), "job")
	require.NoError(t, err)
	require.NoFileExists(t, ran)
	require.Len(t, cleared.Salvage, 1)
	require.Equal(t, "package MAIN", w.git("show", cleared.Salvage[0].Ref+":main.go"))
	w.play = twoRounds
	w.requireFree()
}

func TestWhatIsLeftOfARunWithoutItsOwnDocumentIsCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
	w.agents()
	require.NoError(t, w.store.Delete(t.Context(), "job", "run.json"))

	var used *agl.InUseError
	for _, opts := range []agl.StartOptions{{}, {Resume: true}} {
		err := w.start(fix(1).With(params{Request: "x"}), opts)
		require.ErrorAs(t, err, &used)
		require.ErrorContains(t, err, "clear it")
		require.NotContains(t, err.Error(), "resume it")
	}
	require.ErrorIs(t, w.resume(fix(1)), agl.NotFound)
	runs, err := w.engine().Runs(t.Context())
	require.NoError(t, err)
	require.Len(t, runs, 1)
	require.Equal(t, agl.StateFailed, runs[0].State)

	cleared, err := w.engine().Clear(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, []string{"agl/job"}, cleared.Branches)
	require.Empty(t, w.agents())
	w.requireFree()
}
