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
	fields   []field        // of an object
	elem     *node          // of a list or a map
	schema   map[string]any // of formCustom
}

type field struct {
	strictjson.Field
	node *node
}

// optional reports whether a document may leave the field out.
func (f *field) optional() bool { return f.Optional || f.Type.Kind() == reflect.Pointer }

// place returns the index of the field called name, or how many there are.
func (n *node) place(name string) int {
	if i := slices.IndexFunc(n.fields, func(f field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	return len(n.fields)
}

var errNotStruct = errors.New("a payload must be a struct, read as a JSON object")

// walkRoot reads a type, before anything reflects on it that could not stop at
// a cycle.
func walkRoot(t reflect.Type) (*node, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, errNotStruct
	}
	n, err := walk(t, "", nil)
	if err == nil && n.form != formObject {
		err = errNotStruct
	}
	return n, err
}

// refuse returns the error about the type at path.
func refuse(path, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	if path == "" {
		return errors.New(why)
	}
	return fmt.Errorf("field %s: %s", path, why)
}

// walk reads the type at path. around are the types it is in, outermost first.
func walk(t reflect.Type, path string, around []reflect.Type) (*node, error) {
	n := &node{typ: t}
	for depth := 0; n.typ.Kind() == reflect.Pointer; depth++ {
		if depth > 8 { // type P *P
			return nil, refuse(path, "%s points at pointers without end", t)
		}
		n.typ, n.nullable = n.typ.Elem(), true
	}
	t = n.typ
	around = append(slices.Clip(around), t)
	if i := slices.Index(around, t); i < len(around)-1 {
		var names []string
		for _, a := range around[i:] {
			names = append(names, a.String())
		}
		return nil, refuse(path, "the type contains itself (%s), which no vendor takes", strings.Join(names, " → "))
	}
	m := strictjson.MethodsOf(t)
	hook, hooked := reflect.PointerTo(t).MethodByName("JSONSchema")
	var err error
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		n.form = formDuration
	case t == reflect.TypeFor[time.Time]():
		n.form = formTime
	case t == reflect.TypeFor[json.RawMessage]():
		n.form = formAny
	case t == reflect.TypeFor[json.Number]():
		n.form = formFloat

	case m.MarshalJSON != m.UnmarshalJSON:
		err = refuse(path, "%s needs both MarshalJSON and UnmarshalJSON, so that what was read can be written and read again", t)
	case hooked:
		n.form = formCustom
		if n.schema, err = ownSchema(t, hook); err != nil {
			err = refuse(path, "%s.JSONSchema: %v", t, err)
		}
	case m.MarshalJSON:
		err = refuse(path, "%s reads its own JSON; describe it by a method JSONSchema() json.RawMessage", t)
	case m.MarshalText != m.UnmarshalText:
		err = refuse(path, "%s needs both MarshalText and UnmarshalText, so that what was read can be written and read again", t)
	case m.MarshalText:
		n.form = formText

	case k == reflect.String:
		n.form = formString
	case k == reflect.Bool:
		n.form = formBool
	case k >= reflect.Int && k <= reflect.Uint64:
		n.form = formInt
	case k == reflect.Float32, k == reflect.Float64:
		n.form = formFloat
	case k == reflect.Slice && t.Elem() == reflect.TypeFor[byte]():
		n.form = formBytes
	case k == reflect.Slice, k == reflect.Array:
		n.form = formList
		n.elem, err = walk(t.Elem(), path+"[]", around)
	case k == reflect.Map && t.Key().Kind() != reflect.String:
		err = refuse(path, "a map must have string keys, not %s", t.Key())
	case k == reflect.Map:
		n.form = formMap
		n.elem, err = walk(t.Elem(), join(path, "*"), around)
	case k == reflect.Struct:
		n.form = formObject
		err = n.object(path, around)
	case k == reflect.Interface:
		err = refuse(path, "%s is an interface, and a model cannot know what to send; use json.RawMessage for any JSON value", t)
	default:
		err = refuse(path, "a %s has no JSON", t)
	}
	return n, err
}

// ownSchema asks a type for its schema.
func ownSchema(t reflect.Type, hook reflect.Method) (map[string]any, error) {
	if hook.Type.NumIn() != 1 || hook.Type.NumOut() != 1 {
		return nil, errors.New("must have no parameters and one result")
	}
	result := hook.Func.Call([]reflect.Value{reflect.New(t)})[0]
	text, err := json.Marshal(result.Interface())
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"$ref", "$dynamicRef", "$defs"} {
		if strings.Contains(string(text), `"`+key+`":`) {
			return nil, fmt.Errorf("has %s; a schema must stand for itself", key)
		}
	}
	var keywords map[string]any
	if json.Unmarshal(text, &keywords) != nil || keywords == nil {
		return nil, fmt.Errorf("%s is not an object", text)
	}
	for _, key := range []string{"$schema", "$id", "$anchor"} {
		delete(keywords, key)
	}
	return keywords, nil
}

func (n *node) object(path string, around []reflect.Type) error {
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
		child, err := walk(f.Type, at, around)
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
