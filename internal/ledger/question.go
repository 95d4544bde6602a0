package ledger

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// Questions that wait for an answer are documents of their own, and so are
// answers that were given from elsewhere: neither is a record. The engine that
// runs the run writes the one and takes the other; anybody may read the one and
// write the other, without the run's lock.
const (
	questionsFolder = "questions"
	answersFolder   = "answers"
)

// An openQuestion is the document of a question.
type openQuestion struct {
	Format   int            `json:"format"`
	Question ports.Question `json:"question"`
	Asked    time.Time      `json:"asked"`
}

// A Given is the document of an answer that waits to be taken.
type Given struct {
	Format int       `json:"format"`
	ID     string    `json:"id"` // of its question
	Answer string    `json:"answer"`
	At     time.Time `json:"at"`
}

func documentOf(folder, id string) string { return folder + "/" + id + ".json" }

// WriteQuestion says that a question waits for its answer.
func WriteQuestion(ctx context.Context, store ports.Store, q ports.Question, asked time.Time) error {
	return writeDoc(ctx, store, q.Run, documentOf(questionsFolder, q.ID), openQuestion{Format, q, asked})
}

// WriteAnswer leaves an answer for the engine that asks its question, in place
// of one that was left before.
func WriteAnswer(ctx context.Context, store ports.Store, label, id, answer string, at time.Time) error {
	return writeDoc(ctx, store, label, documentOf(answersFolder, id), Given{Format, id, answer, at})
}

func writeDoc(ctx context.Context, store ports.Store, label, name string, value any) error {
	doc, err := strictjson.Canonical(value)
	if err != nil {
		return ports.Internal.Errorf("write "+name, "%w", err)
	}
	return store.Write(ctx, label, name, doc, ports.Durable)
}

// ReadQuestion returns a question that waits for its answer, and since when. If
// there is none of that id, the error's Kind is NotFound.
func ReadQuestion(ctx context.Context, store ports.Store, label, id string) (ports.Question, time.Time, error) {
	var q openQuestion
	err := readDoc(ctx, store, label, documentOf(questionsFolder, id), &q, func() bool {
		return q.Format == Format && q.Question.ID == id && q.Question.Run == label && ports.CheckQuestion(q.Question) == nil
	})
	return q.Question, q.Asked, err
}

// ReadAnswer returns an answer that waits to be taken, or nil if there is none.
func ReadAnswer(ctx context.Context, store ports.Store, label, id string) (*Given, error) {
	var g Given
	err := readDoc(ctx, store, label, documentOf(answersFolder, id), &g, func() bool { return g.Format == Format && g.ID == id })
	if errors.Is(err, ports.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &g, nil
}

// readDoc reads a document; one that cannot be read, or does not fit, is a
// *ports.CorruptError.
func readDoc(ctx context.Context, store ports.Store, label, name string, into any, fits func() bool) error {
	doc, err := store.Read(ctx, label, name)
	if err != nil {
		return err
	}
	corrupt := func(cause error) error {
		return &ports.CorruptError{File: store.Path(label, name), Err: cause}
	}
	if err := strictjson.Decode(doc, into); err != nil {
		return corrupt(err)
	}
	if !fits() {
		return corrupt(errors.New("it is not what its name says"))
	}
	return nil
}

// DropQuestion removes a question's document.
func DropQuestion(ctx context.Context, store ports.Store, label, id string) error {
	return store.Delete(ctx, label, documentOf(questionsFolder, id))
}

// DropAnswer removes an answer's document.
func DropAnswer(ctx context.Context, store ports.Store, label, id string) error {
	return store.Delete(ctx, label, documentOf(answersFolder, id))
}

// QuestionIDs returns the ids of the questions that wait for an answer, sorted.
func QuestionIDs(ctx context.Context, store ports.Store, label string) ([]string, error) {
	return idsIn(ctx, store, label, questionsFolder)
}

// AnswerIDs returns the ids of the answers that wait to be taken, sorted.
func AnswerIDs(ctx context.Context, store ports.Store, label string) ([]string, error) {
	return idsIn(ctx, store, label, answersFolder)
}

func idsIn(ctx context.Context, store ports.Store, label, folder string) ([]string, error) {
	names, err := store.Names(ctx, label, folder)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
