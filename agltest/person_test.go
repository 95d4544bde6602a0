package agltest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

var asker = agl.Editor[agl.None]{Name: "asker", Model: "claude/opus", Prompt: "Ask.", Tools: []agl.Tool{agl.AskTool()}}

// asks makes a workflow of a function, whose agents may ask.
func asks(fn func(ctx context.Context, run *agl.Run) error) *agl.Workflow[agl.None] {
	return agl.NewWorkflow(agl.Spec{Name: "asks", Version: 1, Roles: []agl.Role{asker, editor}},
		func(ctx context.Context, run *agl.Run, _ agl.None) error { return fn(ctx, run) })
}

// writesWhatItIsTold scripts an agent that asks, and writes the answers.
func writesWhatItIsTold(h *agltest.Harness) {
	agltest.Handle(h, asker, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
		turn.WriteFile(turn.Namespace+".txt", turn.Ask("Which file?", "a.go", "b.go")+" "+turn.Ask("Why?"))
		return agl.None{}, nil
	})
}

// both asks as a workflow, and as an agent.
var both = asks(func(ctx context.Context, run *agl.Run) error {
	n, text := 0, ""
	if err := run.Ask(ctx, agl.Choose("Which one?", agl.Opt("one", 1), agl.Opt("two", 2)).Into(&n)); err != nil {
		return err
	}
	if err := run.Step(ctx, asker.Commit(fmt.Sprint(n))); err != nil {
		return err
	}
	return run.Ask(ctx, agl.Text("What now?\nAll of it.").Into(&text), agl.In("n", n))
})

func answersBoth(h *agltest.Harness) {
	writesWhatItIsTold(h)
	h.Answer("Which one", "two")
	h.Answer("Which file", "b.go")
	h.Answer("Why", "because\nof it")
	h.Answer("All of it", "nothing")
}

func TestAnswersGoToTheQuestionsTheyAreFor(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		answersBoth(h)
		require.NoError(t, h.Start(both.With(agl.None{})))
		require.Equal(t, "b.go because\nof it", h.Files()["_base.txt"])
		require.Equal(t, "2", h.Commits()[0].Message)
		require.Empty(t, h.Questions())
		h.Replay(both) // which asks nobody
		h.Golden("testdata/asks.journal.txt")
	})
}

func TestAQuestionIsAskedOnceWhereverTheProcessDies(t *testing.T) {
	t.Parallel()
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness {
		h := agltest.New(t)
		answersBoth(h)
		return h
	}, both.With(agl.None{}), both)
}

func TestAskingAndAnsweringArePointsToCrashAt(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"_base answer Which one? #1: note a question",
		"_base answer Which one? #1: ask",
		"_base answer Which one? #1: ask has ended",
		"_base answer Which one? #1: write a record",
		"_base answer Which one? #1: drop a question",
		"_base step asker #1: ask has ended, time 2",
	} {
		h := agltest.New(t)
		answersBoth(h)
		h.CrashAt(point)
		require.ErrorIs(t, h.Start(both.With(agl.None{})), agltest.ErrCrashed, point)
		require.NoError(t, h.Resume(both), point)
		require.Equal(t, "b.go because\nof it", h.Files()["_base.txt"], point)
	}
}

// An answer is given once more to a question that was interrupted, and to no
// other of the same text.
func TestAnswersOfOneTextAreGivenInTurnAlsoAfterACrash(t *testing.T) {
	t.Parallel()
	var got []string
	wf := asks(func(ctx context.Context, run *agl.Run) error {
		got = nil
		for range 3 {
			var text string
			if err := run.Ask(ctx, agl.Text("Next?").Into(&text)); err != nil {
				return err
			}
			got = append(got, text)
		}
		return nil
	})
	for _, at := range []string{"1: ask", "1: ask has ended", "2: ask has ended", "3: write a record", "2: drop a question"} {
		h := agltest.New(t)
		for _, text := range []string{"first", "second", "third"} {
			h.Answer("Next", text)
		}
		h.CrashAt("_base answer Next? #" + at)
		require.ErrorIs(t, h.Start(wf.With(agl.None{})), agltest.ErrCrashed)
		require.NoError(t, h.Resume(wf))
		require.Equal(t, []string{"first", "second", "third"}, got, at)
	}
}

// The answers to a resolver are recorded nowhere, and given again; those to an
// agent in its conflict are.
func TestAResolverThatAsksIsAnsweredAlsoAfterACrash(t *testing.T) {
	t.Parallel()
	resolve := func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
		var mend bool
		q := agl.Choose(c.Summary(), agl.Opt("mend it", true), agl.Opt("give it up", false)).Ahead(10)
		if err := c.Ask(ctx, q.Into(&mend)); err != nil || !mend {
			return c.Abort(), err
		}
		if err := c.Step(ctx, asker); err != nil {
			return c.Abort(), err
		}
		var why string
		return c.Retry(), c.Ask(ctx, agl.Text("Was it hard?").Into(&why))
	}
	wf := asks(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "part")
		if err != nil {
			return err
		}
		if err := child.Step(ctx, editor.Commit("x")); err != nil {
			return err
		}
		return child.Integrate(ctx, resolve)
	})
	agltest.CrashEverywhere(t, func(t *testing.T) *agltest.Harness {
		h := agltest.New(t)
		agltest.Reply(h, editor, patch{})
		h.Conflicts("part", "editor.1.txt")
		agltest.Handle(h, asker, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
			turn.WriteFile("editor.1.txt", turn.Ask("How?"))
			return agl.None{}, nil
		})
		h.Answer("editor.1.txt", "mend it")
		h.Answer("How", "so")
		h.Answer("hard", "no")
		return h
	}, wf.With(agl.None{}), wf)
}

func TestIdenticalQuestionsOfWorktreesAreToldApartByPerson(t *testing.T) {
	t.Parallel()
	names := []string{"api", "client"}
	wf := asks(func(ctx context.Context, run *agl.Run) error {
		errs := make([]error, len(names))
		var group sync.WaitGroup
		for i, name := range names {
			child, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			group.Go(func() {
				if errs[i] = child.Step(ctx, asker.Commit(name)); errs[i] == nil {
					errs[i] = child.Integrate(ctx, agl.Abandon)
				}
			})
		}
		group.Wait()
		return errors.Join(errs...)
	})
	build := func(t *testing.T) *agltest.Harness {
		h := agltest.New(t)
		writesWhatItIsTold(h)
		h.Answer("Why", "it is")
		h.Answer("Why", "it is")
		h.Person(func(q ports.Question) string {
			return map[string]string{"api": "a.go", "client": "b.go"}[q.Namespace]
		})
		return h
	}
	h := build(t)
	require.NoError(t, h.Start(wf.With(agl.None{})))
	require.Equal(t, map[string]string{"api.txt": "a.go it is", "client.txt": "b.go it is"}, h.Files())
	h.Replay(wf)
	agltest.CrashEverywhere(t, build, wf.With(agl.None{}), wf)
}

func TestWhatIsWrongWithAnswersFailsTheTestAndStopsTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script func(h *agltest.Harness)
		want   []string
	}{
		"none": {func(*agltest.Harness) {}, []string{
			`nothing answers the question of _base: "Which one?" (its options are ["one" "two"]). Write h.Answer("Which one?", "one")`, "Unattended: true",
		}},
		"another": {func(h *agltest.Harness) { h.Answer("which one", "one") }, []string{`nothing answers the question of _base: "Which one?"`}},
		"one that does not fit": {func(h *agltest.Harness) { h.Answer("Which one", "three") }, []string{
			`Answer("Which one", "three") does not fit the question "Which one?"`, `none of the options: "one", "two"`,
		}},
		"a person who says nothing": {func(h *agltest.Harness) { h.Person(func(ports.Question) string { return "" }) }, []string{`nothing answers the question of _base: "Which one?"`}},
		"a person who says what does not fit": {func(h *agltest.Harness) { h.Person(func(ports.Question) string { return "3" }) }, []string{
			`what Person says, "3", does not fit the question "Which one?"`,
		}},
		"none for an agent": {func(h *agltest.Harness) { h.Answer("Which one", "one") }, []string{
			`nothing answers the question of _base, asker: "Which file?" (its options are ["a.go" "b.go"]). Write h.Answer("Which file?", "a.go")`,
		}},
		"none for a text": {func(h *agltest.Harness) {
			h.Answer("Which", "one")
			h.Answer("Which", "a.go")
			h.Answer("Why", "x")
		}, []string{`nothing answers the question of _base: "What now?\nAll of it." (it takes a text). Write h.Answer("What now?", "…")`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				failures, _ := failing(t, func(t testing.TB) {
					h := agltest.New(t)
					writesWhatItIsTold(h)
					c.script(h)
					err := h.Start(both.With(agl.None{}))
					if !errors.Is(err, agl.Unavailable) || h.Run().State != agl.StateInterrupted {
						t.Errorf("the run ended %s with %v", h.Run().State, err)
					}
				})
				require.Equal(t, 1, strings.Count(failures, "agltest: "), failures)
				require.NotContains(t, failures, "the run ended")
				for _, want := range c.want {
					require.Contains(t, failures, want)
				}
			})
		})
	}
}

func TestAPanicOrARequireInPersonFailsTheRun(t *testing.T) {
	t.Parallel()
	failures, logs := failing(t, func(t testing.TB) {
		h := agltest.New(t)
		h.Person(func(ports.Question) string { panic("oops") })
		require.ErrorContains(t, h.Start(both.With(agl.None{})), "panic in the person: oops")
	})
	require.Empty(t, failures)
	require.Contains(t, logs, "person_test.go")
	failures, _ = failing(t, func(t testing.TB) {
		h := agltest.New(t)
		h.Person(func(ports.Question) string { t.Fatalf("no such question"); return "" })
		require.ErrorContains(t, h.Start(both.With(agl.None{})), "the person has ended its goroutine")
	})
	require.Equal(t, "no such question", failures)
}

func TestAnAnswerThatNoQuestionUsesFailsTheTest(t *testing.T) {
	t.Parallel()
	failures, _ := failing(t, func(t testing.TB) {
		h := agltest.New(t)
		answersBoth(h)
		h.Answer("Which one", "one")
		require.NoError(t, h.Start(both.With(agl.None{})))
	})
	require.Equal(t, `agltest: no question has used Answer("Which one", "one")`, failures)
}

func TestWhereNobodyIsThereARunWaitsForAnAnswerFromElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := agltest.Options{Unattended: true}.New(t)
		writesWhatItIsTold(h)
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, h.Start(both.With(agl.None{})), &unanswered)
		for _, next := range [][2]string{{"Which one", "two"}, {"Which file", "a.go"}, {"Why", "so"}} {
			require.Contains(t, unanswered.Questions[0].Text, next[0])
			require.Len(t, h.Questions(), 1)
			require.Equal(t, agl.StateInterrupted, h.Run().State)
			h.AnswerElsewhere(next[0], next[1])
			require.Equal(t, next[1], h.Questions()[0].Answer)
			require.ErrorAs(t, h.Resume(both), &unanswered)
		}
		h.AnswerElsewhere("now", "nothing")
		require.NoError(t, h.Resume(both))
		require.Equal(t, map[string]string{"_base.txt": "a.go so"}, h.Files())
	})
}

func TestUnattendedValuesCountWhereNobodyIsThere(t *testing.T) {
	t.Parallel()
	got := 0
	wf := asks(func(ctx context.Context, run *agl.Run) error {
		return run.Ask(ctx, agl.Choose("Which?", agl.Opt("one", 1), agl.Opt("two", 2)).Unattended(2).Into(&got))
	})
	h := agltest.Options{Unattended: true}.New(t)
	require.NoError(t, h.Start(wf.With(agl.None{})))
	require.Equal(t, 2, got)
	h.Replay(wf)
	h = agltest.New(t)
	h.Answer("Which", "one")
	require.NoError(t, h.Start(wf.With(agl.None{})))
	require.Equal(t, 1, got)
}

func TestAnAnswerFromElsewhereReachesARunThatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := agltest.New(t)
		text := ""
		wf := asks(func(ctx context.Context, run *agl.Run) error { return run.Ask(ctx, agl.Text("What?").Into(&text)) })
		asked, gone := make(chan struct{}), make(chan struct{})
		h.Person(func(ports.Question) string {
			close(asked)
			<-gone // thinks about it for ever
			return "late"
		})
		go func() {
			<-asked
			h.AnswerElsewhere("What", "that")
		}()
		require.NoError(t, h.Start(wf.With(agl.None{})))
		close(gone)
		require.Equal(t, "that", text)
	})
}

func TestAHarnessSaysWhatItsPersonCannotDo(t *testing.T) {
	t.Parallel()
	ask := asks(func(ctx context.Context, run *agl.Run) error {
		var text string
		return run.Ask(ctx, agl.Text("What?").Into(&text))
	})
	for want, test := range map[string]func(t testing.TB){
		`Answer("a", "b"): Options.Unattended says that nobody is there; use AnswerElsewhere`: func(t testing.TB) {
			agltest.Options{Unattended: true}.New(t).Answer("a", "b")
		},
		`Person: Options.Unattended says that nobody is there`: func(t testing.TB) {
			agltest.Options{Unattended: true}.New(t).Person(nil)
		},
		`AnswerElsewhere("Where", "x") is for 0 questions; open are ["What?"]`: func(t testing.TB) {
			h := agltest.Options{Unattended: true}.New(t)
			require.Error(t, h.Start(ask.With(agl.None{})))
			h.AnswerElsewhere("Where", "x")
		},
		`AnswerElsewhere("What", " "): `: func(t testing.TB) {
			h := agltest.Options{Unattended: true}.New(t)
			require.Error(t, h.Start(ask.With(agl.None{})))
			h.AnswerElsewhere("What", " ")
		},
		`nothing is shown yet: call Start first`: func(t testing.TB) { agltest.New(t).Screen() },
		`the workflow shows nothing of its own`: func(t testing.TB) {
			h := agltest.New(t)
			h.Answer("What", "x")
			require.NoError(t, h.Start(ask.With(agl.None{})))
			h.Screen()
		},
		`role "asker" asks " ": question: it is blank`: func(t testing.TB) {
			h := agltest.New(t)
			agltest.Handle(h, asker, func(_ context.Context, turn *agltest.Turn) (agl.None, error) {
				turn.Ask(" ")
				return agl.None{}, nil
			})
			wf := asks(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, asker.Discard()) })
			require.Error(t, h.Start(wf.With(agl.None{})))
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			failures, _ := failing(t, test)
			require.Contains(t, failures, want)
		})
	}
}

func TestThePersonOfAHarnessKeepsTheContractOfTerminal(t *testing.T) {
	t.Parallel()
	porttest.Terminal(t, porttest.TerminalOptions{New: func(t testing.TB) (ports.Terminal, *porttest.Person) {
		h, d := agltest.New(t), &mem.Desk{}
		h.Seat(d.Ask)
		return h.Terminal(), &porttest.Person{Screen: d.Screen, Choose: d.Choose, Write: d.Write, Type: d.Type, Waiting: d.Waiting, Leave: d.Leave}
	}})
}

func TestAHarnessWithoutAPersonKeepsTheContractOfTerminal(t *testing.T) {
	t.Parallel()
	porttest.Terminal(t, porttest.TerminalOptions{New: func(t testing.TB) (ports.Terminal, *porttest.Person) {
		return agltest.Options{Unattended: true}.New(t).Terminal(), nil
	}})
}

func TestAReplayAsksNobody(t *testing.T) {
	t.Parallel()
	calls, asked := 0, 0
	wf := asks(func(ctx context.Context, run *agl.Run) error {
		if calls++; calls < 3 { // it is run, and planned
			return nil
		}
		var text string
		return run.Ask(ctx, agl.Text("Why?").Into(&text))
	})
	failures, _ := failing(t, func(t testing.TB) {
		h := agltest.New(t)
		h.Person(func(ports.Question) string { asked++; return "so" })
		require.NoError(t, h.Start(wf.With(agl.None{})))
		h.Replay(wf)
	})
	require.Contains(t, failures, "it asked for what is not recorded: _base: answer Why? (#1) is new")
	require.Zero(t, asked)
}

func TestAnAnswerThatACancellationInterruptedIsGivenAgain(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	wf := asks(func(ctx context.Context, run *agl.Run) error {
		child, err := run.Worktree(ctx, "part")
		if err != nil {
			return err
		}
		if err := child.Step(ctx, editor.Commit("x")); err != nil {
			return err
		}
		return child.Integrate(ctx, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
			var why string
			if err := c.Ask(ctx, agl.Text(c.Summary()).Into(&why)); err != nil {
				return c.Abort(), err
			}
			if cancel != nil {
				cancel()
				return c.Abort(), ctx.Err()
			}
			require.Equal(t, "it is so", why)
			return c.Abort(), nil
		})
	})
	agltest.Reply(h, editor, patch{})
	h.Conflicts("part", "editor.1.txt")
	h.Answer("part", "it is so")
	h.Context = ctx
	require.ErrorIs(t, h.Start(wf.With(agl.None{})), context.Canceled)
	h.Context, cancel = nil, nil
	require.ErrorIs(t, h.Resume(wf), agl.Conflicted)
}
