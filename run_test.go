package agl_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

func TestAWorkflowRunsItsStepsAndRecordsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(fix(1).With(params{Request: "nil crash"})))

	want := []string{"editor#1", "reader#1", "editor#2", "reader#2"}
	if diff := cmp.Diff(want, w.agents()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"main.go": "package main\n", "fix.txt": "round 2\n"}, w.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	records := w.journal()
	require.Len(t, records, 4)
	require.JSONEq(t, `{"summary":"change 1"}`, string(records[0].Value))
	require.NotEqual(t, records[0].Before, records[0].Head)
	require.Equal(t, records[1].Before, records[1].Head)
	require.Equal(t, int64(110), records[0].Usage.Tokens())
	info := w.info()
	require.Equal(t, agl.StateDone, info.State)
	require.Equal(t, records[2].Head, info.Head)
}

func TestAFinishedRunResumedStartsNoAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
	w.agents()
	require.NoError(t, w.resume(fix(1)))
	require.Empty(t, w.agents())
	require.Len(t, w.store.Documents("job", "records/"), 5, "four steps and one end")
}

func TestTheRunEndsAsTheFunctionDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(t *turn) (any, error) {
		if t.Role == "editor" {
			t.write("a", t.Role)
			t.write("n", string(rune('0'+t.Ordinal)))
			return patch{"p"}, nil
		}
		return findings{[]string{"again"}}, nil
	})
	err := w.start(fix(1).With(params{Request: "x", Rounds: 2}))
	require.ErrorIs(t, err, agl.Stopped)
	require.Equal(t, 7, agl.ExitCode(err))
	require.Equal(t, "1 findings left", err.Error())
	require.Equal(t, agl.StateStopped, w.info().State)
}

func TestTheFirstValidReportWinsAndARefusalSaysEverything(t *testing.T) {
	t.Parallel()
	var texts []string
	w := newWorld(t, func(tn *turn) (any, error) {
		texts = append(texts,
			tn.call("report", `{"items":"x","more":1}`).Text,
			tn.call("report", `{"items":["one"]}`).Text,
			tn.call("report", `{"items":[]}`).Text)
		return nil, nil
	})
	var got findings
	wf := script(func(ctx context.Context, run *agl.Run) error {
		return run.Step(ctx, reader.Into(&got))
	})
	require.NoError(t, w.start(job(wf)))
	require.Equal(t, []string{"one"}, got.Items)
	require.Contains(t, texts[0], "items")
	require.Contains(t, texts[0], "more")
	require.Equal(t, "recorded", texts[1])
	require.Contains(t, texts[2], "already")
}

func TestADestinationIsAssignedOnlyOnSuccessFromZero(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(tn *turn) (any, error) {
		if tn.n == 1 {
			return nil, ports.Unavailable.Errorf("", "no")
		}
		return findings{}, nil
	})
	got := findings{[]string{"before"}}
	var afterFailure findings
	wf := script(func(ctx context.Context, run *agl.Run) error {
		got = findings{[]string{"before"}}
		if err := run.Step(ctx, reader.Into(&got)); err == nil {
			return errors.New("the first step should fail")
		}
		afterFailure = got
		return run.Step(ctx, reader.Into(&got), agl.In("again", true))
	})
	require.NoError(t, w.start(job(wf)))
	require.Equal(t, []string{"before"}, afterFailure.Items)
	require.Empty(t, got.Items)
}

func TestMisuseIsInvalidAtTheCallAndStartsNothing(t *testing.T) {
	t.Parallel()
	stranger := agl.Reader[agl.None]{Name: "stranger", Model: "fake/x", Prompt: "p"}
	changed := reader
	changed.Model = "fake/other"
	blank, torn := reader, reader
	blank.Prompt, torn.Prompt = " \n", "\xff"
	call := func(c agl.Call) func(ctx context.Context, run *agl.Run) error {
		return func(ctx context.Context, run *agl.Run) error { return run.Do(ctx, c) }
	}
	for name, call := range map[string]func(ctx context.Context, run *agl.Run) error{
		"a blank commit message": func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Commit(" ")) },
		"a nil destination":      func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader.Into(nil)) },
		"an empty discard":       func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, editor.Discard().AllowEmpty()) },
		"no task":                func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, nil) },
		"no call":                func(ctx context.Context, run *agl.Run) error { return run.Do(ctx, nil) },
		"a role of no one":       func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, stranger) },
		"a changed role":         func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, changed) },
		"a zero tool":            func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader.With(agl.Tool{})) },
		"an input twice": func(ctx context.Context, run *agl.Run) error {
			return run.Step(ctx, reader, agl.In("a", 1), agl.In("a", 2))
		},
		"an input without name": func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, reader, agl.In("", 1)) },
		"an input of a channel": func(ctx context.Context, run *agl.Run) error {
			return run.Step(ctx, reader, agl.In("c", make(chan int)))
		},
		"an input not a number": func(ctx context.Context, run *agl.Run) error {
			zero := 0.0
			return run.Step(ctx, reader, agl.In("nan", zero/zero))
		},
		"no gate":                   func(ctx context.Context, run *agl.Run) error { _, err := run.Verify(ctx); return err },
		"a blank prompt":            func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, blank) },
		"a prompt that is no UTF-8": func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, torn) },
		"a nil function":            call(agl.Func[int]("f", nil)),
		"a function's blank commit message": call(agl.Func("f", func(context.Context, agl.World) (int, error) {
			return 0, errors.New("it was called")
		}).Commit(" \n")),
		"a result that has no JSON": call(agl.Func("f", func(context.Context, agl.World) (chan int, error) {
			return nil, errors.New("it was called")
		})),
		"a result that is not read again": call(agl.Func("f", func(context.Context, agl.World) (error, error) {
			return nil, errors.New("it was called")
		})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, twoRounds)
			err := w.start(job(script(call)))
			require.ErrorIs(t, err, agl.Invalid)
			require.Equal(t, 2, agl.ExitCode(err))
			require.Empty(t, w.agents())
			require.Empty(t, w.journal())
		})
	}
}

func TestWhatIsDeclaredWronglyIsMendedAndResumed(t *testing.T) {
	t.Parallel()
	name := "go mod"
	w := newWorld(t, twoRounds)
	wf := script(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, reader); err != nil {
			return err
		}
		return run.Do(ctx, agl.Func(name, func(context.Context, agl.World) (int, error) { return 0, nil }))
	})
	require.EqualError(t, w.start(job(wf)), `function "go mod" has ' ' at byte 3; it may have ASCII letters, digits, '.', '_' and '-'; `+
		`nothing was started: mend the workflow, then resume`)
	name = "go-mod"
	require.NoError(t, w.resume(wf))
	require.Len(t, w.journal(), 2)
	require.Len(t, w.agents(), 1)
}

func TestAZeroJobAndBadLabelsAreInvalid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	e := w.engine()
	require.ErrorIs(t, e.Start(t.Context(), "job", agl.Job{}, nil), agl.Invalid)
	for _, label := range []string{"", "-x", ".hidden", "a..b", "x.lock", "a b", "é", "a/b", "HEAD", "_work", "_Base", "con", "LPT1.txt", "a.", string(make([]byte, 101))} {
		err := e.Start(t.Context(), label, fix(1).With(params{}), nil)
		require.ErrorIs(t, err, agl.Invalid, "label %q", label)
	}
	runs, err := e.Runs(t.Context())
	require.NoError(t, err)
	require.Empty(t, runs)
}

func TestALabelInUseIsRefusedAndNothingChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	require.NoError(t, w.start(fix(1).With(params{Request: "x"})))
	w.agents()
	var used *agl.InUseError
	require.ErrorAs(t, w.start(fix(1).With(params{Request: "x"})), &used)
	require.Equal(t, 4, agl.ExitCode(used))
	e := w.engine()
	require.ErrorAs(t, e.Start(t.Context(), "JOB", fix(1).With(params{}), nil), &used, "a label that differs by case alone")

	require.NoError(t, w.start(fix(1).With(params{Request: "x"}), agl.StartOptions{Resume: true}), "this very job")
	err := w.start(fix(1).With(params{Request: "y"}), agl.StartOptions{Resume: true})
	require.ErrorAs(t, err, &used)
	require.Contains(t, err.Error(), "Request")
	err = e.Start(t.Context(), "JOB", fix(1).With(params{Request: "x"}), &agl.StartOptions{Resume: true})
	require.ErrorAs(t, err, &used, "this very job, under a label that differs by case alone")
	require.Contains(t, err.Error(), `"job"`)
	require.Empty(t, w.agents())
}

func TestABranchThatBelongsToNoRunIsInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	trees, err := w.repo.Attach(t.Context(), "job", nil)
	require.NoError(t, err)
	base, err := w.repo.Resolve(t.Context(), "main")
	require.NoError(t, err)
	require.NoError(t, trees.Move(t.Context(), "agl/job", "", base))
	var used *agl.InUseError
	require.ErrorAs(t, w.start(fix(1).With(params{}), agl.StartOptions{Resume: true}), &used)
	require.Equal(t, "agl/job", used.Branch)
}

// Case D1.
func TestTwoVerbsAtOnceOnOneRunAreRefused(t *testing.T) {
	t.Parallel()
	inside, proceed := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(tn *turn) (any, error) {
		close(inside)
		<-proceed
		return findings{}, nil
	})
	wf := script(func(ctx context.Context, run *agl.Run) error {
		done := make(chan error)
		go func() { done <- run.Step(ctx, reader) }()
		<-inside
		err := run.Step(ctx, reader, agl.In("other", 1))
		close(proceed)
		return errors.Join(err, <-done)
	})
	err := w.start(job(wf))
	require.ErrorIs(t, err, agl.Invalid)
	require.Contains(t, err.Error(), "give each goroutine a Worktree")
	require.Len(t, w.journal(), 1)
}

func TestAVerbAfterTheFunctionReturnedIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	var kept *agl.Run
	require.NoError(t, w.start(job(script(func(_ context.Context, run *agl.Run) error {
		kept = run
		return nil
	}))))
	require.ErrorIs(t, kept.Step(t.Context(), reader), agl.Invalid)
}

func TestDoRecordsAFunctionAndItsCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	calls := 0
	var keys []string
	wf := script(func(ctx context.Context, run *agl.Run) error {
		var n int64
		err := run.Do(ctx, agl.Func("count", func(_ context.Context, w agl.World) (int64, error) {
			calls++
			keys = append(keys, w.Key)
			return 1<<60 + 1, nil
		}).Into(&n), agl.In("of", "things"))
		if err != nil {
			return err
		}
		if n != 1<<60+1 {
			return errors.New("not exact")
		}
		return run.Do(ctx, agl.Func("tidy", func(context.Context, agl.World) (agl.None, error) {
			return agl.None{}, nil
		}).Commit("tidy"))
	})
	require.NoError(t, w.start(job(wf)))
	require.NoError(t, w.resume(wf))
	require.Equal(t, 1, calls)
	require.Len(t, keys[0], 64)
	require.Len(t, w.journal(), 2)
}

func TestAToolRunsInThisProcessWithItsWorld(t *testing.T) {
	t.Parallel()
	type query struct {
		Name string `json:"name"`
	}
	lookup := agl.NewTool("lookup", "Looks up a file.", func(_ context.Context, w agl.World, in query) (string, error) {
		if in.Name == "panic" {
			panic("at once")
		}
		f, err := w.Tree.Open(in.Name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		return "found, key " + w.Key[:1] + " " + w.Dir, nil
	})
	role := agl.Reader[agl.None]{Name: "asker", Model: "fake/x", Prompt: "p", Tools: []agl.Tool{lookup}}
	var results []ports.ToolResult
	w := newWorld(t, func(tn *turn) (any, error) {
		for _, args := range []string{`{"name":"main.go"}`, `{"name":"none"}`, `{"nam":1}`, `{"name":"panic"}`} {
			results = append(results, tn.call("lookup", args))
		}
		return nil, nil
	})
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, role) }, role))))
	require.False(t, results[0].Rejected)
	require.Contains(t, results[0].Text, "found")
	for _, r := range results[1:] {
		require.True(t, r.Rejected, r.Text)
	}
	require.Contains(t, results[1].Text, os.ErrNotExist.Error())
	require.Contains(t, results[3].Text, "panic")
}

func TestVerifyIsRecordedAndWhatItLeavesIsPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	w.verifier.Command = "make"
	w.verifier.Find = func(_ context.Context, _ ports.VerifyTask, n int) (ports.Verdict, error) {
		return ports.Verdict{Passed: n == 2, Output: "out"}, nil
	}
	var verdicts []agl.Verdict
	wf := script(func(ctx context.Context, run *agl.Run) error {
		verdicts = nil
		for range 2 {
			v, err := run.Verify(ctx)
			if err != nil {
				return err
			}
			verdicts = append(verdicts, v)
		}
		return nil
	})
	require.NoError(t, w.start(job(wf)))
	require.NoError(t, w.resume(wf))
	require.False(t, verdicts[0].Passed)
	require.True(t, verdicts[1].Passed)
	require.Equal(t, "make", verdicts[0].Command)
	require.NotEmpty(t, verdicts[0].Tree)
	require.Len(t, w.journal(), 2)
}

func TestAPanicInAWorkflowIsInternal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	err := w.start(job(script(func(context.Context, *agl.Run) error { panic("oh") })))
	require.ErrorIs(t, err, agl.Internal)
	require.Equal(t, 70, agl.ExitCode(err))
}

// As a test does that fails in the middle of one.
func TestAWorkflowWhoseGoroutineEndsCanBeResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	leave := true
	wf := script(func(ctx context.Context, run *agl.Run) error {
		err := run.Step(ctx, reader)
		if leave {
			runtime.Goexit()
		}
		return err
	})
	e := w.engine()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = e.Start(t.Context(), "job", job(wf), nil)
		t.Error("it has returned")
	}()
	<-done
	require.Equal(t, agl.StateInterrupted, w.info().State)
	leave = false
	require.NoError(t, e.Resume(t.Context(), "job", wf, nil))
	require.Len(t, w.agents(), 1)
}
