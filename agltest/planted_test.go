package agltest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/ports"
)

// of makes a workflow of a function, for one planted bug.
func of(fn func(ctx context.Context, run *agl.Run) error) *agl.Workflow[agl.None] {
	return agl.NewWorkflow(agl.Spec{Name: "planted", Version: 1, Roles: []agl.Role{editor, reader}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error { return fn(ctx, run) })
}

// obliging returns a harness whose agents do whatever they are asked for, and
// whose person does not mind.
func obliging(t testing.TB) *agltest.Harness {
	h := agltest.New(t)
	agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
		turn.WriteFile("work.txt", turn.Instructions)
		return patch{}, nil
	})
	agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) { return findings{}, nil })
	h.Person(func(ports.Question) string { return "so be it" })
	return h
}

// Case D3, and the rest of what makes a resume ask for something else.
func TestReplayFindsAWorkflowThatAsksForSomethingElse(t *testing.T) {
	t.Parallel()
	review := func(ctx context.Context, run *agl.Run, of string) error {
		return run.Step(ctx, reader, agl.In("of", of))
	}
	calls := 0
	for _, c := range []struct {
		name string
		fn   func(ctx context.Context, run *agl.Run) error
		want string
	}{
		{"a global that is counted up", func(ctx context.Context, run *agl.Run) error {
			calls++
			return review(ctx, run, fmt.Sprintf("call %d", calls))
		}, `input:of changed from`},
		{"a step less", func(ctx context.Context, run *agl.Run) error {
			calls++
			if err := review(ctx, run, "one"); err != nil || calls > 3 {
				return err
			}
			return review(ctx, run, "two")
		}, `1 not reached (first step reader, record 2)`},
		{"a step more", func(ctx context.Context, run *agl.Run) error {
			calls++
			if err := review(ctx, run, "one"); err != nil || calls == 3 {
				return err
			}
			return review(ctx, run, "two")
		}, `it asked for what is not recorded: _base: step reader (#2) is new`},
		{"a question more", func(ctx context.Context, run *agl.Run) error {
			calls++
			if err := review(ctx, run, "one"); err != nil || calls == 3 {
				return err
			}
			var text string
			return run.Ask(ctx, agl.Text("Why?").Into(&text))
		}, `it asked for what is not recorded: _base: answer Why? (#1) is new`},
		{"the order of a map", func(ctx context.Context, run *agl.Run) error {
			for name := range map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true, "g": true} {
				if err := review(ctx, run, name); err != nil {
					return err
				}
			}
			return nil
		}, `input:of changed from`},
		{"a process of its own", func(ctx context.Context, run *agl.Run) error {
			return review(ctx, run, fmt.Sprint(os.Getpid()))
		}, `replay in a new process: _base: 0 recorded, then step reader (#1): input:of changed from`},
	} {
		t.Run(c.name, func(t *testing.T) { // one after the other: they share a global
			calls = 2
			wf := of(c.fn)
			failures, _ := failing(t, func(t testing.TB) {
				h := obliging(t)
				require.NoError(t, h.Start(wf.With(agl.None{})))
				calls = 2
				h.Replay(wf)
			})
			require.Contains(t, failures, "agltest: replay")
			require.Contains(t, failures, c.want)
		})
	}
}

func TestTwoGoroutinesOnOneRunAreFound(t *testing.T) {
	t.Parallel()
	wf := of(func(ctx context.Context, run *agl.Run) error {
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			wg.Go(func() { errs[i] = run.Step(ctx, reader, agl.In("i", i)) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
	failures, _ := failing(t, func(t testing.TB) {
		h := obliging(t)
		err := h.Start(wf.With(agl.None{}))
		if err != nil {
			require.ErrorContains(t, err, "another verb is in flight on this Run")
			t.Errorf("found at once: %v", err)
			return
		}
		h.Replay(wf)
	})
	require.NotEmpty(t, failures)
}

func TestGoldenFindsAStepThatWasInsertedWithoutANewVersion(t *testing.T) {
	t.Parallel()
	if flagUpdate() {
		t.Skip("with -update every shape is right")
	}
	for name, c := range map[string]struct {
		version int
		want    string
	}{
		"the same version": {1, "raise Spec.Version"},
		"a new version":    {2, `this is "workflow fix version 2": go test -run`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wf := agl.NewWorkflow(agl.Spec{Name: "fix", Version: c.version, Roles: []agl.Role{editor, reader}},
				func(ctx context.Context, run *agl.Run, _ agl.None) error {
					for range 2 {
						for _, task := range []agl.Task{editor.Commit("x").AllowEmpty(), reader, reader} {
							if err := run.Step(ctx, task); err != nil {
								return err
							}
						}
					}
					return nil
				})
			failures, _ := failing(t, func(t testing.TB) {
				h := obliging(t)
				require.NoError(t, h.Start(wf.With(agl.None{})))
				h.Golden("testdata/fix.journal.txt")
			})
			require.Contains(t, failures, c.want)
			require.Contains(t, failures, "_base step reader read")
		})
	}
}

// A worktree that is opened from another one has the same records.
func TestGoldenFindsAWorktreeThatIsOpenedFromAnother(t *testing.T) {
	t.Parallel()
	nest := func(flat bool) *agl.Workflow[agl.None] {
		return of(func(ctx context.Context, run *agl.Run) error {
			parent, err := run.Worktree(ctx, "beta")
			if err != nil {
				return err
			}
			if flat {
				parent = run
			}
			child, err := parent.Worktree(ctx, "beta-code")
			if err != nil {
				return err
			}
			return child.Step(ctx, reader)
		})
	}
	golden := filepath.Join(t.TempDir(), "nested.txt")
	require.NoError(t, os.WriteFile(golden, []byte("workflow planted version 1\nbeta-code opened from beta\nbeta-code step reader read\nends done\n"), 0o600))
	h := obliging(t)
	require.NoError(t, h.Start(nest(false).With(agl.None{})))
	if !flagUpdate() {
		h.Golden(golden)
		failures, _ := failing(t, func(t testing.TB) {
			h := obliging(t)
			require.NoError(t, h.Start(nest(true).With(agl.None{})))
			h.Golden(golden)
		})
		require.Contains(t, failures, "beta-code opened from beta")
	}
	const moved = "beta-code: 0 recorded, then worktree beta-code: opened from _base, was opened from beta, 1 not reached (first step reader, record 3)"
	require.ErrorContains(t, h.Resume(nest(true)), moved)
	plan, err := h.Plan(nest(true))
	require.NoError(t, err)
	require.Contains(t, plan.Divergence(), moved)
}

func TestGoldenSaysHowToMakeTheFirstFile(t *testing.T) {
	t.Parallel()
	if flagUpdate() {
		t.Skip("with -update the file is made")
	}
	failures, _ := failing(t, func(t testing.TB) {
		h := scripted(t, agltest.Options{})
		require.NoError(t, h.Start(fix.With(params{})))
		h.Golden("testdata/absent.txt")
	})
	require.Contains(t, failures, "write it: go test -run '^TestGoldenSaysHowToMakeTheFirstFile$' -update")
}

func TestCrashEverywhereFindsWhatACrashChanges(t *testing.T) {
	t.Parallel()
	calls, published := 0, map[string]int{}
	for _, c := range []struct {
		name  string
		fn    func(ctx context.Context, run *agl.Run) error
		wants []string
	}{
		{"a workflow that remembers how often it was called", func(ctx context.Context, run *agl.Run) error {
			calls++
			if err := run.Step(ctx, reader, agl.In("n", 1)); err != nil {
				return err
			}
			return run.Step(ctx, reader, agl.In("n", 1+calls))
		}, []string{`input:n changed from`}},
		{"an agent whose work depends on how often it was started", func(ctx context.Context, run *agl.Run) error {
			return run.Step(ctx, editor.Commit("x"))
		}, []string{
			`the process died before "_base step editor #1: agent editor: write work.txt"`, `the process died before "_base step editor #1: agent editor has ended"`,
			"the run does not end as it does undisturbed", `"attempt 2"`,
		}},
		{"a recorded function that counts what it did outside", func(ctx context.Context, run *agl.Run) error {
			return run.Do(ctx, agl.Func("publish", func(_ context.Context, w agl.World) (int, error) {
				published[w.Key]++
				return published[w.Key], nil
			}))
		}, []string{`the process died before "_base call publish #1: note the end"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wf := of(c.fn)
			failures, _ := failing(t, func(t testing.TB) {
				agltest.CrashOneByOne(t, func(t testing.TB) *agltest.Harness {
					h := agltest.New(t)
					agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
						turn.WriteFile("work.txt", fmt.Sprintf("attempt %d", turn.Attempt))
						return patch{}, nil
					})
					agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) { return findings{}, nil })
					return h
				}, wf.With(agl.None{}), wf)
			})
			for _, want := range c.wants {
				require.Contains(t, failures, want)
			}
		})
	}
}

// A test that fails is played by a process of its own.
func TestCrashEverywhereSaysOnceWhyItProvesNothing(t *testing.T) {
	const fails = "AGLTEST_UNPROVEN"
	if os.Getenv(fails) != "" {
		wf := of(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Commit("x")) })
		agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness {
			h := agltest.New(t)
			agltest.Handle(h, editor, func(context.Context, *agltest.Turn) (patch, error) {
				return patch{}, agl.Denied.Errorf("", "no")
			})
			return h
		}, wf.With(agl.None{}), wf)
		t.Error("it goes on")
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashEverywhereSaysOnceWhyItProvesNothing$")
	cmd.Env = append(os.Environ(), fails+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "the run ends in a recorded failure (step editor")
	require.NotContains(t, string(out), "FailNow on a parent test")
	require.NotContains(t, string(out), "it goes on")
}

// flagUpdate reports whether this test was run with -update.
func flagUpdate() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// What a recorded function, or a handler, leaves in the process is not there
// when another one goes on.
func TestReplayFindsAGlobalThatARecordedFunctionHasSet(t *testing.T) {
	t.Parallel()
	wf := of(func(ctx context.Context, run *agl.Run) error {
		err := run.Do(ctx, agl.Func("load", func(context.Context, agl.World) (int, error) { loaded = "yes"; return 0, nil }))
		if err != nil {
			return err
		}
		return run.Step(ctx, reader, agl.In("loaded", loaded))
	})
	failures, _ := failing(t, func(t testing.TB) {
		h := obliging(t)
		require.NoError(t, h.Start(wf.With(agl.None{})))
		require.Len(t, h.Agents(), 1)
		h.Replay(wf)
	})
	require.Contains(t, failures, `replay in a new process: _base: 1 recorded, then step reader (#1): input:loaded changed from "yes" to "(empty)"`)
}

var loaded string

// The run is not started again there, unless the test looks at what only a run
// that was started can tell.
func TestReplayComesToTheNewProcessEitherWay(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]bool{"the run alone": false, "more": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			h := agltest.New(t)
			agltest.Handle(h, reader, func(context.Context, *agltest.Turn) (findings, error) { asked++; return findings{}, nil })
			wf := of(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader) })
			h.CrashAt("_base step reader #1: note the beginning")
			require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
			require.NoError(t, h.Resume(wf))
			require.Len(t, h.Journal(), 1)
			if look {
				require.Equal(t, 1, asked)
			}
			h.Replay(wf)
		})
	}
}
