package agl

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"example.com/agl/internal/engine"
	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Run is what a workflow's function is given. Its methods Step, Do and
// Verify are the durable points: each is recorded, and answered from the
// record when the function is called again. One at a time may be in flight.
type Run struct{ run *engine.Run }

// Step runs an agent, unless it is recorded, and assigns its report to what
// the task is bound to. Where the step ends in a commit, the run's branch has
// it when Step returns.
func (r *Run) Step(ctx context.Context, task Task, inputs ...Input) error {
	if task == nil {
		return ports.Invalid.Errorf("step", "the task is nil")
	}
	s, err := task.callCommitOrDiscardFirst()
	if err != nil {
		return misused(err)
	}
	s.Inputs = engineInputs(inputs)
	return r.run.Step(ctx, s)
}

// Do calls a Go function, unless it is recorded: what is not a function of
// what the workflow knows, or has effects outside. It may be called again if
// the process dies in it; World.Key is the same then.
func (r *Run) Do(ctx context.Context, c Call, inputs ...Input) error {
	if c == nil {
		return ports.Invalid.Errorf("do", "the call is nil")
	}
	call, err := c.call()
	if err != nil {
		return misused(err)
	}
	call.Inputs = engineInputs(inputs)
	return r.run.Call(ctx, call)
}

// misused adds to the error of what cannot be run as it is declared what its
// author can do.
func misused(err error) error {
	return fmt.Errorf("%w; nothing was started: mend the workflow, then resume", err)
}

// Verify runs the project's build command on the run's own tree, unless it is
// recorded. A build that fails is a verdict, not an error. What it leaves in
// the checkout is put back.
func (r *Run) Verify(ctx context.Context) (Verdict, error) { return r.run.Verify(ctx) }

// Status returns the run at this instant: for views, never for branching.
func (r *Run) Status() Status { return r.run.Status() }

// An Input is a named value that a step or a call depends on: an agent is
// given it, and a change of it is another step.
type Input struct {
	name  string
	value any
}

// In returns an input. An agent is given a string as it is, anything else as
// JSON.
func In(name string, value any) Input { return Input{name, value} }

func engineInputs(inputs []Input) []engine.Input {
	in := make([]engine.Input, len(inputs))
	for i, input := range inputs {
		in[i] = engine.Input{Name: input.name, Value: input.value}
	}
	return in
}

// A Call is what Run.Do takes: a function made by Func.
type Call interface {
	call() (*engine.Call, error)
}

// A FuncOf is a Go function to be recorded, with a result of type T. It is a
// Call.
type FuncOf[T any] struct {
	name    string
	fn      func(ctx context.Context, w World) (T, error)
	commits bool
	message string
}

// Func returns the Call of fn. Its name has ASCII letters, digits, '.', '_' and
// '-', and neither begins nor ends with '.' or '-'; with another one, Run.Do is
// Invalid, and nothing is called. If fn changes the checkout without Commit,
// the call fails.
func Func[T any](name string, fn func(ctx context.Context, w World) (T, error)) FuncOf[T] {
	return FuncOf[T]{name: name, fn: fn}
}

// Commit returns a call that ends by committing what fn changed, if it changed
// anything: formatters, generators, go mod tidy.
func (f FuncOf[T]) Commit(message string) FuncOf[T] {
	f.commits, f.message = true, message
	return f
}

// Into binds the result: *dest is assigned when the call has succeeded.
func (f FuncOf[T]) Into(dest *T) Call { return boundFunc[T]{f, dest} }

type boundFunc[T any] struct {
	FuncOf[T]
	dest *T
}

func (f FuncOf[T]) call() (*engine.Call, error) {
	if err := ports.CheckName("function", f.name); err != nil {
		return nil, err
	}
	c := &engine.Call{Name: f.name, Ending: engine.EndRead, Message: f.message}
	switch {
	case f.fn == nil:
		return nil, ports.Invalid.Errorf("function "+f.name, "it is nil")
	case f.commits && checkMessage(f.message) != "":
		return nil, ports.Invalid.Errorf("function "+f.name, "%s", checkMessage(f.message))
	case f.commits:
		c.Ending = engine.EndCommit
	}
	if err := recordable[T](); err != nil {
		return nil, ports.Invalid.Errorf("function "+f.name, "its result cannot be recorded: %w", err)
	}
	c.Func = func(ctx context.Context, w ports.World) (json.RawMessage, error) {
		v, err := f.fn(ctx, w)
		if err != nil {
			return nil, err
		}
		doc, err := strictjson.Canonical(v)
		if err != nil {
			return nil, ports.Invalid.Errorf("", "its result cannot be recorded: %w", err)
		}
		return doc, nil
	}
	c.Deliver = func(json.RawMessage) error { return nil }
	return c, nil
}

// recordable says what keeps every T from being recorded and read again, so
// that a function is not called for nothing.
func recordable[T any]() error {
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Interface && t.NumMethod() > 0 {
		return fmt.Errorf("%v is an interface", t)
	}
	var zero T
	_, err := strictjson.Canonical(zero)
	return err
}

func (b boundFunc[T]) call() (*engine.Call, error) {
	c, err := b.FuncOf.call()
	if err != nil {
		return nil, err
	}
	if b.dest == nil {
		return nil, ports.Invalid.Errorf("function "+b.name, "Into needs a destination, it has nil")
	}
	c.Deliver = func(value json.RawMessage) error {
		var v T
		if err := schema.Revive(value, &v); err != nil {
			return err
		}
		*b.dest = v
		return nil
	}
	return c, nil
}
