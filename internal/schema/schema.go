package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/agl/internal/strictjson"
)

// A Schema is the JSON Schema of a Go type. It is safe for use by several
// goroutines.
type Schema struct {
	typ      reflect.Type
	root     *node
	text     json.RawMessage
	compiled *jsonschema.Schema
	takes    *taken
}

// For returns the schema of struct type t. It panics on a declaration it cannot
// take, naming the field: "agl: fix.Findings: field items[].severity: …". It
// reflects and compiles; callers keep the result.
func For(t reflect.Type) *Schema {
	s, err := build(t)
	if err != nil {
		panic(fmt.Sprintf("agl: %v: %v", t, err))
	}
	return s
}

func build(t reflect.Type) (*Schema, error) {
	root, err := walkRoot(t)
	if err != nil {
		return nil, err
	}
	text, err := describe(root)
	if err != nil {
		return nil, err
	}
	compiled, err := compile(text)
	if err != nil {
		return nil, err
	}
	return &Schema{t, root, text, compiled, takenBy(text)}, nil
}

// JSON returns the schema as a vendor is sent it: one object without
// references, with the properties in the order of their declaration; in canonical
// JSON it is the same whatever that order is. It is the same in every process
// and holds no Go package path.
func (s *Schema) JSON() json.RawMessage { return bytes.Clone(s.text) }

// Decode checks raw, reads it into a zero value of the schema's type, calls its
// Validate method if *T has one, and sets *into. into is a *T. A payload that
// does not fit is coerced first: see [Schema.Coerce]. What it does wrong then is
// a *[PayloadError], and *into stays as it was.
func (s *Schema) Decode(raw []byte, into any) error {
	dst := reflect.ValueOf(into)
	if reflect.TypeOf(into) != reflect.PointerTo(s.typ) || dst.IsNil() {
		return fmt.Errorf("decode a payload: the destination is a %T, not a *%s", into, s.typ)
	}
	problems := s.Check(raw)
	if problems != nil {
		raw = s.Coerce(raw)
		problems = s.Check(raw)
	}
	if problems != nil {
		return &PayloadError{problems}
	}
	fresh := reflect.New(s.typ)
	if err := strictjson.Decode(raw, fresh.Interface()); err != nil {
		return &PayloadError{bounded([]string{err.Error()})}
	}
	if err := Validate(fresh.Interface()); err != nil {
		return &PayloadError{bounded(sentences(err))}
	}
	dst.Elem().Set(fresh.Elem())
	return nil
}

// Validate calls the Validate method of what v, a pointer, points at, if it or
// the pointer has one.
func Validate(v any) error {
	if v, ok := v.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// Revive reads a recorded value into *into, and validates it: what was valid
// when it was recorded may not be any more.
func Revive(recorded []byte, into any) error {
	if err := strictjson.Decode(recorded, into); err != nil {
		return err
	}
	return Validate(into)
}

// sentences returns the messages of the errors that err joins.
func sentences(err error) []string {
	join, ok := err.(interface{ Unwrap() []error })
	if !ok || !strings.Contains(err.Error(), "\n") {
		return []string{err.Error()}
	}
	var all []string
	for _, e := range join.Unwrap() {
		all = append(all, sentences(e)...)
	}
	return all
}

// A PayloadError says everything that is wrong with a payload, in words that
// whoever wrote it can act on.
type PayloadError struct{ Problems []string }

func (e *PayloadError) Error() string { return strings.Join(e.Problems, "; ") }

// compile prepares text for validation.
func compile(text []byte) (*jsonschema.Schema, error) {
	const url = "agl:payload"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.AssertContent()
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, notASchema(err)
	}
	return compiled, nil
}

// notASchema says in one line which field has a keyword that is none: a pattern
// that is no regular expression, something in a type's own schema.
func notASchema(err error) error {
	var invalid *jsonschema.SchemaValidationError
	var e *jsonschema.ValidationError
	if !errors.As(err, &invalid) || !errors.As(invalid.Err, &e) {
		return fmt.Errorf("its schema is not valid: %w", err)
	}
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	_, why, _ := strings.Cut(e.Error(), "': ")
	path, steps := "", e.InstanceLocation
	for len(steps) > 0 {
		switch {
		case steps[0] == "properties" && len(steps) > 1:
			path, steps = join(path, steps[1]), steps[1:]
		case steps[0] == "items":
			path += "[]"
		case steps[0] == "additionalProperties":
			path = join(path, "*")
		default:
			return refuse(path, "%s: %s", strings.Join(steps, "/"), why)
		}
		steps = steps[1:]
	}
	return refuse(path, "%s", why)
}
