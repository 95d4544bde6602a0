package agl

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"example.com/agl/internal/engine"
	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Question is what a person is asked, and what each answer means. Choose and
// Text make one, Into binds it.
type Question[T any] struct {
	text       string
	options    []Option[T] // none: the answer is a text
	priority   int
	unattended *T
}

// An Option is an answer that a person may choose, and what it stands for. The
// label is what is shown and recorded: no two of a question are the same.
type Option[T any] struct {
	label string
	value T
}

// Opt returns an option. A label is any UTF-8 text that is not blank; with
// another one, or one that the question has already, Run.Ask is Invalid, and
// nobody is asked.
func Opt[T any](label string, value T) Option[T] { return Option[T]{label, value} }

// Choose returns a question that is answered by one of its options.
func Choose[T any](prompt string, first Option[T], rest ...Option[T]) Question[T] {
	return Question[T]{text: prompt, options: append([]Option[T]{first}, rest...)}
}

// Text returns a question that is answered by a text, of one or more lines and
// not blank.
func Text(prompt string) Question[string] { return Question[string]{text: prompt} }

// Ahead returns a question that is shown before those of a lower priority, which
// is 0 if nothing is said. Of equal ones the first that was asked comes first.
func (q Question[T]) Ahead(priority int) Question[T] {
	q.priority = priority
	return q
}

// Unattended returns a question that comes to a value where nobody is there to
// answer: of a Choose, the value of one of its options. Without it the run stops
// in order, as soon as nothing else is left to do, with an *UnansweredError; the
// question stays open, and a resume takes the answer that Engine.Answer was
// given by then.
func (q Question[T]) Unattended(value T) Question[T] {
	q.unattended = &value
	return q
}

// Into binds the answer: *dest is assigned when there is one.
func (q Question[T]) Into(dest *T) Query { return boundQuestion[T]{q, dest} }

// A Query is what Run.Ask and Conflict.Ask take: a question that is bound.
type Query interface {
	query() (*engine.Query, error)
}

type boundQuestion[T any] struct {
	question Question[T]
	dest     *T
}

func (b boundQuestion[T]) query() (*engine.Query, error) {
	q := b.question
	op := "question " + ports.Clip(ports.Printable(q.text), 60)
	if b.dest == nil {
		return nil, ports.Invalid.Errorf(op, "Into needs a destination, it has nil")
	}
	if _, isText := any(b.dest).(*string); len(q.options) == 0 && !isText {
		return nil, ports.Invalid.Errorf(op, "it is the zero Question; make it with Choose or Text")
	}
	e := &engine.Query{Text: q.text, Priority: q.priority}
	for _, o := range q.options {
		e.Options = append(e.Options, o.label)
	}
	if q.unattended != nil {
		answer, ok := q.answerOf(*q.unattended)
		if !ok {
			return nil, ports.Invalid.Errorf(op, "its Unattended value is that of none of its options")
		}
		e.Default = &answer
	}
	e.Deliver = func(value json.RawMessage) error {
		var answer string
		if err := strictjson.Decode(value, &answer); err != nil {
			return err
		}
		v, ok := q.valueOf(answer)
		if !ok {
			return ports.Invalid.Errorf(op, "it was answered by %q, which is none of its options", ports.Clip(answer, 60))
		}
		*b.dest = v
		return nil
	}
	return e, nil
}

// answerOf returns the answer that stands for a value.
func (q Question[T]) answerOf(value T) (string, bool) {
	if len(q.options) == 0 {
		text, ok := any(value).(string)
		return text, ok
	}
	i := slices.IndexFunc(q.options, func(o Option[T]) bool { return reflect.DeepEqual(o.value, value) })
	if i < 0 {
		return "", false
	}
	return q.options[i].label, true
}

// valueOf returns the value that an answer stands for.
func (q Question[T]) valueOf(answer string) (value T, ok bool) {
	if len(q.options) == 0 {
		value, ok = any(answer).(T)
		return value, ok
	}
	for _, o := range q.options {
		if o.label == answer {
			return o.value, true
		}
	}
	return value, false
}

// Ask asks a person, unless the answer is recorded. It waits as long as it
// takes: at the terminal, for an answer from elsewhere (Engine.Answer, agl
// answer), or, where nobody is there, as Unattended says. It needs no checkout,
// so worktrees land in this run meanwhile. Inputs are shown to nobody: a change
// of them is another question.
//
// A deadline of ctx that passes is a recorded failure, Unexpected.
func (r *Run) Ask(ctx context.Context, q Query, inputs ...Input) error {
	if q == nil {
		return ports.Invalid.Errorf("ask", "the question is nil")
	}
	query, err := q.query()
	if err != nil {
		return misused(err)
	}
	query.Inputs = engineInputs(inputs)
	return r.run.Ask(ctx, query)
}

// Ask asks a person about the conflict as it stands. The answer counts for this
// landing and this try: one that was interrupted goes on where it was, and one
// that was given up and is tried again asks again.
func (c *Conflict) Ask(ctx context.Context, q Query) error {
	if q == nil {
		return ports.Invalid.Errorf("ask in a conflict", "the question is nil")
	}
	query, err := q.query()
	if err != nil {
		return misused(err)
	}
	return c.conflict.Ask(ctx, query)
}

// AskTool returns the tool, "ask", by which an agent puts a question to a
// person. Its arguments are the question, options to choose from, if there are
// any, and whether the person may answer in their own words all the same:
//
//	{"question": "Which dialect?", "options": ["SQL", "CQL"], "free": true}
//
// It is asked in the name of the step; the answer is recorded with it, and given
// again if the step is interrupted, runs again and asks the same, in the same
// words. Where nobody is there the agent is ended for that: what is sure to be
// asked is better asked by Run.Ask, before the step.
func AskTool() Tool {
	type arguments struct {
		Question string   `json:"question" jsonschema_description:"What to ask: one question, with all that the person needs to know to answer it."`
		Options  []string `json:"options,omitempty" jsonschema_description:"The answers to choose from, a few words each. Leave them out to be answered in the person's own words."`
		Free     bool     `json:"free,omitempty" jsonschema_description:"Whether the person may answer in their own words although there are options."`
	}
	accepts := schema.For(reflect.TypeFor[arguments]())
	return Tool{&engine.Tool{
		Name: engine.AskTool, Schema: accepts,
		Doc: "Asks the person for whom you work, and returns the answer. It may take hours: ask only what you cannot find out or decide yourself.",
		Ask: func(args json.RawMessage) (engine.AgentQuestion, error) {
			var in arguments
			err := accepts.Decode(args, &in)
			return engine.AgentQuestion{Text: in.Question, Options: in.Options, Free: in.Free}, err
		},
	}}
}

// Show has the dashboard show the run by view, in place of what it shows by
// itself, until another view is shown. view is called for each frame, by another
// goroutine, with the run as it is then: it is a function of that alone, and
// touches nothing that the workflow changes.
func (r *Run) Show(view func(Status) Screen) { r.run.Show(view) }
