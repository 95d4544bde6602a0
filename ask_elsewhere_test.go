package agl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/internal/ledger"
	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// twice asks the same, twice.
func twice(got *[2]string) *agl.Workflow[agl.None] {
	return script(func(ctx context.Context, run *agl.Run) error {
		for i := range got {
			if err := run.Ask(ctx, agl.Text("Next?").Into(&got[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// What was left for the first of two questions that say the same, after that was
// answered, is not the answer of the second.
func TestAnAnswerIsTakenByNoOtherQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := ""
	s := &seat{}
	s.say = func(q ports.Question) string {
		if first != "" { // somebody answers the first from elsewhere, too late
			require.NoError(t, ledger.WriteAnswer(t.Context(), w.store, "job", first, "for the first", time.Now().Add(time.Hour)))
		}
		first = q.ID
		return "said " + fmt.Sprint(len(s.asked))
	}
	w.set.Terminal = s.terminal()
	var got [2]string
	require.NoError(t, w.start(job(twice(&got))))
	require.Equal(t, [2]string{"said 1", "said 2"}, got)
	open, err := w.engine().Questions(t.Context(), "job")
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.True(t, open[0].Unused)
	require.Equal(t, "for the first", open[0].Answer)
}

// The process died when it had recorded what it took, and not yet removed it.
func TestAnAnswerThatWasTakenBeforeACrashIsNotTakenAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var got [2]string
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, w.start(job(twice(&got))), &unanswered)
		q := unanswered.Questions[0]
		require.NoError(t, w.engine().Answer(t.Context(), "job", q.ID, "one"))
		require.ErrorAs(t, w.resume(twice(&got)), &unanswered)
		require.NoError(t, ledger.WriteAnswer(t.Context(), w.store, "job", q.ID, "one", w.journal()[0].Ended))
		require.ErrorAs(t, w.resume(twice(&got)), &unanswered)
		open, err := w.engine().Questions(t.Context(), "job")
		require.NoError(t, err)
		require.Len(t, open, 1, "the second question, and no answer")
		require.Empty(t, open[0].Answer)
		require.NotEqual(t, q.ID, open[0].Question.ID)
	})
}

// notes returns what was noted and told so far, once.
func (w *world) notes() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var notes []string
	for _, e := range w.events {
		if n, ok := e.What.(agl.Noted); ok {
			notes = append(notes, n.Text)
		}
	}
	w.events = nil
	return strings.Join(notes, "\n")
}

func TestWhatIsNoAnswerIsDroppedAndToldOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var got []string
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, w.start(job(color(&got))), &unanswered)
		q := unanswered.Questions[0]
		require.NoError(t, ledger.WriteAnswer(t.Context(), w.store, "job", q.ID, "three", time.Now()))
		require.ErrorAs(t, w.resume(color(&got)), &unanswered)
		require.Equal(t, "Which?", unanswered.Questions[0].Text)
		synctest.Wait()
		require.Contains(t, w.notes(), "is dropped")

		w.set.Terminal = mem.Terminal(func(context.Context, ports.Question) (string, error) { return "three", nil })
		require.ErrorIs(t, w.resume(color(&got)), agl.Internal, "a terminal that breaks its contract")
	})
}

func TestAnAnswerThatIsNotUsedIsToldOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.set.Terminal = mem.Terminal(func(ctx context.Context, q ports.Question) (string, error) {
		return "here", w.engine().Answer(ctx, "job", q.ID, "elsewhere")
	})
	var text string
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error { return run.Ask(ctx, agl.Text("What?").Into(&text)) }))))
	require.Equal(t, "here", text)
	require.Eventually(t, func() bool {
		return strings.Contains(w.notes(), "was answered from elsewhere as well (elsewhere): that is not used")
	}, time.Minute, time.Millisecond)
	open, err := w.engine().Questions(t.Context(), "job")
	require.NoError(t, err)
	require.Empty(t, open)
}

// The most urgent question is named first, and they are listed as they came;
// whoever has left is not asked again.
func TestQuestionsAreToldByUrgencyAndListedInTheOrderOfAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		put := 0
		w.set.Terminal = mem.Terminal(func(context.Context, ports.Question) (string, error) {
			put++
			return "", ports.Unavailable.Errorf("", "end of input")
		})
		names := []string{"c", "b", "a"}
		wf := script(func(ctx context.Context, run *agl.Run) error {
			children, err := opens(ctx, run, names...)
			if err != nil {
				return err
			}
			return each(names, func(name string) error {
				i := slices.Index(names, name)
				time.Sleep(time.Duration(i+1) * 100 * time.Millisecond)
				var text string
				return children[i].Ask(ctx, agl.Text(name).Ahead(i%2).Into(&text))
			})
		})
		var unanswered *agl.UnansweredError
		require.ErrorAs(t, w.start(job(wf)), &unanswered)
		require.Equal(t, 1, put)
		var told, listed []string
		for _, q := range unanswered.Questions {
			told = append(told, q.Text)
		}
		open, err := w.engine().Questions(t.Context(), "job")
		require.NoError(t, err)
		for _, o := range open {
			listed = append(listed, o.Question.Text)
		}
		require.Equal(t, "b", told[0])
		require.Equal(t, names, listed)
	})
}

// A slowStore takes a while to read an answer.
type slowStore struct{ ports.Store }

func (s slowStore) Read(ctx context.Context, label, name string) ([]byte, error) {
	doc, err := s.Store.Read(ctx, label, name)
	if strings.HasPrefix(name, "answers/") {
		time.Sleep(50 * time.Millisecond)
	}
	return doc, err
}

// The terminal says why it takes a question back: that the asker's time is over,
// in words that would say of itself that nobody is there.
func TestADeadlineIsNotTakenForAPersonWhoHasLeft(t *testing.T) {
	t.Parallel()
	for range 20 { // which of both is seen first is chance
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			w.set.Store = slowStore{w.set.Store}
			w.set.Terminal = mem.Terminal(func(ctx context.Context, _ ports.Question) (string, error) {
				<-ctx.Done()
				return "", context.Cause(ctx)
			})
			wf := script(func(ctx context.Context, run *agl.Run) error {
				under, cancel := context.WithTimeoutCause(ctx, 475*time.Millisecond, agl.Unavailable) // while an answer is looked for
				defer cancel()
				text := ""
				err := run.Ask(under, agl.Text("What?").Unattended("made up").Into(&text))
				if text != "" {
					return errors.New("it was answered by nobody: " + text)
				}
				return err
			})
			require.ErrorIs(t, w.start(job(wf)), context.DeadlineExceeded)
		})
	}
}
