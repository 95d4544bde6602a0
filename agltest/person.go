package agltest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/agl"
	"example.com/agl/ports"
)

// Answer answers one question whose text contains match, of a workflow, a
// resolver or an agent: by the label of one of its options, or by a text. A
// question takes the first Answer that is for it and was not used; where
// questions are asked at once, let match tell them apart, or use Person.
//
// A question that a crash or a cancellation interrupted before its answer was
// recorded is given the same when it is asked again. One that nothing answers
// fails the test, as does an Answer that no question has used when the test
// ends.
func (h *Harness) Answer(match, value string) {
	h.t.Helper()
	if h.unattended {
		h.t.Fatalf("agltest: Answer(%q, %q): Options.Unattended says that nobody is there; use AnswerElsewhere", match, value)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = append(h.answers, &answer{match: match, value: value})
}

// Person answers every question that no Answer is for, by a function: it
// returns the label of an option or a text, or "" for a question that it does
// not answer. It may be called by several goroutines at once, and, for
// CrashEverywhere, is to say the same to the same question.
func (h *Harness) Person(answer func(q ports.Question) string) {
	h.t.Helper()
	if h.unattended {
		h.t.Fatalf("agltest: Person: Options.Unattended says that nobody is there")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.person = func(ctx context.Context, q ports.Question) (string, error) {
		said := make(chan string, 1)
		ended := make(chan error, 1)
		go func() {
			ended <- h.alone("the person", func() error { said <- answer(q); return nil })
		}()
		select {
		case err := <-ended:
			if err != nil {
				return "", err
			}
			return <-said, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// Questions returns the questions of the run that wait for an answer, in the
// order in which they were asked, and answers that were given and not taken.
func (h *Harness) Questions() []agl.OpenQuestion {
	h.t.Helper()
	e := h.engine(&life{h: h})
	defer e.Close()
	open, err := e.Questions(h.t.Context(), h.Label)
	if err != nil {
		h.t.Fatalf("agltest: %v", err)
	}
	return open
}

// AnswerElsewhere answers the one open question whose text contains match as
// agl answer does in another shell: a run that is under way takes it, else the
// next Resume does.
func (h *Harness) AnswerElsewhere(match, value string) {
	h.t.Helper()
	var ids, texts []string
	for _, open := range h.Questions() {
		if open.Unused {
			continue
		}
		texts = append(texts, open.Question.Text)
		if strings.Contains(open.Question.Text, match) {
			ids = append(ids, open.Question.ID)
		}
	}
	if len(ids) != 1 {
		h.t.Fatalf("agltest: AnswerElsewhere(%q, %q) is for %s; open are %q", match, value, plural(len(ids), "question", "questions"), texts)
	}
	e := h.engine(&life{h: h})
	defer e.Close()
	if err := e.Answer(h.t.Context(), h.Label, ids[0], value); err != nil {
		h.t.Fatalf("agltest: AnswerElsewhere(%q, %q): %v", match, value, err)
	}
}

// Screen returns what the workflow's last Show shows of the run as it is now, or
// was when its last process ended. Replays do not count.
//
// The harness also calls the view while the run goes on, after every event and
// from another goroutine, as a dashboard does: go test -race finds one that
// reads what the workflow changes.
func (h *Harness) Screen() agl.Screen {
	h.t.Helper()
	h.mu.Lock()
	shown := h.shown
	h.mu.Unlock()
	if shown == nil {
		h.t.Fatalf("agltest: nothing is shown yet: call Start first")
	}
	screen, ok := shown.View(shown.Status())
	if !ok {
		h.t.Fatalf("agltest: the workflow shows nothing of its own: it did not call Run.Show, or its view has panicked (see Events)")
	}
	return screen
}

// An answer is one that a question is to get. It is guarded by the harness.
type answer struct {
	match, value string

	asked asking
	life  *life // the process whose question got it last; nil: none has
}

// An asking is one question of a verb.
type asking struct {
	verb ports.Verb
	id   string
}

// A terminal is the person as one process sees it.
type terminal struct {
	h    *Harness
	life *life
}

var _ ports.Terminal = terminal{}

// Attended says whether somebody is there.
func (t terminal) Attended() bool { return !t.h.unattended }

// Ask answers by the scripts.
func (t terminal) Ask(ctx context.Context, q ports.Question) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err := ports.CheckQuestion(q); err != nil {
		return "", err
	}
	switch {
	case t.h.unattended:
		return "", ports.Unavailable.Errorf("", "nobody is there to answer")
	case t.life.replays:
		return "", ports.Denied.Errorf("", "a replay asks nobody")
	}
	verb, _ := ports.VerbOf(ctx)
	said, by, err := t.h.answer(ctx, t.life, asking{verb, q.ID}, q)
	if err != nil {
		return "", err
	}
	if by == "" {
		t.h.failf("%s", unanswered(q))
		return "", ports.Unavailable.Errorf("", "the test has no answer to %q", ports.Clip(q.Text, 60))
	}
	if err := ports.CheckAnswer(q, said); err != nil {
		t.h.failf("%s does not fit the question %q: %v", by, q.Text, err)
		return "", ports.Unavailable.Errorf("", "%s does not fit: %w", by, err)
	}
	return said, nil
}

// answer returns what the scripts say to a question, and which of them: "" if
// none does.
func (h *Harness) answer(ctx context.Context, l *life, at asking, q ports.Question) (said, by string, err error) {
	h.mu.Lock()
	if h.asked == nil {
		h.asked = map[asking]int{}
	}
	h.asked[at]++
	var found *answer
	for _, a := range h.answers {
		switch {
		case a.life == nil:
			if found == nil && strings.Contains(q.Text, a.match) {
				found = a
			}
		case a.asked == at && (a.life.interrupted(l) || a.life != l && a.life.cancelled()):
			found = a // again; a process is given no other before it
		}
		if found != nil {
			break
		}
	}
	if found != nil {
		found.asked, found.life = at, l
	}
	person := h.person
	h.mu.Unlock()
	if found != nil {
		return found.value, fmt.Sprintf("Answer(%q, %q)", found.match, found.value), nil
	}
	if person == nil {
		return "", "", nil
	}
	said, err = person(ctx, q)
	if said == "" || err != nil {
		return "", "", err
	}
	return said, fmt.Sprintf("what Person says, %q,", ports.Clip(said, 60)), nil
}

// unanswered says what to write where nothing answers a question.
func unanswered(q ports.Question) string {
	who := q.Namespace
	if q.From != "" {
		who += ", " + q.From
	}
	value, options := "…", "it takes a text"
	if len(q.Options) > 0 {
		value = q.Options[0]
		options = fmt.Sprintf("its options are %q", q.Options)
		if q.Free {
			options += ", and it takes a text"
		}
	}
	match, _, _ := strings.Cut(strings.TrimSpace(q.Text), "\n")
	for len(match) > 60 {
		_, size := utf8.DecodeLastRuneInString(match)
		match = match[:len(match)-size]
	}
	return fmt.Sprintf("nothing answers the question of %s: %q (%s). Write h.Answer(%s, %s); for a run that nobody watches, Options{Unattended: true}",
		who, q.Text, options, strconv.Quote(match), strconv.Quote(value))
}

// Watch keeps what is shown.
func (t terminal) Watch(run ports.Watched) (stop func()) {
	t.h.mu.Lock()
	defer t.h.mu.Unlock()
	t.life.shows = &run
	if !t.life.replays {
		t.h.shown = &run
	}
	return func() {
		t.h.mu.Lock()
		defer t.h.mu.Unlock()
		t.life.shows = nil
	}
}

// draw calls the process's view, as a dashboard does for a frame.
func (l *life) draw() {
	l.h.mu.Lock()
	run := l.shows
	l.h.mu.Unlock()
	if run != nil {
		run.View(run.Status())
	}
}
