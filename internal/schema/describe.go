package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/invopop/jsonschema"
)

const durationPattern = `^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// describe returns the schema of an object.
func describe(root *node) (json.RawMessage, error) {
	reflector := jsonschema.Reflector{Anonymous: true, DoNotReference: true}
	s := reflector.ReflectFromType(plain(root))
	s.Version = ""
	if err := finish(s, root, ""); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return text, nil
}

// plain returns a type that reflects as n reads: without names, methods,
// pointers and embedding, so that the reflector has nothing to decide. Its
// structs have the fields of n, with their tags.
func plain(n *node) reflect.Type {
	switch n.form {
	case formObject:
		fields := make([]reflect.StructField, len(n.fields))
		for i, f := range n.fields {
			tag := `json:` + strconv.Quote(f.Name)
			for _, key := range []string{"jsonschema", "jsonschema_description"} {
				if text, ok := f.Tag.Lookup(key); ok {
					tag += " " + key + ":" + strconv.Quote(text)
				}
			}
			fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: plain(f.node), Tag: reflect.StructTag(tag)}
		}
		return reflect.StructOf(fields)
	case formMap:
		return reflect.MapOf(reflect.TypeFor[string](), plain(n.elem))
	case formList:
		if n.typ.Kind() == reflect.Array {
			return reflect.ArrayOf(n.typ.Len(), plain(n.elem))
		}
		return reflect.SliceOf(plain(n.elem))
	case formBool:
		return reflect.TypeFor[bool]()
	case formInt:
		return reflect.TypeFor[int64]()
	case formFloat:
		return reflect.TypeFor[float64]()
	case formBytes:
		return reflect.TypeFor[[]byte]()
	case formTime:
		return reflect.TypeFor[time.Time]()
	case formAny, formCustom:
		return reflect.TypeFor[json.RawMessage]()
	default:
		return reflect.TypeFor[string]()
	}
}

// finish adds to what was reflected what only n knows.
func finish(s *jsonschema.Schema, n *node, path string) error {
	switch n.form {
	case formObject:
		s.Required = nil
		for i := range n.fields {
			f := &n.fields[i]
			at := join(path, f.Name)
			property, _ := s.Properties.Get(f.Name)
			if err := checkEffect(f, property); err != nil {
				return refuse(at, "%v", err)
			}
			if !f.optional() {
				s.Required = append(s.Required, f.Name)
			}
			if err := finish(property, f.node, at); err != nil {
				return err
			}
		}
		slices.Sort(s.Required) // a list has an order, and so has its digest: a field that is moved is no change
	case formMap:
		if err := finish(s.AdditionalProperties, n.elem, join(path, "*")); err != nil {
			return err
		}
	case formList:
		if err := finish(s.Items, n.elem, path+"[]"); err != nil {
			return err
		}
	case formInt:
		bound(s, n.typ)
	case formDuration:
		s.Pattern = durationPattern
		describeAs(s, `a duration such as "1m30s"`)
	case formQuoted:
		s.Pattern = `^-?(0|[1-9][0-9]*)$`
		if k := n.typ.Kind(); k == reflect.Float32 || k == reflect.Float64 || k == reflect.String {
			s.Pattern = `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`
		}
		describeAs(s, "a number in quotes")
	case formAny:
		describeAs(s, "any JSON value") // without it the schema would be written as true
	case formCustom:
		s.Extras = n.schema
		if s.Description != "" {
			delete(s.Extras, "description")
		}
		if len(s.Extras) == 0 {
			describeAs(s, "any JSON value")
		}
	}
	if n.nullable {
		allowNull(s)
	}
	return nil
}

func describeAs(s *jsonschema.Schema, text string) {
	if s.Description == "" {
		s.Description = text
	}
}

// bound gives an integer the bounds of its type, but for those of 64 bits,
// which would only be noise to a model.
func bound(s *jsonschema.Schema, t reflect.Type) {
	bits := t.Bits()
	lowest, highest := "", ""
	switch {
	case t.Kind() >= reflect.Uint:
		lowest = "0"
		if bits < 64 {
			highest = strconv.FormatUint(1<<bits-1, 10)
		}
	case bits < 64:
		lowest, highest = strconv.FormatInt(-1<<(bits-1), 10), strconv.FormatInt(1<<(bits-1)-1, 10)
	}
	if s.Minimum == "" && s.ExclusiveMinimum == "" {
		s.Minimum = json.Number(lowest)
	}
	if s.Maximum == "" && s.ExclusiveMaximum == "" {
		s.Maximum = json.Number(highest)
	}
}

// allowNull lets null stand where s is.
func allowNull(s *jsonschema.Schema) {
	switch {
	case s.Type != "":
		s.Extras = map[string]any{"type": []string{s.Type, "null"}}
		s.Type = ""
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
	case len(s.Extras) > 0: // a type's own
		own := s.Extras
		s.Extras = map[string]any{"anyOf": []any{own, map[string]string{"type": "null"}}}
	}
}
