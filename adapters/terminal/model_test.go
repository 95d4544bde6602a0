package terminal

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/questions"
	"example.com/agl/ports"
)

// Case F4: an Enter that was pressed for the question before, which is drawn
// until the next frame.
func TestAnEnterIsNoAnswerToAQuestionThatHasJustBeenDrawn(t *testing.T) {
	t.Parallel()
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	for _, c := range []struct {
		drawnAfter, pressedAfter time.Duration // since the question came, and since it was drawn
		taken                    bool
	}{
		{0, 0, false},
		{0, questions.Guard - time.Millisecond, false},
		{questions.Guard, 0, false}, // the screen was slow
		{questions.Guard, questions.Guard - time.Millisecond, false},
		{0, questions.Guard + time.Second/framesPerSecond, true},
		{questions.Guard, questions.Guard + time.Second/framesPerSecond, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{queue: questions.New(nil), canvas: canvas{columns: 80}, height: 24}
			answers := make(chan string, 2)
			ask := func(q ports.Question) {
				go func() {
					if answer, err := m.queue.Ask(t.Context(), q); err == nil {
						answers <- answer
					}
				}()
				synctest.Wait()
			}
			ask(ports.Question{Text: "calm", Options: []string{"yes"}})
			m.Update(queueMsg{})
			require.True(t, m.takes(), "the first question on an empty screen takes keys at once")

			ask(ports.Question{Text: "urgent", Options: []string{"stop"}, Priority: 9})
			m.Update(enter)
			time.Sleep(c.drawnAfter)
			m.Update(queueMsg{})
			require.Contains(t, m.View().Content, "urgent")
			time.Sleep(c.pressedAfter)
			m.Update(enter)
			synctest.Wait()
			if !c.taken {
				require.Empty(t, answers, "%+v", c)
				return
			}
			require.Equal(t, "stop", <-answers, "%+v", c)
			require.Contains(t, m.View().Content, "calm")
			m.Update(enter)
			synctest.Wait()
			require.Empty(t, answers, "a second Enter")
		})
	}
}

func TestAPanicWhileTheScreenIsMadeEndsTheBoard(t *testing.T) {
	t.Parallel()
	var told any
	m := &model{queue: questions.New(nil), canvas: canvas{columns: 80}, height: 24, fell: func(panicked any) { told = panicked }}
	next, cmd := m.Update(framesMsg{nil}) // which has no frame to draw
	require.Same(t, m, next)
	require.IsType(t, tea.QuitMsg{}, cmd())
	require.ErrorContains(t, told.(error), "nil pointer")
}
