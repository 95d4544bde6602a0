package agl_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

// A plannedRun says what planned does.
type plannedRun struct {
	prompt string
	apart  bool                          // it plans in a worktree of its own
	lands  string                        // which children land
	before func(child string)            // before its step; nil: nothing
	after  func(child string, err error) // what its step came to
}

// workflow plans and has two children at once: a, which builds what was
// planned, and b, which builds the same whatever is planned.
func (p plannedRun) workflow() *agl.Workflow[agl.None] {
	return agl.NewWorkflow(agl.Spec{Name: "planned", Version: 1, Roles: []agl.Role{builder, reader}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error {
			children, err := opens(ctx, run, "a", "b", "plan")
			if err != nil {
				return err
			}
			where, planner := run, reader
			if p.apart {
				where = children[2]
			}
			planner.Prompt = p.prompt
			var plan findings
			if err := where.Step(ctx, planner.Into(&plan)); err != nil {
				return err
			}
			tasks := map[string]string{"a": fmt.Sprint(plan.Items), "b": "as ever"}
			return each([]string{"a", "b"}, func(name string) error {
				child := children[strings.Index("ab", name)]
				if p.before != nil {
					p.before(name)
				}
				err := build(ctx, child, tasks[name])
				if p.after != nil {
					p.after(name, err)
				}
				if err != nil || !strings.Contains(p.lands, name) {
					return err
				}
				return child.Integrate(ctx, agl.Abandon)
			})
		})
}

// plans plays the agents of a plannedRun.
func plans(h *agltest.Harness) {
	agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		turn.WriteFile(turn.Namespace+".txt", turn.Instructions)
		return patch{}, nil
	})
	agltest.Handle(h, reader, func(_ context.Context, turn *agltest.Turn) (findings, error) {
		return findings{Items: []string{turn.Instructions}}, nil
	})
}

// The plan changes, so a is bought again. That is found out while b is in the
// middle of landing, in a checkout that must not move then.
func TestWhatIsGivenUpInTheMiddleOfAWalkWaitsForWhatIsInFlight(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		plans(h)
		was := plannedRun{prompt: "Plan.", apart: true, lands: "a"}
		require.NoError(t, h.Start(was.workflow().With(agl.None{})))
		require.Len(t, h.Files(), 1)

		landing, diverged := make(chan struct{}), make(chan struct{})
		var once sync.Once
		h.Gate(func(tree fs.FS) error {
			if _, err := fs.Stat(tree, "b.txt"); err == nil {
				once.Do(func() {
					close(landing)
					<-diverged
				})
			}
			return nil
		})
		better := plannedRun{prompt: "Plan better.", apart: true, lands: "ab"}
		watched := better
		watched.before = func(child string) {
			if child == "a" {
				<-landing
			}
		}
		var why error
		watched.after = func(child string, err error) {
			if child == "a" && why == nil {
				why = err
				close(diverged)
			}
		}
		before := len(h.Agents())
		require.NoError(t, h.Resume(watched.workflow(), agl.ResumeOptions{Rebuy: true}))
		require.ErrorContains(t, why, "the workflow is called again, for a: 0 recorded, then step builder (#1)")
		require.ElementsMatch(t, []string{"plan reader #1", "a builder #1"}, h.Agents()[before:])
		require.Len(t, h.Files(), 2)
		require.Contains(t, h.Files()["a.txt"], "Plan better.")
		require.Len(t, landings(h), 2)
		chained(t, h)
		h.Replay(better.workflow())
	})
}

// What the run's own steps were given in this process is not from records that
// the workflow had not asked for by then.
func TestAStepThatKnewNothingOfWhatIsGivenUpIsNotBoughtAgain(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	plans(h)
	require.NoError(t, h.Start(plannedRun{prompt: "Plan."}.workflow().With(agl.None{})))
	before := len(h.Agents())
	better := plannedRun{prompt: "Plan better.", lands: "ab"}.workflow()
	require.NoError(t, h.Resume(better, agl.ResumeOptions{Rebuy: true}))
	require.ElementsMatch(t, []string{"reader #1", "a builder #1"}, h.Agents()[before:])
	require.Contains(t, h.Files()["a.txt"], "Plan better.")
	chained(t, h)
	h.Replay(better)
}

// A workflow that asks for something else whenever it is called would buy for
// ever.
func TestARebuyDoesNotGiveUpWhatTheSameProcessHasBought(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	plans(h)
	calls := 0
	wf := func(plan string) *agl.Workflow[agl.None] {
		return agl.NewWorkflow(agl.Spec{Name: "odd", Version: 1, Roles: []agl.Role{builder}}, func(ctx context.Context, run *agl.Run, _ agl.None) error {
			calls++
			children, err := opens(ctx, run, "a", "b")
			if err != nil {
				return err
			}
			if err := build(ctx, run, plan); err != nil {
				return err
			}
			if plan != "the first" {
				if err := build(ctx, children[1], fmt.Sprint(calls)); err != nil {
					return err
				}
			}
			return build(ctx, children[0], plan)
		})
	}
	require.NoError(t, h.Start(wf("the first").With(agl.None{})))
	before := len(h.Agents())
	err := h.Resume(wf("the second"), agl.ResumeOptions{Rebuy: true})
	var diverged *agl.DivergedError
	require.ErrorAs(t, err, &diverged)
	require.ErrorContains(t, err, "asks for something else each time it is called")
	require.Equal(t, []string{"builder #1", "b builder #1"}, h.Agents()[before:])
	require.Len(t, h.Journal(), 2, "nothing of this process was given up")
}
