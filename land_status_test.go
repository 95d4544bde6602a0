package agl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/ports"
)

func TestWhatIsSpentOnConflictsCountsInTheBudget(t *testing.T) {
	t.Parallel()
	w := newClash(t, false)
	w.mend = func(*turn) (any, error) { return patch{}, nil } // it leaves the markers
	err := w.start(job(clashing(plainly, agl.ResolveWith(editor, 3, nil))), agl.StartOptions{Tokens: 500})
	require.ErrorIs(t, err, agl.Denied)
	require.ErrorContains(t, err, "550 used")
	require.Equal(t, "editor#1", w.agents()[4])
	status, err := w.engine().Status(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, int64(550), status.Usage.Tokens())
	require.Equal(t, int64(220), of(status, "b").Usage.Tokens(), "its step, and what mended its landing")
}

// of returns a namespace's part of a status.
func of(s agl.Status, namespace string) ports.NamespaceStatus {
	for _, ns := range s.Namespaces {
		if ns.Namespace == namespace {
			return ns
		}
	}
	return ports.NamespaceStatus{}
}

func TestTheStatusOfARunningRunIsWhatItsRecordsSay(t *testing.T) {
	t.Parallel()
	same := func(t *testing.T, w *world, live agl.Status) {
		t.Helper()
		recorded, err := w.engine().Status(t.Context(), "job")
		require.NoError(t, err)
		seen := cmpopts.IgnoreFields(ports.NamespaceStatus{}, "Verdict") // it is of the process
		sorted := cmpopts.SortSlices(func(a, b ports.NamespaceStatus) bool { return a.Namespace < b.Namespace })
		if diff := cmp.Diff(recorded.Namespaces, live.Namespaces, sorted, seen); diff != "" {
			t.Errorf("namespaces (-recorded +live):\n%s", diff)
		}
		require.Equal(t, recorded.Usage, live.Usage)
		require.Equal(t, recorded.Run.Head, live.Run.Head)
	}
	t.Run("with a conflict", func(t *testing.T) {
		t.Parallel()
		w := newClash(t, false)
		var live, inside agl.Status
		w.mend = func(tn *turn) (any, error) {
			tn.write("same.txt", "both\n")
			return patch{}, nil
		}
		require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, "a", "b")
			if err != nil {
				return err
			}
			for _, child := range children {
				if err := build(ctx, child, "x"); err != nil {
					return err
				}
				err := child.Integrate(ctx, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
					if err := c.Step(ctx, editor); err != nil {
						return agl.Resolution{}, err
					}
					inside = run.Status()
					return c.Retry(), nil
				})
				if err != nil {
					return err
				}
			}
			live = run.Status()
			return nil
		}, builder, editor))))
		same(t, w.world, live)
		require.Equal(t, agl.KindLanding, of(inside, "b").Verb, "the step in its conflict has ended, and it goes on")
		require.Equal(t, 1, of(inside, "b").Ordinal)
		require.Equal(t, "_base", of(inside, "b").Parent)
	})
	t.Run("bought again", func(t *testing.T) {
		t.Parallel()
		prompt := "Build it."
		w, _ := turns(t, &prompt)
		var live agl.Status
		wf := func() *agl.Workflow[agl.None] {
			changed := builder
			changed.Prompt = prompt
			return script(func(ctx context.Context, run *agl.Run) error {
				children, err := opens(ctx, run, "c", "b")
				if err != nil {
					return err
				}
				for i, role := range []agl.Editor[patch]{changed, builder} {
					if err := children[i].Step(ctx, role.Commit("x")); err != nil {
						return err
					}
					if err := children[i].Integrate(ctx, agl.Abandon); err != nil {
						return err
					}
				}
				live = run.Status()
				return nil
			}, builder)
		}
		require.NoError(t, w.start(job(wf())))
		same(t, w, live)
		prompt = "Build it better."
		require.NoError(t, w.resume(wf(), agl.ResumeOptions{Rebuy: true}))
		same(t, w, live)
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		w := newClash(t, false)
		var live agl.Status
		require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, "a", "b")
			if err != nil {
				return err
			}
			for _, child := range children {
				if err := build(ctx, child, "x"); err != nil {
					return err
				}
				under, cancel := context.WithCancel(ctx)
				err := child.Integrate(under, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
					cancel()
					return c.Abort(), ctx.Err()
				})
				cancel()
				if err != nil {
					require.ErrorIs(t, err, context.Canceled)
				}
			}
			live = run.Status()
			return nil
		}, builder))))
		same(t, w.world, live)
	})
}

func TestEventsTellOfALandingInOrder(t *testing.T) {
	t.Parallel()
	w := newClash(t, false)
	w.verifier.Command = "make"
	w.mend = func(tn *turn) (any, error) { tn.write("same.txt", "both\n"); return patch{}, nil }
	e := w.engine()
	require.NoError(t, e.Start(t.Context(), "job", job(clashing(plainly, agl.ResolveWith(editor, 1, nil))), nil))
	require.NoError(t, e.Close())
	told := func(namespace string) string {
		var kinds []string
		for _, ev := range w.events {
			if ev.Namespace == namespace {
				kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", ev.What), "ports."))
			}
		}
		return strings.Join(kinds, " ")
	}
	require.Equal(t, "Opened Missed Began Ended Missed Began Gated Ended", told("a"))
	require.Equal(t, "Opened Missed Began Ended Missed Began Met Began Ended Gated Ended", told("b"))
	for _, ev := range w.events {
		if ended, ok := ev.What.(agl.Ended); ok && ended.Record.Kind == agl.KindLanding {
			require.True(t, ended.Record.Landing.Moved())
		}
	}
}

func TestTheJournalHasARedoneLandingInItsPlace(t *testing.T) {
	t.Parallel()
	prompt := "Build it."
	w, _ := turns(t, &prompt)
	require.NoError(t, w.start(job(inTurn(prompt))))
	prompt = "Build it better."
	require.NoError(t, w.resume(inTurn(prompt), agl.ResumeOptions{Rebuy: true}))
	var kinds []agl.RecordKind
	for _, r := range w.journal() {
		if r.Namespace == "b" {
			kinds = append(kinds, r.Kind)
		}
	}
	require.Equal(t, []agl.RecordKind{agl.KindStep, agl.KindLanding, agl.KindStep, agl.KindLanding}, kinds)
	require.Equal(t, agl.StateDone, w.info().State)
	require.Zero(t, w.info().Unreached)
}

func TestAChildThatIsNotAskedForAnyMoreIsUnreached(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	builds(h, own)
	with := func(names ...string) *agl.Workflow[agl.None] {
		return script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, names...)
			if err != nil {
				return err
			}
			for i, child := range children {
				if err := build(ctx, child, names[i]); err != nil {
					return err
				}
				if err := child.Integrate(ctx, agl.Abandon); err != nil {
					return err
				}
			}
			return nil
		}, builder)
	}
	require.NoError(t, h.Start(job(with("a", "b"))))
	require.NoError(t, h.Resume(with("a")))
	require.Equal(t, 2, h.Run().Unreached)
	require.Contains(t, noted(h), "recorded results that the workflow did not ask for: 2")
	require.Len(t, h.Files(), 2, "it stays landed")
}

// noted returns what a person was told.
func noted(h *agltest.Harness) []string {
	var texts []string
	for _, e := range h.Events() {
		if n, ok := e.What.(agl.Noted); ok {
			texts = append(texts, n.Text)
		}
	}
	return texts
}
