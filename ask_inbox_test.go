package agl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/intercept"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// what asks one question.
func what(text *string) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error { return run.Ask(ctx, agl.Text("What?").Into(text)) })
}

// A person's Enter and the end of what asks come in one instant.
func TestAnAnswerThatWasGivenAsItsDeadlinePassedIsTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.set.Terminal = mem.Terminal(func(ctx context.Context, _ ports.Question) (string, error) {
			<-ctx.Done()
			return "that", nil
		})
		var text string
		wf := script(func(ctx context.Context, run *agl.Run) error {
			under, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return run.Ask(under, agl.Text("What?").Into(&text))
		})
		require.NoError(t, w.start(job(wf)))
		require.Equal(t, "that", text)
	})
}

// Anybody may write into the inbox.
func TestWhatIsNoAnswerInTheInboxStopsNoRun(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"garbage": "{", "empty": "", "an answer to another": `{"answer":"x","at":"2026-01-02T03:04:05Z","format":1,"id":"0123456789"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.set.Terminal = mem.Terminal(func(ctx context.Context, q ports.Question) (string, error) {
					require.NoError(t, w.store.Write(ctx, "job", "answers/"+q.ID+".json", []byte(doc), ports.Durable))
					time.Sleep(10 * time.Second)
					return "that", ctx.Err()
				})
				var text string
				require.NoError(t, w.start(job(what(&text))))
				require.Equal(t, "that", text)
			})
		})
	}
}

func TestAQuestionWhoseAskerHasGoneIsNotOpenAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.set.Terminal = mem.Terminal(func(ctx context.Context, _ ports.Question) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		e := w.engine()
		wf := script(func(ctx context.Context, run *agl.Run) error {
			var text string
			under, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, cancel)
			if err := run.Ask(under, agl.Text("What?").Into(&text)); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%w, want that it is cancelled", err)
			}
			open, err := e.Questions(ctx, "job")
			if len(open) > 0 {
				return fmt.Errorf("open: %v", open)
			}
			return err
		})
		require.NoError(t, e.Start(t.Context(), "job", job(wf), nil))
	})
}

// A vendor's program gives a call up after a while, and its model asks again.
func TestAnAgentThatAsksAgainAsksTheSameQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var ids []string
		w.set.Terminal = mem.Terminal(func(ctx context.Context, q ports.Question) (string, error) {
			ids = append(ids, q.ID)
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(2 * time.Minute):
				return "that", nil
			}
		})
		w.play = func(tn *turn) (any, error) {
			whole := tn.ctx
			var cancel context.CancelFunc
			tn.ctx, cancel = context.WithTimeout(whole, time.Minute)
			defer cancel()
			if res := tn.call("ask", `{"question": "Which?"}`); !res.Rejected {
				return nil, errors.New("answered in time")
			}
			open, err := w.engine().Questions(whole, "job")
			if err != nil || len(open) > 0 {
				return nil, fmt.Errorf("open: %v, %w", open, err)
			}
			tn.ctx = whole
			tn.write("f", tn.call("ask", `{"question": "Which?"}`).Text)
			return patch{}, nil
		}
		wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, asker.Commit("x")) }, asker)
		require.NoError(t, w.start(job(wf)))
		require.Len(t, ids, 2)
		require.Equal(t, ids[0], ids[1])
		require.Equal(t, "that", w.files()["f"])
	})
}

// The answer is checked against a question that is answered elsewhere before it
// is left.
func TestAnAnswerThatComesTooLateIsRefusedAndDoesNotStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	put, answered := make(chan ports.Question), make(chan bool)
	w.set.Terminal = mem.Terminal(func(_ context.Context, q ports.Question) (string, error) {
		put <- q
		<-answered
		return "here", nil
	})
	ended := make(chan error, 1)
	var text string
	go func() { ended <- w.start(job(what(&text))) }()
	q := <-put
	plain := w.set
	w.set = intercept.Wrap(plain, func(_ context.Context, call intercept.Call, do func() error) error {
		if strings.HasPrefix(call.Op, "write answers/") {
			close(answered)
			require.NoError(t, <-ended)
		}
		return do()
	})
	other := w.engine()
	w.set = plain
	err := other.Answer(t.Context(), "job", q.ID, "elsewhere")
	open, qErr := w.engine().Questions(t.Context(), "job")
	require.NoError(t, qErr)
	t.Logf("answer: %v, open: %v", err, open)
	require.ErrorIs(t, err, agl.Conflicted)
	require.Empty(t, open)
	require.Equal(t, "here", text)
}

func TestAnAnswerFromElsewhereIsTakenOnceHoweverARunIsInterrupted(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, first, second *faults, powerCut bool) (w *world, answers int) {
		w = newWorld(t, func(tn *turn) (any, error) {
			said := tn.call("ask", `{"question": "Which?"}`)
			if said.Rejected {
				<-tn.ctx.Done()
				return nil, tn.ctx.Err()
			}
			tn.write("f", said.Text)
			return patch{}, nil
		})
		wf := script(func(ctx context.Context, run *agl.Run) error {
			var all string
			for range 2 {
				var text string
				if err := run.Ask(ctx, agl.Text("What?").Into(&text)); err != nil {
					return err
				}
				all += text
			}
			return run.Step(ctx, asker.Commit(all))
		}, asker)
		plain := w.set
		for i := range 20 {
			f := &faults{}
			if i == 1 {
				f = first
			}
			if i == 2 {
				f = second
			}
			w.set = f.wrap(plain)
			err := w.resume(wf)
			if errors.Is(err, agl.NotFound) {
				err = w.start(job(wf))
			}
			w.set = plain
			if powerCut && f.failed {
				w.store.PowerCut()
				w.repo.PowerCut()
			}
			if err == nil {
				open, err := w.engine().Questions(t.Context(), "job")
				require.NoError(t, err)
				require.Empty(t, open)
				return w, answers
			}
			open, err := w.engine().Questions(t.Context(), "job")
			require.NoError(t, err)
			for _, o := range open {
				if o.Unused || o.Answer != "" {
					continue
				}
				answers++
				require.NoError(t, w.engine().Answer(t.Context(), "job", o.Question.ID, fmt.Sprint("to ", o.Question.ID)))
			}
		}
		t.Fatal("it does not end")
		return nil, 0
	}
	synctest.Test(t, func(t *testing.T) {
		probe := &faults{}
		want, answers := run(t, probe, &faults{}, false)
		require.Equal(t, 3, answers)
		for i := range probe.names {
			for kind := range 4 {
				powerCut, after := kind%2 == 1, kind/2 == 1
				for j := i % 7; j < len(probe.names); j += 7 {
					first, second := &faults{at: i + 1, after: after, crash: true}, &faults{at: j, after: after, crash: true}
					got, n := run(t, first, second, powerCut)
					if n > 3 {
						t.Errorf("%d answers: %d %s then %d, after %v cut %v", n, i+1, probe.names[i], j, after, powerCut)
					}
					if diff := cmp.Diff(want.outcome(), got.outcome()); diff != "" {
						t.Errorf("%d %d %v: outcome (-want +got):\n%s", i, j, kind, diff)
					}
				}
			}
		}
	})
}

func TestAnAgentMayNotAskMoreThanAPersonReads(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("x", 20<<10), make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint(i))
	}
	asks := map[string]string{ // and why not
		`"` + long + `", "options": [""]`:                        "20480 bytes",
		`"q", "options": [` + strings.Join(many, ",") + `, "0"]`: "2001 options",
		`"q", "options": ["` + long + `", "` + long + `"]`:       "20480 bytes",
		`"\u001b\u0007", "options": ["a"]`:                       "blank",
		`"q", "options": ["a", "\u200b\u202e"]`:                  "option 2 is blank",
	}
	w := newWorld(t, func(tn *turn) (any, error) {
		for args, why := range asks {
			said := tn.call("ask", `{"question": `+args+`}`)
			if !said.Rejected || !strings.Contains(said.Text, why) || len(said.Text) > 500 {
				return nil, fmt.Errorf("want %s, it is said: %+.600v", why, said)
			}
		}
		return patch{}, nil
	})
	s := &seat{say: func(q ports.Question) string { return q.Options[0] }}
	w.set.Terminal = s.terminal()
	wf := script(func(ctx context.Context, run *agl.Run) error { return run.Step(ctx, asker.Commit("x").AllowEmpty()) }, asker)
	require.NoError(t, w.start(job(wf)))
	require.Empty(t, s.texts())
}

// A conflict is asked about while another landing waits for it.
func TestARunStopsForAConflictThatOthersWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(tn *turn) (any, error) {
			tn.write("same", tn.Namespace)
			return patch{}, nil
		})
		w.verifier.Command = "make"
		w.verifier.Find = func(context.Context, ports.VerifyTask, int) (ports.Verdict, error) { return ports.Verdict{}, nil }
		wf := script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, "a", "b", "c")
			if err != nil {
				return err
			}
			return each([]string{"a", "b", "c"}, func(name string) error {
				c := children[strings.Index("abc", name)]
				if err := c.Step(ctx, editor.Commit("x")); err != nil {
					return err
				}
				return c.Integrate(ctx, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
					var yes bool
					if err := c.Ask(ctx, agl.Choose("again?", agl.Opt("no", false)).Into(&yes)); err != nil {
						return c.Abort(), err
					}
					return c.Abort(), nil
				})
			})
		}, editor)
		e, err := agl.New(w.set, &agl.Options{Agents: 1})
		require.NoError(t, err)
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, e.Start(t.Context(), "job", job(wf), nil), &unanswered)
		require.Len(t, unanswered.Questions, 1, "the others have not come to theirs")
		require.NoError(t, e.Answer(t.Context(), "job", unanswered.Questions[0].ID, "no"))
		was := unanswered.Questions[0]
		require.ErrorAs(t, e.Resume(t.Context(), "job", wf, nil), &unanswered)
		require.Len(t, unanswered.Questions, 1)
		require.NotEqual(t, was.Namespace, unanswered.Questions[0].Namespace)
		require.NoError(t, e.Close())
	})
}
