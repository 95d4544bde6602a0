package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/agl/internal/strictjson"
)

// A form is how values of a type look in JSON.
type form int

const (
	formObject form = iota
	formMap
	formList
	formString
	formBool
	formInt
	formFloat
	formBytes
	formTime
	formDuration
	formText   // a type with MarshalText
	formQuoted // a number in quotes
	formAny
	formCustom // a type that brings its schema
)

// A node is a type in a payload.
type node struct {
	typ      reflect.Type // without pointers
	form     form
	nullable bool
	fields   []field         // of an object
	elem     *node           // of a list or a map
	schema   json.RawMessage // of formCustom
}

type field struct {
	strictjson.Field
	node *node
}

// optional reports whether a document may leave the field out.
func (f *field) optional() bool { return f.Optional || f.Type.Kind() == reflect.Pointer }

func (n *node) field(name string) *field {
	i := slices.IndexFunc(n.fields, func(f field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &n.fields[i]
}

// A walker reads types, before anything reflects on them that could not stop at
// a cycle.
type walker struct {
	stack []reflect.Type // around the type that is read
}

var errNotStruct = errors.New("a payload must be a struct, read as a JSON object")

func walkRoot(t reflect.Type) (*node, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, errNotStruct
	}
	var w walker
	n, err := w.node(t, "")
	if err != nil {
		return nil, err
	}
	if n.form != formObject {
		return nil, errNotStruct
	}
	return n, nil
}

// refuse returns the error about the type at path.
func refuse(path, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	if path == "" {
		return errors.New(why)
	}
	return fmt.Errorf("field %s: %s", path, why)
}

func (w *walker) node(t reflect.Type, path string) (*node, error) {
	n := &node{typ: t}
	for depth := 0; n.typ.Kind() == reflect.Pointer; depth++ {
		if depth > 8 { // type P *P
			return nil, refuse(path, "%s points at pointers without end", t)
		}
		n.typ, n.nullable = n.typ.Elem(), true
	}
	t = n.typ
	if done, err := w.special(n, path); done || err != nil {
		return n, err
	}
	switch k := t.Kind(); k {
	case reflect.String:
		n.form = formString
	case reflect.Bool:
		n.form = formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n.form = formInt
	case reflect.Float32, reflect.Float64:
		n.form = formFloat
	case reflect.Slice, reflect.Array:
		if k == reflect.Slice && t.Elem() == reflect.TypeFor[byte]() {
			n.form = formBytes
			return n, nil
		}
		n.form = formList
		return n, w.within(t, path, func() (err error) {
			n.elem, err = w.node(t.Elem(), path+"[]")
			return err
		})
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, refuse(path, "a map must have string keys, not %s", t.Key())
		}
		n.form = formMap
		return n, w.within(t, path, func() (err error) {
			n.elem, err = w.node(t.Elem(), strings.TrimPrefix(path+".*", "."))
			return err
		})
	case reflect.Struct:
		n.form = formObject
		return n, w.within(t, path, func() error { return w.object(n, path) })
	case reflect.Interface:
		return nil, refuse(path, "%s is an interface, and a model cannot know what to send; use json.RawMessage for any JSON value", t)
	default:
		return nil, refuse(path, "a %s has no JSON", t)
	}
	return n, nil
}

// within calls read unless t is being read already.
func (w *walker) within(t reflect.Type, path string, read func() error) error {
	if i := slices.Index(w.stack, t); i >= 0 {
		var names []string
		for _, around := range append(w.stack[i:], t) {
			names = append(names, around.String())
		}
		return refuse(path, "the type contains itself (%s), which no vendor takes", strings.Join(names, " → "))
	}
	w.stack = append(w.stack, t)
	defer func() { w.stack = w.stack[:len(w.stack)-1] }()
	return read()
}

// special reads a type whose JSON is not that of its kind.
func (w *walker) special(n *node, path string) (done bool, err error) {
	t := n.typ
	switch t {
	case reflect.TypeFor[time.Duration]():
		n.form = formDuration
		return true, nil
	case reflect.TypeFor[time.Time]():
		n.form = formTime
		return true, nil
	case reflect.TypeFor[json.RawMessage]():
		n.form = formAny
		return true, nil
	case reflect.TypeFor[json.Number]():
		n.form = formFloat
		return true, nil
	}
	m := strictjson.MethodsOf(t)
	hook, hooked := reflect.PointerTo(t).MethodByName("JSONSchema")
	switch {
	case m.MarshalJSON != m.UnmarshalJSON:
		return false, refuse(path, "%s needs both MarshalJSON and UnmarshalJSON, so that what was read can be written and read again", t)
	case hooked:
		n.form = formCustom
		if n.schema, err = ownSchema(t, hook); err != nil {
			return false, refuse(path, "%s.JSONSchema: %v", t, err)
		}
		return true, nil
	case m.MarshalJSON:
		return false, refuse(path, "%s reads its own JSON; describe it by a method JSONSchema() json.RawMessage", t)
	case m.MarshalText != m.UnmarshalText:
		return false, refuse(path, "%s needs both MarshalText and UnmarshalText, so that what was read can be written and read again", t)
	case m.MarshalText:
		n.form = formText
		return true, nil
	}
	return false, nil
}

// ownSchema asks a type for its schema.
func ownSchema(t reflect.Type, hook reflect.Method) (json.RawMessage, error) {
	if hook.Type.NumIn() != 1 || hook.Type.NumOut() != 1 {
		return nil, errors.New("must have no parameters and one result")
	}
	result := hook.Func.Call([]reflect.Value{reflect.New(t)})[0]
	text, err := json.Marshal(result.Interface())
	if err != nil {
		return nil, err
	}
	var keywords map[string]json.RawMessage
	if json.Unmarshal(text, &keywords) != nil || keywords == nil {
		return nil, fmt.Errorf("%s is not an object", text)
	}
	for _, key := range []string{"$ref", "$dynamicRef", "$defs"} {
		if strings.Contains(string(text), `"`+key+`":`) {
			return nil, fmt.Errorf("has %s; a schema must stand for itself", key)
		}
	}
	for _, key := range []string{"$schema", "$id", "$anchor"} {
		delete(keywords, key)
	}
	return json.Marshal(keywords)
}

func (w *walker) object(n *node, path string) error {
	fields, err := strictjson.Fields(n.typ)
	if e := (*strictjson.FieldError)(nil); errors.As(err, &e) {
		return refuse(join(path, e.Field), "%s", e.Why)
	}
	for _, f := range fields {
		at := join(path, f.Name)
		if f.Name == "-" {
			return refuse(at, "a key must not be -")
		}
		if err := checkTags(f.Tag); err != nil {
			return refuse(at, "%v", err)
		}
		child, err := w.node(f.Type, at)
		if err != nil {
			return err
		}
		child.nullable = child.nullable || f.Omit
		if f.Quoted {
			if child.form != formInt && child.form != formFloat {
				return refuse(at, "the option string is for numbers")
			}
			child.form = formQuoted
		}
		n.fields = append(n.fields, field{f, child})
	}
	return nil
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }
