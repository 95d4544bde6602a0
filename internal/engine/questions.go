package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"example.com/agl/internal/ledger"
	"example.com/agl/ports"
)

// Questions returns the questions of a run that wait for an answer, in the order
// in which they were asked, and answers that were given and not taken.
func (e *Engine) Questions(ctx context.Context, label string) ([]ports.OpenQuestion, error) {
	if err := e.exists(ctx, label); err != nil {
		return nil, err
	}
	ids, err := ledger.QuestionIDs(ctx, e.set.Store, label)
	if err != nil {
		return nil, err
	}
	open := []ports.OpenQuestion{}
	for _, id := range ids {
		q, asked, err := ledger.ReadQuestion(ctx, e.set.Store, label, id)
		if errors.Is(err, ports.NotFound) {
			continue // it was answered at this moment
		}
		if err != nil {
			return nil, err
		}
		open = append(open, ports.OpenQuestion{Question: q, Asked: asked})
	}
	answers, err := ledger.AnswerIDs(ctx, e.set.Store, label)
	if err != nil {
		return nil, err
	}
	for _, id := range answers {
		given, err := ledger.ReadAnswer(ctx, e.set.Store, label, id)
		var corrupt *ports.CorruptError
		if errors.As(err, &corrupt) || err == nil && given == nil {
			continue // it is none, which the run will tell, or was taken at this moment
		}
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(open, func(o ports.OpenQuestion) bool { return o.Question.ID == id }); i >= 0 {
			open[i].Answer = given.Answer
		} else {
			unused := ports.Question{ID: id, Run: label, Options: []string{}}
			open = append(open, ports.OpenQuestion{Question: unused, Asked: given.At, Answer: given.Answer, Unused: true})
		}
	}
	slices.SortStableFunc(open, func(a, b ports.OpenQuestion) int {
		return cmp.Or(a.Asked.Compare(b.Asked), strings.Compare(a.Question.ID, b.Question.ID))
	})
	return open, nil
}

// Answer gives the answer to a question that waits for one. The engine that
// asks takes it within a second, or when the run is resumed. If the question is
// answered otherwise in that instant, the error is Conflicted.
func (e *Engine) Answer(ctx context.Context, label, id, value string) error {
	if err := e.exists(ctx, label); err != nil {
		return err
	}
	op := "answer question " + ports.Clip(ports.Printable(id), 40) + " of run " + label
	if !isQuestionID(id) {
		return ports.NotFound.Errorf(op, "that is no question's id")
	}
	q, _, err := ledger.ReadQuestion(ctx, e.set.Store, label, id)
	switch {
	case errors.Is(err, ports.NotFound):
		return ports.NotFound.Errorf(op, "no such question waits for an answer")
	case err != nil:
		return err
	}
	if err := ports.CheckAnswer(q, value); err != nil {
		return err
	}
	if err := ledger.WriteAnswer(ctx, e.set.Store, label, id, value, e.now()); err != nil {
		return err
	}
	if _, _, err := ledger.ReadQuestion(ctx, e.set.Store, label, id); !errors.Is(err, ports.NotFound) {
		return err
	}
	// If the answer was taken, it has gone before its question.
	if left, err := ledger.ReadAnswer(ctx, e.set.Store, label, id); err != nil || left == nil {
		return err
	}
	return errors.Join(ports.Conflicted.Errorf(op, "it does not wait for an answer any more"), ledger.DropAnswer(ctx, e.set.Store, label, id))
}

func isQuestionID(id string) bool {
	return len(id) == idLength && strings.Trim(id, "0123456789abcdef") == ""
}

// exists returns an error unless a run is recorded under a label.
func (e *Engine) exists(ctx context.Context, label string) error {
	if err := ports.CheckName("label", label); err != nil {
		return err
	}
	_, err := ledger.ReadRun(ctx, e.set.Store, label)
	return err
}

// dropTaken drops the answers that an earlier process had taken and recorded
// before it died. What was given after that is for when the same is asked again.
func (x *execution) dropTaken(ctx context.Context) error {
	store := x.engine.set.Store
	ids, err := ledger.AnswerIDs(ctx, store, x.label)
	if err != nil || len(ids) == 0 {
		return err
	}
	taken := map[string]*ledger.Entry{}
	for _, e := range x.book.Entries() {
		switch e.Kind {
		case ports.KindAnswer, ports.KindReply:
			taken[questionID(e.Namespace, e.Key)] = e
		}
	}
	for _, id := range ids {
		given, err := x.given(ctx, "", id)
		if err != nil {
			return err
		}
		if e := taken[id]; e != nil && given != nil && !given.At.After(e.Ended) {
			if err := ledger.DropAnswer(ctx, store, x.label, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeQuestions removes the questions of a run that has ended: nothing waits
// for them. Answers that nothing asked for stay, and are told of.
func (x *execution) closeQuestions(ctx context.Context) error {
	store := x.engine.set.Store
	ids, err := ledger.QuestionIDs(ctx, store, x.label)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := ledger.DropQuestion(ctx, store, x.label, id); err != nil {
			return err
		}
	}
	unused, err := ledger.AnswerIDs(ctx, store, x.label)
	if err == nil && len(unused) > 0 {
		x.note("", "answers that nothing has asked for: %s", strings.Join(unused, ", "))
	}
	return err
}
