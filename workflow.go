package agl

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"example.com/agl/internal/engine"
	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Spec says what a workflow is.
type Spec struct {
	Name    string // letters, digits, '.', '_', '-'
	Version int    // from 1; raise it when the function's shape changes: a run is resumed by the version that started it
	Doc     string // one line
	Roles   []Role // every role it steps; empty for none, not nil
}

// A Workflow is a function with a name, a version and typed parameters. It is
// a Definition.
type Workflow[P any] struct {
	spec  Spec
	roles []*engine.Role
	fn    func(ctx context.Context, run *Run, params P) error
}

// A Definition is a Workflow whatever its parameters: what a command line, a
// resume and a test take.
type Definition interface {
	Spec() Spec
	// NewParams returns a *P, zero, to be filled.
	NewParams() any
	// Job returns the workflow with the parameters in params, a *P.
	Job(params any) (Job, error)

	definition() engine.Definition
}

// A Job is a workflow with its parameters, ready to be started.
type Job struct {
	job engine.Job
	err error
}

// NewWorkflow returns the workflow fn. It panics if spec is malformed.
//
// P is the parameters, a struct (None for none); they are recorded when a run
// starts. A Validate() error method of P is called before that.
func NewWorkflow[P any](spec Spec, fn func(ctx context.Context, run *Run, params P) error) *Workflow[P] {
	if err := ports.CheckName("workflow", spec.Name); err != nil {
		panic("agl: " + err.Error())
	}
	at := "agl: workflow " + spec.Name + ": "
	switch {
	case spec.Version < 1:
		panic(at + fmt.Sprintf("its Version is %d, and must be 1 or more", spec.Version))
	case spec.Roles == nil:
		panic(at + "its Roles are nil; say []agl.Role{} if it has none")
	case fn == nil:
		panic(at + "its function is nil")
	case strings.ContainsAny(spec.Doc, "\r\n"):
		panic(at + "its Doc is more than one line")
	}
	var zero P
	if t := reflect.TypeFor[P](); t.Kind() != reflect.Struct {
		panic(at + fmt.Sprintf("its parameters are a %v, and must be a struct", t))
	}
	if _, err := strictjson.Canonical(zero); err != nil {
		panic(at + fmt.Sprintf("its parameters cannot be recorded: %v", err))
	}
	w := &Workflow[P]{spec: spec, fn: fn}
	names := map[string]bool{}
	for i, r := range spec.Roles {
		if r == nil {
			panic(at + fmt.Sprintf("role %d is nil", i+1))
		}
		role := r.declaration().compile()
		if fold := ports.FoldName(role.Name); names[fold] {
			panic(at + fmt.Sprintf("it has two roles %q", role.Name))
		} else {
			names[fold] = true
		}
		w.roles = append(w.roles, role)
	}
	return w
}

// Spec returns what the workflow is.
func (w *Workflow[P]) Spec() Spec { return w.spec }

// NewParams returns a *P, zero, to be filled.
func (w *Workflow[P]) NewParams() any { return new(P) }

// Job returns the workflow with the parameters in params, a *P.
func (w *Workflow[P]) Job(params any) (Job, error) {
	p, ok := params.(*P)
	if !ok || p == nil {
		return Job{}, ports.Invalid.Errorf("workflow "+w.spec.Name, "its parameters are a %T, and this is a %T", new(P), params)
	}
	j := w.With(*p)
	return j, j.err
}

// With returns the workflow with its parameters. What is wrong with them is
// the error of starting it.
func (w *Workflow[P]) With(params P) Job {
	err := schema.Validate(&params) // which may normalize them
	var doc []byte
	if err == nil {
		doc, err = strictjson.Canonical(params)
	}
	if err != nil {
		return Job{err: ports.Invalid.Errorf("workflow "+w.spec.Name, "its parameters: %w", err)}
	}
	job, err := w.restore(doc)
	return Job{job: job, err: err}
}

// restore makes a job of recorded parameters.
func (w *Workflow[P]) restore(doc []byte) (engine.Job, error) {
	if _, err := w.decode(doc); err != nil {
		return engine.Job{}, err
	}
	return engine.Job{
		Workflow: w.spec.Name, Version: w.spec.Version, Roles: w.roles, Params: doc,
		Func: func(ctx context.Context, run *engine.Run) error {
			params, err := w.decode(doc) // each call's own: what one changes in them no other sees
			if err != nil {
				return err
			}
			return w.fn(ctx, &Run{run: run}, params)
		},
	}, nil
}

func (w *Workflow[P]) decode(doc []byte) (params P, err error) {
	if err := strictjson.Decode(doc, &params); err != nil {
		return params, ports.Invalid.Errorf("workflow "+w.spec.Name, "its parameters: %w", err)
	}
	return params, nil
}

func (w *Workflow[P]) definition() engine.Definition { return definition[P]{w} }

type definition[P any] struct{ w *Workflow[P] }

func (d definition[P]) Identity() (string, int)                   { return d.w.spec.Name, d.w.spec.Version }
func (d definition[P]) Restore(params []byte) (engine.Job, error) { return d.w.restore(params) }
