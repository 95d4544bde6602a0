// Package agl has the declarations of agl that the cases use: cases compile
// without what agl itself needs, and with verbs that it has not yet.
package agl

import (
	"context"
	"errors"
	"io/fs"
)

// Declarations.
type (
	Run      struct{ Namespace string }
	Conflict struct{}
	World    struct {
		Key, Dir string
		Tree     fs.FS
	}
	Status   struct{ Usage struct{ Cost float64 } }
	Screen   struct{}
	Verdict  struct{ Passed bool }
	None     struct{}
	Input    struct{}
	Tool     struct{}
	Role     interface{ declaration() }
	Task     interface{ callCommitOrDiscardFirst() }
	Fix      interface{ fix() }
	Call     interface{ call() }
	Query    interface{ query() }
	Resolver func(ctx context.Context, c *Conflict) (Resolution, error)
	Spec     struct {
		Name    string
		Version int
		Doc     string
		Roles   []Role
	}
	Resolution      struct{}
	Workflow[P any] struct{}
	Editor[P any]   struct{ Name, Model, Prompt, Report string }
	Reader[P any]   struct{ Name, Model, Prompt, Report string }
	Edit[P any]     struct{ message string }
	FuncOf[T any]   struct{ name string }
	Question[T any] struct{ prompt string }
)

var errStub = errors.New("a stub")

func (Editor[P]) declaration()              {}
func (e Editor[P]) With(...Tool) Editor[P]  { return e }
func (Editor[P]) Commit(string) Edit[P]     { return Edit[P]{} }
func (Editor[P]) Discard() Edit[P]          { return Edit[P]{} }
func (Reader[P]) declaration()              {}
func (Reader[P]) callCommitOrDiscardFirst() {}
func (r Reader[P]) Into(*P) Task            { return r }
func (Edit[P]) callCommitOrDiscardFirst()   {}
func (e Edit[P]) AllowEmpty() Edit[P]       { return e }
func (e Edit[P]) Into(*P) Task              { return e }
func (FuncOf[T]) call()                     {}
func (f FuncOf[T]) Into(*T) Call            { return f }
func (Question[T]) query()                  {}
func (q Question[T]) Into(*T) Query         { return q }

// Verbs.
func (*Run) Step(context.Context, Task, ...Input) error          { return errStub }
func (*Run) Do(context.Context, Call, ...Input) error            { return errStub }
func (*Run) Ask(context.Context, Query, ...Input) error          { return errStub }
func (*Run) Verify(context.Context) (Verdict, error)             { return Verdict{}, errStub }
func (*Run) Worktree(context.Context, string) (*Run, error)      { return nil, errStub }
func (*Run) Integrate(context.Context, Resolver) error           { return errStub }
func (*Run) Show(func(Status) Screen)                            {}
func (*Run) Status() Status                                      { return Status{} }
func (*Conflict) Step(context.Context, Fix, ...Input) error      { return errStub }
func (*Conflict) Ask(context.Context, Query) error               { return errStub }
func (*Conflict) Retry() Resolution                              { return Resolution{} }
func Text(string) Question[string]                               { return Question[string]{} }
func In(string, any) Input                                       { return Input{} }
func Stopf(string, ...any) error                                 { return errStub }
func Func[T any](string, func(context.Context, World) (T, error)) FuncOf[T] { return FuncOf[T]{} }

// NewTool returns a tool.
func NewTool[In, Out any](string, string, func(context.Context, World, In) (Out, error)) Tool { return Tool{} }

// NewWorkflow returns a workflow.
func NewWorkflow[P any](Spec, func(context.Context, *Run, P) error) *Workflow[P] { return nil }
