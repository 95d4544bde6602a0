package agl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/agl/internal/engine"
	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A Model names an agent's model as "provider/name".
type Model = ports.Model

// A Restriction is something a role's agent must not do.
type Restriction = ports.Restriction

// The restrictions a role can declare.
const (
	NoShell   = ports.NoShell
	NoNetwork = ports.NoNetwork
	NoVCS     = ports.NoVCS
)

// None is the payload of a role that reports nothing.
type None struct{}

// An Editor is a role whose agent changes the checkout, and reports a P. It
// becomes a Task by choosing what becomes of the changes: Commit or Discard.
//
// P is a struct; the JSON Schema its agent is given is reflected from it, see
// NewTool.
type Editor[P any] struct {
	Name   string // letters, digits, '.', '_', '-'
	Model  Model
	Prompt string        // what the agent is told; the step's inputs follow it
	Report string        // what to report; empty if P says enough
	Tools  []Tool        // what it may call besides its own tools
	Deny   []Restriction // what it must not do
}

// A Reader is a role whose agent is held to reading, and reports a P. It is a
// Task as it stands. A step of it that changes tracked files or the branch
// fails; untracked files it leaves are salvaged.
type Reader[P any] struct {
	Name   string // letters, digits, '.', '_', '-'
	Model  Model
	Prompt string
	Report string
	Tools  []Tool
	Deny   []Restriction
}

// An Edit is an Editor whose ending is chosen. It is a Task.
type Edit[P any] struct{ task task[P] }

// A Role is an Editor or a Reader, as it is declared in Spec.Roles.
type Role interface {
	declaration() declaration
}

// A RoleOf is a Role that reports a P.
type RoleOf[P any] interface {
	Role
	reports() *P
}

// A Task is what Run.Step takes: a Reader, or an Editor with its ending
// chosen.
type Task interface {
	callCommitOrDiscardFirst() (*engine.Step, error)
}

// A Fix is an Editor as Conflict.Step takes it: its ending is the landing.
type Fix interface {
	fix() (*engine.Step, error)
}

// declaration is a role without its type parameter.
type declaration struct {
	kind    string
	role    engine.Role
	tools   []Tool
	payload reflect.Type // nil: reports nothing
}

func payloadOf[P any]() reflect.Type {
	if t := reflect.TypeFor[P](); t != reflect.TypeFor[None]() {
		return t
	}
	return nil
}

func (e Editor[P]) declaration() declaration {
	return declaration{
		kind:    "editor",
		role:    engine.Role{Name: e.Name, Model: e.Model, Prompt: e.Prompt, Report: e.Report, Deny: e.Deny, Writes: true},
		tools:   e.Tools,
		payload: payloadOf[P](),
	}
}

func (Editor[P]) reports() *P { return nil }

func (e Editor[P]) fix() (*engine.Step, error) {
	return task[P]{declared: e.declaration()}.step()
}

// Commit returns a Task that ends by committing everything in the checkout
// under this message, used exactly as written.
func (e Editor[P]) Commit(message string) Edit[P] {
	t := task[P]{declared: e.declaration(), ending: engine.EndCommit, message: message}
	if wrong := checkMessage(message); wrong != "" {
		t.fail(wrong)
	}
	return Edit[P]{t}
}

// checkMessage says what keeps a text from being a commit's message, before
// an agent is paid for what could not be committed or noted then.
func checkMessage(message string) string {
	switch {
	case strings.TrimSpace(message) == "":
		return "Commit needs a message"
	case !utf8.ValidString(message) || strings.ContainsRune(message, 0):
		return "Commit needs a message of UTF-8 text without NUL"
	}
	return ""
}

// Discard returns a Task that ends by putting the checkout back, so that only
// the report stays.
func (e Editor[P]) Discard() Edit[P] {
	return Edit[P]{task[P]{declared: e.declaration(), ending: engine.EndDiscard}}
}

// Into binds the report, for Conflict.Step.
func (e Editor[P]) Into(p *P) Fix {
	return bound[P]{task[P]{declared: e.declaration()}.into(p)}
}

// With returns the role with more tools: those that close over something of
// the run.
func (e Editor[P]) With(tools ...Tool) Editor[P] {
	e.Tools = slices.Concat(e.Tools, tools)
	return e
}

func (r Reader[P]) declaration() declaration {
	return declaration{
		kind:    "reader",
		role:    engine.Role{Name: r.Name, Model: r.Model, Prompt: r.Prompt, Report: r.Report, Deny: r.Deny},
		tools:   r.Tools,
		payload: payloadOf[P](),
	}
}

func (Reader[P]) reports() *P { return nil }

func (r Reader[P]) task() task[P] {
	return task[P]{declared: r.declaration(), ending: engine.EndRead}
}

func (r Reader[P]) callCommitOrDiscardFirst() (*engine.Step, error) { return r.task().step() }

// With returns the role with more tools.
func (r Reader[P]) With(tools ...Tool) Reader[P] {
	r.Tools = slices.Concat(r.Tools, tools)
	return r
}

// Into binds the report: *p is assigned when the step has succeeded.
func (r Reader[P]) Into(p *P) Task { return bound[P]{r.task().into(p)} }

func (e Edit[P]) callCommitOrDiscardFirst() (*engine.Step, error) { return e.task.step() }

// AllowEmpty returns a Commit that may find nothing to commit.
func (e Edit[P]) AllowEmpty() Edit[P] {
	if e.task.ending != engine.EndCommit {
		e.task.fail("AllowEmpty is for Commit")
	}
	e.task.allowEmpty = true
	return e
}

// Into binds the report: *p is assigned when the step has succeeded.
func (e Edit[P]) Into(p *P) Task { return bound[P]{e.task.into(p)} }

// bound is a task with its destination.
type bound[P any] struct{ task task[P] }

func (b bound[P]) callCommitOrDiscardFirst() (*engine.Step, error) { return b.task.step() }
func (b bound[P]) fix() (*engine.Step, error)                      { return b.task.step() }

// task is a role with what its step is to do.
type task[P any] struct {
	declared   declaration
	ending     engine.Ending
	message    string
	allowEmpty bool
	dest       *P
	err        error // the first misuse
}

func (t *task[P]) fail(problem string) {
	if t.err == nil {
		t.err = ports.Invalid.Errorf("role "+t.declared.role.Name, "%s", problem)
	}
}

func (t task[P]) into(p *P) task[P] {
	if p == nil {
		t.fail("Into needs a destination, it has nil")
	}
	t.dest = p
	return t
}

// step makes the engine's step; its role is resolved by the run.
func (t task[P]) step() (*engine.Step, error) {
	if t.err != nil {
		return nil, t.err
	}
	role := t.declared.role
	tools, err := compileTools(role.Name, t.declared.tools)
	if err != nil {
		return nil, err
	}
	role.Tools = tools
	s := &engine.Step{Role: &role, Ending: t.ending, Message: t.message, AllowEmpty: t.allowEmpty, Payload: t.declared.payload}
	s.Accept = func(report json.RawMessage) (json.RawMessage, error) {
		var p P
		if err := s.Role.Schema.Decode(report, &p); err != nil {
			return nil, err
		}
		return strictjson.Canonical(p)
	}
	s.Deliver = func(value json.RawMessage) error {
		if t.dest == nil || t.declared.payload == nil {
			return nil
		}
		var p P
		if err := schema.Revive(value, &p); err != nil {
			return err
		}
		*t.dest = p
		return nil
	}
	return s, nil
}

// compile checks a declaration and makes the engine's role. It panics on a
// malformed one.
func (d declaration) compile() *engine.Role {
	if err := ports.CheckName(d.kind, d.role.Name); err != nil {
		panic("agl: " + err.Error())
	}
	at := fmt.Sprintf("agl: %s %s: ", d.kind, d.role.Name)
	switch {
	case strings.TrimSpace(d.role.Prompt) == "":
		panic(at + "its Prompt is blank")
	case d.role.Model.Provider() == "" || d.role.Model.Name() == "":
		panic(at + fmt.Sprintf("its Model is %q, and must be provider/name", d.role.Model))
	}
	for _, r := range d.role.Deny {
		switch r {
		case NoShell, NoNetwork, NoVCS:
		default:
			panic(at + fmt.Sprintf("Deny has %q, which is no restriction", r))
		}
	}
	role := d.role
	role.Payload = d.payload
	if d.payload != nil {
		role.Schema = schema.For(d.payload)
	}
	tools, err := compileTools(role.Name, d.tools)
	if err != nil {
		panic("agl: " + err.Error())
	}
	role.Tools = tools
	if err := role.Prepare(); err != nil {
		panic(at + err.Error())
	}
	return &role
}
