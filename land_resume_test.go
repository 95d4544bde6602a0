package agl_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/ports"
)

var six = []string{"a", "b", "c", "d", "e", "f"}

func TestOneResumeRetriesTheChildrenThatFailedAndNoOther(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			if turn.Attempt == 1 && strings.Contains("bdf", turn.Namespace) {
				return patch{}, ports.Unavailable.Errorf("", "not today")
			}
			turn.WriteFile(turn.Namespace+".txt", "x")
			return patch{}, nil
		})
		agltest.Reply(h, reader, findings{})
		wf := splitWith(1, agl.Abandon)
		err := h.Start(wf.With(chunks{six}))
		require.Equal(t, agl.Unavailable, agl.KindOf(err), "%v", err)
		require.Len(t, h.Files(), 3)
		plan, err := h.Plan(wf)
		require.NoError(t, err)
		var retries []string
		for _, r := range plan.Retries {
			retries = append(retries, r.Namespace)
		}
		require.ElementsMatch(t, []string{"b", "d", "f"}, retries)

		before := len(h.Agents())
		require.NoError(t, h.Resume(wf))
		again := slices.Sorted(slices.Values(h.Agents()[before:]))
		require.Equal(t, []string{"b builder #1", "d builder #1", "f builder #1", "reader #1"}, again)
		require.Len(t, h.Files(), 6)
		h.Replay(wf)
	})
}

// splitPrompt is splitWith, where one child's prompt may be another.
func splitPrompt(changed, prompt string) *agl.Workflow[chunks] {
	return agl.NewWorkflow(agl.Spec{Name: "split", Version: 1, Roles: []agl.Role{builder, reader}},
		func(ctx context.Context, run *agl.Run, p chunks) error {
			children, err := opens(ctx, run, p.Names...)
			if err != nil {
				return err
			}
			err = each(p.Names, func(name string) error {
				child, role := children[slices.Index(p.Names, name)], builder
				if name == changed {
					role.Prompt = prompt
				}
				if err := child.Step(ctx, role.Commit("build "+name), agl.In("task", name)); err != nil {
					return err
				}
				return child.Integrate(ctx, agl.Abandon)
			})
			if err != nil {
				return err
			}
			return run.Step(ctx, reader)
		})
}

// chained fails the test unless each record that moved the run's branch stands
// on the one before it, from its base to its head.
func chained(t *testing.T, h *agltest.Harness) {
	t.Helper()
	records := h.Journal()
	slices.SortFunc(records, func(a, b agl.Record) int { return a.Seq - b.Seq })
	at := h.Run().Base
	for _, r := range records {
		before, after := r.Before, r.Head
		switch {
		case r.Kind == agl.KindLanding && r.Landing.Into == "_base":
			before, after = r.Landing.Before, r.Landing.After
		case r.Namespace != "_base":
			continue
		}
		require.Equal(t, at, before, "record %d", r.Seq)
		at = after
	}
	require.Equal(t, h.Run().Head, at)
}

func TestAChildThatIsBoughtAgainTakesNoOtherWithIt(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile(turn.Namespace+".txt", turn.Instructions[:9])
			turn.Usage(agl.Usage{Input: 100, Complete: true})
			return patch{}, nil
		})
		agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) { return findings{}, nil })
		require.NoError(t, h.Start(splitPrompt("", "").With(chunks{six})))
		was := h.Journal()
		before := len(h.Agents())
		changed := splitPrompt("c", "Build it better.")

		err := h.Resume(changed)
		var diverged *agl.DivergedError
		require.ErrorAs(t, err, &diverged)
		plan, planErr := h.Plan(changed)
		require.NoError(t, planErr)
		if diff := cmp.Diff(plan, diverged.Plan); diff != "" {
			t.Errorf("the plan, and that of the error (-want +got):\n%s", diff)
		}
		require.Regexp(t, `^c: 0 recorded, then step builder \(#1\): prompt changed from .*Build it\..* to .*better.*, 2 not reached \(first step builder, record \d+\); 100 tokens at stake$`, plan.Divergence())
		for _, ns := range plan.Namespaces {
			require.Equal(t, ns.Namespace == "c", ns.Diverged(), "%s", ns)
		}
		require.Len(t, h.Agents(), before, "nothing was started")
		require.Equal(t, was, h.Journal())

		require.NoError(t, h.Resume(changed, agl.ResumeOptions{Rebuy: true}))
		require.ElementsMatch(t, []string{"c builder #1", "reader #1"}, h.Agents()[before:])
		require.Len(t, h.Journal(), len(was))
		require.Len(t, landings(h), 6)
		chained(t, h)
		require.Len(t, h.Files(), 6)
		require.NotEqual(t, h.Files()["a.txt"], h.Files()["c.txt"])
		require.Empty(t, h.Salvaged(), "what is committed is no salvage")
		h.Replay(changed)
	})
}

// inTurn builds children one after the other: a, c, and b, which lands twice.
func inTurn(prompt string) *agl.Workflow[agl.None] {
	changed := builder
	changed.Prompt = prompt
	return script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "a", "c", "b")
		if err != nil {
			return err
		}
		for i, role := range []agl.Editor[patch]{builder, changed, builder} {
			child := children[i]
			for task := range 1 + i/2 {
				if err := child.Step(ctx, role.Commit("build"), agl.In("task", task)); err != nil {
					return err
				}
				if err := child.Integrate(ctx, agl.Abandon); err != nil {
					return err
				}
			}
		}
		if err := run.Step(ctx, builder.Commit("close"), agl.In("task", "close")); err != nil {
			return err
		}
		return run.Step(ctx, reader)
	}, builder, reader)
}

// turns is a world for inTurn, that keeps whose agents were started.
func turns(t *testing.T, prompt *string) (w *world, started func() []string) {
	var mu sync.Mutex
	var all []string
	w = newWorld(t, func(tn *turn) (any, error) {
		mu.Lock()
		all = append(all, fmt.Sprintf("%s %s#%d", tn.Namespace, tn.Role, tn.Ordinal))
		mu.Unlock()
		if tn.Role == "reader" {
			return findings{}, nil
		}
		text := "x"
		if tn.Namespace == "c" || tn.Namespace == "_base" {
			text = *prompt
		}
		tn.write(fmt.Sprintf("%s%d.txt", tn.Namespace, tn.Ordinal), text)
		return patch{}, nil
	})
	w.verifier.Command = "make"
	return w, func() []string {
		mu.Lock()
		defer mu.Unlock()
		now := all
		all = nil
		return now
	}
}

// landedOutcome is what must be the same however often a run with children was
// interrupted.
func (w *world) landedOutcome() map[string][]string {
	all := map[string][]string{"files": {fmt.Sprint(w.files())}, "state": {fmt.Sprint(w.info().State, w.info().Unreached)}}
	for _, r := range w.journal() {
		line := fmt.Sprintf("%s %s %s %v", r.Kind, r.Name, r.Value, w.repo.Files(r.Head))
		if r.Landing != nil {
			line += fmt.Sprint(" in ", r.Landing.Into, w.repo.Files(r.Landing.After))
		}
		all[r.Namespace] = append(all[r.Namespace], line)
	}
	return all
}

func TestWhatFollowsALandingThatIsMadeAgainStaysAndLandsLater(t *testing.T) {
	t.Parallel()
	prompt := "Build it."
	w, started := turns(t, &prompt)
	var trees []string
	w.verifier.Find = func(_ context.Context, task ports.VerifyTask, _ int) (ports.Verdict, error) {
		names, err := fs.Glob(task.Tree, "*.txt")
		trees = append(trees, strings.Join(names, " "))
		return ports.Verdict{Passed: true}, err
	}
	require.NoError(t, w.start(job(inTurn(prompt))))
	started()
	trees = nil
	was := map[string]int{}
	for _, r := range w.journal() {
		was[fmt.Sprint(r.Namespace, r.Kind, r.Head)] = r.Seq
	}
	prompt = "Build it better."
	require.NoError(t, w.resume(inTurn(prompt), agl.ResumeOptions{Rebuy: true}))
	require.Equal(t, []string{"c builder#1", "_base builder#1", "_base reader#1"}, started())
	require.Equal(t, []string{
		"a1.txt c1.txt", "a1.txt b1.txt c1.txt", "a1.txt b1.txt b2.txt c1.txt",
	}, trees, "the first landing of b, made again, has not what it built after that")
	var kept []string
	for _, r := range w.journal() {
		if r.Namespace == "b" && r.Kind == agl.KindStep {
			require.Equal(t, was[fmt.Sprint(r.Namespace, r.Kind, r.Head)], r.Seq)
			kept = append(kept, r.Head)
		}
	}
	require.Len(t, kept, 2)
	require.NoError(t, w.resume(inTurn(prompt)))
	require.Empty(t, started())
}

func TestARebuyOfAChildInterruptedAnywhereIsResumed(t *testing.T) {
	t.Parallel()
	for name, wf := range map[string]func(prompt string) *agl.Workflow[agl.None]{
		"a child": inTurn, "a base": below, "a nested child": withNested,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rebuyEverywhere(t, wf)
		})
	}
}

// rebuyEverywhere runs the workflow with one prompt, and buys it again with
// another, in a process that dies at each point of that.
func rebuyEverywhere(t *testing.T, wf func(prompt string) *agl.Workflow[agl.None]) {
	run := func(t *testing.T, f *faults, powerCut bool) (*world, map[string]int) {
		prompt := "Build it."
		w, started := turns(t, &prompt)
		require.NoError(t, w.start(job(wf(prompt))))
		started()
		prompt = "Build it better."
		plain := w.set
		w.set = f.wrap(plain)
		err := w.resume(wf(prompt), agl.ResumeOptions{Rebuy: true})
		w.set = plain
		require.Equal(t, f.failed, err != nil, "%v", err)
		if powerCut {
			w.store.PowerCut()
			w.repo.PowerCut()
		}
		err = w.resume(wf(prompt))
		var diverged *agl.DivergedError
		if errors.As(err, &diverged) { // it had not come as far as to record the rebuy
			err = w.resume(wf(prompt), agl.ResumeOptions{Rebuy: true})
		}
		require.NoError(t, err)
		times := map[string]int{}
		for _, agent := range started() {
			times[agent]++
		}
		return w, times
	}
	probe := &faults{}
	w, bought := run(t, probe, false)
	want := w.landedOutcome()
	for i, name := range probe.names {
		for kind := range 4 {
			powerCut, after := kind%2 == 1, kind/2 == 1
			if (4*i+kind)%7 == 0 || *crashAll {
				t.Run(fmt.Sprintf("%d %s after=%v powercut=%v", i+1, name, after, powerCut), func(t *testing.T) {
					t.Parallel()
					w, times := run(t, &faults{at: i + 1, after: after, crash: true}, powerCut)
					if diff := cmp.Diff(want, w.landedOutcome()); diff != "" {
						t.Errorf("outcome (-want +got):\n%s", diff)
					}
					twice := 0
					for agent, n := range times {
						require.Contains(t, bought, agent)
						twice += n - 1
					}
					require.Len(t, times, len(bought))
					require.LessOrEqual(t, twice, 1, "one at most was interrupted: %v", times)
				})
			}
		}
	}
}

func TestRetryGivesUpALandingThatFailedAndWhatCameAfterIt(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, func(string) string { return "same.txt" })
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("same.txt", "both\n")
			return patch{}, nil
		})
		swallowing := func(resolve agl.Resolver) *agl.Workflow[agl.None] {
			return script(func(ctx context.Context, run *agl.Run) error {
				children, err := opens(ctx, run, "a", "b")
				if err != nil {
					return err
				}
				failed := 0
				for _, child := range children {
					if err := build(ctx, child, fmt.Sprint(child == children[0])); err != nil {
						return err
					}
					if err := child.Integrate(ctx, resolve); err != nil {
						failed++
					}
				}
				return run.Step(ctx, reader, agl.In("failed", failed))
			}, builder, editor, reader)
		}
		require.NoError(t, h.Start(job(swallowing(agl.Abandon))))
		mend := swallowing(agl.ResolveWith(editor, 1, nil))
		before := len(h.Agents())
		require.NoError(t, h.Resume(mend))
		require.Len(t, h.Agents(), before, "the workflow went on after it")
		require.NoError(t, h.Resume(mend, agl.ResumeOptions{Retry: true}))
		require.Equal(t, []string{"b editor #1", "reader #1"}, h.Agents()[before:])
		require.Equal(t, "both\n", h.Files()["same.txt"])
		h.Replay(mend)
	})
}

// below opens a worktree, and one below it, where the prompt's step ended, and
// lands them.
func below(prompt string) *agl.Workflow[agl.None] {
	changed := builder
	changed.Prompt = prompt
	return script(func(ctx context.Context, run *agl.Run) error {
		early, err := run.Worktree(ctx, "early")
		if err != nil {
			return err
		}
		if err := build(ctx, early, "x"); err != nil {
			return err
		}
		if err := run.Step(ctx, changed.Commit("base"), agl.In("task", "base")); err != nil {
			return err
		}
		late, err := run.Worktree(ctx, "late")
		if err != nil {
			return err
		}
		if err := build(ctx, late, "x"); err != nil {
			return err
		}
		nested, err := late.Worktree(ctx, "nested")
		if err != nil {
			return err
		}
		if err := build(ctx, nested, "x"); err != nil {
			return err
		}
		for _, child := range []*agl.Run{nested, late, early} {
			if err := child.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
		}
		return nil
	}, builder)
}

func TestAWorktreeOfACommitThatIsGivenUpIsOpenedAgain(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Handle(h, builder, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile(turn.Namespace+".txt", turn.Instructions)
			return patch{}, nil
		})
		require.NoError(t, h.Start(job(below("One."))))
		before := len(h.Agents())
		require.ErrorIs(t, h.Resume(below("Two.")), agl.Conflicted)
		require.NoError(t, h.Resume(below("Two."), agl.ResumeOptions{Rebuy: true}))
		require.Equal(t, []string{"builder #1", "late builder #1", "nested builder #1"}, h.Agents()[before:], "early stays")
		chained(t, h)
		require.Contains(t, h.Files()["_base.txt"], "Two.")
		require.Len(t, h.Commits(), 7)
		h.Replay(below("Two."))
	})
}

// withNested lands a nested child with the prompt, and its parent after that.
func withNested(prompt string) *agl.Workflow[agl.None] {
	changed := builder
	changed.Prompt = prompt
	return script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "child", "other")
		if err != nil {
			return err
		}
		child, other := children[0], children[1]
		if err := build(ctx, child, "first"); err != nil {
			return err
		}
		nested, err := child.Worktree(ctx, "nested")
		if err != nil {
			return err
		}
		if err := nested.Step(ctx, changed.Commit("nested"), agl.In("task", "nested")); err != nil {
			return err
		}
		if err := nested.Integrate(ctx, agl.Abandon); err != nil {
			return err
		}
		if err := build(ctx, child, "second"); err != nil {
			return err
		}
		if err := build(ctx, other, "other"); err != nil {
			return err
		}
		for _, c := range []*agl.Run{child, other} {
			if err := c.Integrate(ctx, agl.Abandon); err != nil {
				return err
			}
		}
		return nil
	}, builder)
}

func TestANestedChildThatIsBoughtAgainTakesWhatStandsOnIt(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, own)
		require.NoError(t, h.Start(job(withNested("One."))))
		before := len(h.Agents())
		require.NoError(t, h.Resume(withNested("Two."), agl.ResumeOptions{Rebuy: true}))
		require.Equal(t, []string{"nested builder #1", "child builder #2"}, h.Agents()[before:])
		chained(t, h)
		require.Len(t, h.Files(), 4)
		h.Replay(withNested("Two."))
	})
}

// The agent leaves the markers at first; what it left is kept, and what it
// leaves the next time is another snapshot for the same try.
func TestALandingThatWasGivenUpAfterAnAgentHadTriedIsMadeAgain(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, h *agltest.Harness) {
		builds(h, func(string) string { return "same.txt" })
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			if turn.Attempt > 1 {
				turn.WriteFile("same.txt", "both\n")
			}
			return patch{}, nil
		})
		wf := splitWith(1, agl.ResolveWith(editor, 1, agl.Abandon))
		var conflict *agl.ConflictError
		require.ErrorAs(t, h.Start(wf.With(chunks{[]string{"a", "b"}})), &conflict)
		before := len(h.Agents())
		require.NoError(t, h.Resume(wf))
		require.Equal(t, []string{conflict.Child + " editor #1", "reader #1"}, h.Agents()[before:])
		require.Equal(t, map[string]string{"same.txt": "both\n"}, h.Files())
		h.Replay(wf)
	})
}
