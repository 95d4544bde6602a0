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
	book, err := e.open(ctx, label)
	if err != nil {
		return nil, err
	}
	taken := answered(book) // before it was removed the process died
	ids, err := ledger.QuestionIDs(ctx, e.set.Store, label)
	if err != nil {
		return nil, err
	}
	open := []ports.OpenQuestion{}
	for _, id := range ids {
		if taken[id] != nil {
			continue
		}
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
	book, err := e.open(ctx, label)
	if err != nil {
		return err
	}
	op := "answer question " + ports.Clip(ports.Printable(id), 40) + " of run " + label
	if !isQuestionID(id) {
		return ports.NotFound.Errorf(op, "that is no question's id")
	}
	q, _, err := ledger.ReadQuestion(ctx, e.set.Store, label, id)
	switch {
	case err == nil && answered(book)[id] != nil:
		return ports.NotFound.Errorf(op, "it is answered")
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

// dropTaken removes what an earlier process had not come to remove before it
// died: the questions whose answers it had recorded, and those answers. What was
// given after that is not.
func (x *execution) dropTaken(ctx context.Context) error {
	store := x.engine.set.Store
	questions, err := ledger.QuestionIDs(ctx, store, x.label)
	if err != nil {
		return err
	}
	answers, err := ledger.AnswerIDs(ctx, store, x.label)
	if err != nil || len(questions)+len(answers) == 0 {
		return err
	}
	taken := answered(x.book)
	for _, id := range answers {
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
	for _, id := range questions {
		if taken[id] != nil {
			if err := ledger.DropQuestion(ctx, store, x.label, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// answered returns the records of answers, by the ids of their questions.
func answered(book *ledger.Book) map[string]*ledger.Entry {
	answered := map[string]*ledger.Entry{}
	ordinals := map[string]int{}
	for _, e := range book.Live("") {
		if e.Kind == ports.KindAnswer {
			name := e.Namespace + " " + e.Name
			ordinals[name]++
			answered[questionID(e.Namespace, e.Key, ordinals[name])] = e
		}
	}
	for _, e := range book.Entries() {
		if e.Kind == ports.KindReply {
			answered[questionID(e.Namespace, e.Key, 1)] = e
		}
	}
	return answered
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
