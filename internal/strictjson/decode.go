package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode sets *into to what the document says, or leaves it alone and returns
// an *[Error] that says where the document is not what the type describes. into
// is a non-nil pointer. 1.0 is taken for an integer, null for the zero value.
func Decode(data []byte, into any) error { return decode(data, into, false) }

// DecodeExact is [Decode] for AGL's own documents: it also refuses one that
// lacks a key of a struct field without omitempty or omitzero, at any depth.
func DecodeExact(data []byte, into any) error { return decode(data, into, true) }

func decode(data []byte, into any, exact bool) error {
	dst := reflect.ValueOf(into)
	if dst.Kind() != reflect.Pointer || dst.IsNil() {
		return &Error{Err: fmt.Errorf("the destination must be a pointer, not %T", into)}
	}
	dst = dst.Elem()
	fresh := reflect.New(dst.Type())
	err := json.Unmarshal(data, fresh.Interface(), reading)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.JSONKind == '0' && semantic.GoType != nil && isInt(semantic.GoType.Kind()) {
		fresh.Elem().SetZero()
		err = json.Unmarshal(data, fresh.Interface(), readingWhole)
	}
	if err != nil {
		return readError(err)
	}
	if exact {
		dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true)) // looked for already
		if err := complete(dec, dst.Type()); err != nil {
			return err
		}
	}
	dst.Set(fresh.Elem())
	return nil
}

// complete looks for keys that are missing in the next value of dec, which was
// read into a t already.
func complete(dec *jsontext.Decoder, t reflect.Type) error {
	optional := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s, begin := shapes.of(t), dec.PeekKind()
	if begin != '{' && begin != '[' || s.members == nil && s.elem == nil {
		if err := dec.SkipValue(); err != nil || begin != 'n' || s.members == nil || optional {
			return err
		}
		return &Error{path(dec.StackPointer()), expectation("expected an object, got null")}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	missing := slices.Clone(s.required)
	for k := dec.PeekKind(); k != '}' && k != ']'; k = dec.PeekKind() {
		elem := s.elem
		if begin == '{' {
			key, err := dec.ReadToken()
			if err != nil {
				return err
			}
			if s.members != nil {
				name := key.String()
				elem = s.members[name]
				if i := slices.Index(missing, name); i >= 0 {
					missing = slices.Delete(missing, i, i+1)
				}
			}
		}
		if err := complete(dec, elem); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if len(missing) > 0 {
		return &Error{path(dec.StackPointer()), expectation(`missing key "` + strings.Join(missing, `", "`) + `"`)}
	}
	return nil
}

// A shape is what of a type matters to whether a document is complete: nothing
// of one whose documents always are.
type shape struct {
	members  map[string]reflect.Type // of a struct, by key
	required []string                // the keys that must be there, sorted
	elem     reflect.Type            // of a list or a map
}

// shapes remembers the shape of every type that was read: nothing but a faster
// way to the same answer.
var shapes shapeCache

type shapeCache struct{ types sync.Map } // reflect.Type → *shape

func (c *shapeCache) of(t reflect.Type) *shape {
	if s, ok := c.types.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{}
	switch k := t.Kind(); {
	case custom(t): // nobody knows its keys
	case k == reflect.Slice, k == reflect.Array, k == reflect.Map:
		s.elem = t.Elem()
	case k == reflect.Struct:
		s.members = map[string]reflect.Type{}
		fields, _ := Fields(t) // decoding has said what is wrong with t
		for _, f := range fields {
			s.members[f.Name] = f.Type
			if !f.Optional {
				s.required = append(s.required, f.Name)
			}
		}
		slices.Sort(s.required)
	}
	c.types.Store(t, s)
	return s
}
