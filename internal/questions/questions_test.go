package questions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/questions"
	"example.com/agl/ports"
)

// A result is what a call of Ask returned.
type result struct {
	answer string
	err    error
}

// ask asks in a goroutine, and returns once the question waits. It is for
// synctest bubbles.
func ask(ctx context.Context, qs *questions.Queue, text string, priority int, options ...string) <-chan result {
	results := make(chan result, 1)
	go func() {
		answer, err := qs.Ask(ctx, ports.Question{Text: text, Priority: priority, Options: options})
		results <- result{answer, err}
	}()
	synctest.Wait()
	return results
}

func shown(t *testing.T, qs *questions.Queue) questions.Shown {
	t.Helper()
	s, ok := qs.Shown()
	require.True(t, ok, "a question is on the screen")
	return s
}

func TestQuestionsAreShownByPriorityAndFirstInFirstOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		qs := questions.New(nil)
		for _, q := range []struct {
			text     string
			priority int
		}{{"c", 0}, {"d", 0}, {"a", 9}, {"e", -1}, {"b", 9}} {
			ask(t.Context(), qs, q.text, q.priority)
		}
		var order []string
		for left := 4; left >= 0; left-- {
			time.Sleep(questions.Guard)
			s := shown(t, qs)
			require.Equal(t, left, s.More)
			order = append(order, s.Question.Text)
			require.NoError(t, qs.Answer(s.ID, "x"))
		}
		require.Equal(t, []string{"a", "b", "c", "d", "e"}, order)
		_, ok := qs.Shown()
		require.False(t, ok, "nothing is left")
	})
}

func TestTwoAskersOfOneQuestionGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		qs := questions.New(nil)
		first := ask(t.Context(), qs, "Go on?", 0, "yes", "no")
		second := ask(t.Context(), qs, "Go on?", 0, "yes", "no")
		require.NoError(t, qs.Answer(shown(t, qs).ID, "yes"))
		time.Sleep(questions.Guard)
		require.NoError(t, qs.Answer(shown(t, qs).ID, "no"))
		require.Equal(t, result{answer: "yes"}, <-first)
		require.Equal(t, result{answer: "no"}, <-second)
	})
}

// Case F4: an Enter that was pressed for the question before.
func TestAQuestionThatTookThePlaceOfAnotherTakesNoKeyForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		qs := questions.New(nil)
		calm := ask(t.Context(), qs, "calm", 0)
		one := shown(t, qs)
		require.True(t, qs.Takes(one.ID), "the first question on an empty screen takes keys at once")
		qs.Keep(one.ID, questions.Draft{Text: "yes", Cursor: 3, Writing: true})

		urgent := ask(t.Context(), qs, "urgent", 9)
		two := shown(t, qs)
		require.Equal(t, "urgent", two.Question.Text)
		require.Zero(t, two.Draft)
		require.ErrorIs(t, qs.Answer(one.ID, "yes"), ports.Conflicted, "the question that was displaced")
		require.ErrorIs(t, qs.Answer(two.ID, "yes"), ports.Conflicted, "the question that came in its place")
		time.Sleep(questions.Guard - time.Nanosecond)
		require.False(t, qs.Takes(two.ID))
		time.Sleep(time.Nanosecond)
		require.NoError(t, qs.Answer(two.ID, "stop"))

		require.Equal(t, questions.Draft{Text: "yes", Cursor: 3, Writing: true}, shown(t, qs).Draft, "what was typed is still there")
		require.Equal(t, one.ID, shown(t, qs).ID)
		time.Sleep(questions.Guard)
		require.NoError(t, qs.Answer(one.ID, "yes"))
		require.Equal(t, result{answer: "stop"}, <-urgent)
		require.Equal(t, result{answer: "yes"}, <-calm)
	})
}

func TestAScreenThatWasEmptiedAMomentAgoIsStillTheLastQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		qs := questions.New(nil)
		ctx, cancel := context.WithCancel(t.Context())
		first := ask(ctx, qs, "first", 0)
		cancel()
		<-first
		ask(t.Context(), qs, "second", 0)
		require.False(t, qs.Takes(shown(t, qs).ID))
		time.Sleep(questions.Guard)
		require.True(t, qs.Takes(shown(t, qs).ID))
	})
}

// Case F12: the asker is gone.
func TestAQuestionWhoseAskerIsCancelledLeavesTheScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		qs := questions.New(nil)
		cause := errors.New("the step was given up")
		ctx, cancel := context.WithCancelCause(t.Context())
		first := ask(ctx, qs, "first", 0)
		ask(t.Context(), qs, "second", 0)
		dead := shown(t, qs)
		cancel(cause)
		require.ErrorIs(t, (<-first).err, cause)
		require.Equal(t, "second", shown(t, qs).Question.Text)
		require.ErrorIs(t, qs.Answer(dead.ID, "late"), ports.Conflicted)
		qs.Keep(dead.ID, questions.Draft{Text: "late"})
		require.Zero(t, shown(t, qs).Draft)
		answer, err := qs.Ask(ctx, ports.Question{Text: "third"})
		require.ErrorIs(t, err, cause)
		require.Empty(t, answer)
	})
}

func TestAfterCloseNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		qs := questions.New(nil)
		waits := ask(t.Context(), qs, "first", 0)
		qs.Close()
		qs.Close()
		require.ErrorIs(t, (<-waits).err, ports.Unavailable)
		_, err := qs.Ask(t.Context(), ports.Question{Text: "second"})
		require.ErrorIs(t, err, ports.Unavailable)
		_, ok := qs.Shown()
		require.False(t, ok)
	})
}

func TestAnAnswerThatIsNoneLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		qs := questions.New(nil)
		_, err := qs.Ask(t.Context(), ports.Question{Text: " "})
		require.ErrorIs(t, err, ports.Invalid)
		options := []string{"yes", "no"}
		waits := ask(t.Context(), qs, "Go on?", 0, options...)
		options[0] = "changed by its owner"
		require.ErrorIs(t, qs.Answer(shown(t, qs).ID, "maybe"), ports.Invalid)
		require.NoError(t, qs.Answer(shown(t, qs).ID, "yes"))
		require.Equal(t, result{answer: "yes"}, <-waits)
	})
}

// A model is the queue as its contract describes it.
type model struct {
	waiting  []waiting
	on       questions.ID
	replaced time.Time
}

type waiting struct {
	id       questions.ID
	priority int
	draft    questions.Draft
	results  <-chan result
	cancel   context.CancelFunc
}

func (m *model) settle() {
	slices.SortStableFunc(m.waiting, func(a, b waiting) int { return b.priority - a.priority })
	first := questions.ID(0)
	if len(m.waiting) > 0 {
		first = m.waiting[0].id
	}
	if m.on != 0 && m.on != first {
		m.replaced = time.Now()
	}
	m.on = first
}

func TestAQueueDoesWhatItsModelDoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				qs, m, asked := questions.New(nil), model{}, questions.ID(0)
				for range 300 {
					switch what := random.IntN(6); {
					case what <= 1:
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						priority := random.IntN(3)
						asked++
						m.waiting = append(m.waiting, waiting{
							id: asked, priority: priority, cancel: cancel,
							results: ask(ctx, qs, "the same text", priority),
						})
					case what == 2:
						time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
						continue
					case len(m.waiting) == 0:
						continue
					case what == 3:
						i := random.IntN(len(m.waiting))
						m.waiting[i].cancel()
						require.ErrorIs(t, (<-m.waiting[i].results).err, context.Canceled)
						m.waiting = slices.Delete(m.waiting, i, i+1)
					case what == 4:
						i := random.IntN(len(m.waiting))
						m.waiting[i].draft = questions.Draft{Text: fmt.Sprint(random.Int())}
						qs.Keep(m.waiting[i].id, m.waiting[i].draft)
					default:
						i := random.IntN(len(m.waiting))
						text := fmt.Sprint(random.Int())
						takes := i == 0 && (m.replaced.IsZero() || time.Since(m.replaced) >= questions.Guard)
						require.Equal(t, takes, qs.Takes(m.waiting[i].id))
						err := qs.Answer(m.waiting[i].id, text)
						if !takes {
							require.ErrorIs(t, err, ports.Conflicted)
							continue
						}
						require.NoError(t, err)
						require.Equal(t, result{answer: text}, <-m.waiting[i].results)
						m.waiting = m.waiting[1:]
					}
					m.settle()
					s, ok := qs.Shown()
					require.Equal(t, len(m.waiting) > 0, ok)
					if ok {
						require.Equal(t, questions.Shown{
							ID: m.waiting[0].id, Question: s.Question, Draft: m.waiting[0].draft, More: len(m.waiting) - 1,
						}, s)
					}
				}
			})
		})
	}
}

func TestAnswersAndCancellationsRaceWithoutALoss(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Unix(0, 0)
	qs := questions.New(func() time.Time { // each look at the clock is after the guard
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(questions.Guard)
		return now
	})
	var askers sync.WaitGroup
	got := make(chan string, 200)
	for i := range 200 {
		askers.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%3 == 0 {
				go cancel()
			}
			if answer, err := qs.Ask(ctx, ports.Question{Text: "?", Priority: i % 5}); err == nil {
				got <- answer
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		askers.Wait()
		close(ended)
	}()
	answered := 0
	for open := true; open; {
		select {
		case <-ended:
			open = false
		case <-qs.Changed():
			for s, ok := qs.Shown(); ok; s, ok = qs.Shown() {
				if qs.Answer(s.ID, fmt.Sprint(s.ID)) == nil {
					answered++
				}
			}
		}
	}
	require.Len(t, got, answered, "each answer that was taken reached an asker")
	close(got)
	var all []string
	for answer := range got {
		all = append(all, answer)
	}
	slices.Sort(all)
	require.Len(t, slices.Compact(all), answered, "and each another")
}

// An instant is a context that ends when it is first waited for, just after
// something else has happened.
type instant struct {
	context.Context
	end func()
}

func (i instant) Done() <-chan struct{} {
	i.end()
	return i.Context.Done()
}

func TestAnAnswerInTheInstantOfACancellationIsReturned(t *testing.T) {
	t.Parallel()
	for range 50 { // which of the two is noticed is up to chance
		qs := questions.New(nil)
		ctx, cancel := context.WithCancel(t.Context())
		got, err := qs.Ask(instant{ctx, func() {
			require.NoError(t, qs.Answer(shown(t, qs).ID, "no"))
			cancel()
		}}, ports.Question{Text: "Go on?"})
		require.NoError(t, err)
		require.Equal(t, "no", got)
	}
}
