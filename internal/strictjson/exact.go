package strictjson

import (
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeExact is [Decode] for AGL's own documents: it also refuses one that
// lacks a key of a struct field without omitempty or omitzero, at any depth.
func DecodeExact(data []byte, into any) error {
	dst, err := destination(into)
	if err != nil {
		return err
	}
	s := shapes.of(dst.Type())
	fresh := reflect.New(dst.Type())
	small, cuts := s.cut(data)
	err = decode(small, fresh.Interface())
	if err != nil && len(cuts) > 0 { // let the error be about the whole document
		small, cuts = data, nil
		fresh.Elem().SetZero()
		err = decode(small, fresh.Interface())
	}
	if err != nil {
		return err
	}
	for _, c := range cuts {
		fresh.Elem().FieldByIndex(c.index).SetBytes(append([]byte(nil), data[c.start:c.end]...))
	}
	if s != nil {
		c := cursor{data: small}
		if err := c.complete(s); err != nil {
			return err
		}
	}
	dst.Set(fresh.Elem())
	return nil
}

// A shape is what of a type matters to whether a document is complete. A nil
// shape is that of a type whose documents always are.
type shape struct {
	members  map[string]shapeMember // of a struct
	required int                    // how many of them must be there
	elem     *shape                 // of a list's or a map's elements
	pointee  *shape                 // of what a pointer, which may be nil, points at
}

type shapeMember struct {
	shape    *shape
	index    []int
	required int  // its number among the required ones, from 1; 0 if it is not one
	raw      bool // a json.RawMessage of the struct's own
}

// shapes remembers the shape of every type that was read: nothing but a faster
// way to the same answer.
var shapes shapeCache

type shapeCache struct{ types sync.Map } // reflect.Type → *shape

func (c *shapeCache) of(t reflect.Type) *shape {
	if s, ok := c.types.Load(t); ok {
		return s.(*shape)
	}
	s := shapeOf(t, map[reflect.Type]*shape{})
	c.types.Store(t, s)
	return s
}

func shapeOf(t reflect.Type, made map[reflect.Type]*shape) *shape {
	if s, ok := made[t]; ok {
		return s
	}
	if custom(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := &shape{}
		made[t] = s
		if s.pointee = shapeOf(t.Elem(), made); s.pointee == nil {
			made[t] = nil
		}
		return made[t]
	case reflect.Slice, reflect.Array, reflect.Map:
		s := &shape{}
		made[t] = s
		if s.elem = shapeOf(t.Elem(), made); s.elem == nil {
			made[t] = nil
		}
		return made[t]
	case reflect.Struct:
		s := &shape{members: map[string]shapeMember{}}
		made[t] = s
		fields, _ := Fields(t) // decoding has said what is wrong with t
		for _, f := range fields {
			m := shapeMember{
				shape: shapeOf(f.Type, made),
				index: f.Index,
				raw:   f.Type == reflect.TypeFor[stdjson.RawMessage]() && len(f.Index) == 1,
			}
			if !f.Optional {
				s.required++
				m.required = s.required
			}
			s.members[f.Name] = m
		}
		return s
	default:
		return nil
	}
}

// complete looks for keys that are missing in the value at the cursor, which is
// valid and known to fit the type of s.
func (c *cursor) complete(s *shape) error {
	for s.pointee != nil {
		if c.peek() == 'n' {
			c.skip()
			return nil
		}
		s = s.pointee
	}
	switch c.peek() {
	case '{':
		if s.members != nil {
			return c.completeStruct(s)
		}
		for more := c.open(); more; more = c.next() {
			key := c.key()
			if err := c.complete(s.elem); err != nil {
				return under(unquoted(key), err)
			}
		}
	case '[':
		i := 0
		for more := c.open(); more; more = c.next() {
			if err := c.complete(s.elem); err != nil {
				return under(strconv.Itoa(i), err)
			}
			i++
		}
	case 'n':
		if s.members != nil {
			return &Error{Err: expectation("expected an object, got null")}
		}
		c.skip()
	default:
		c.skip()
	}
	return nil
}

func (c *cursor) completeStruct(s *shape) error {
	var few [64]bool
	seen, n := few[:], 0
	if s.required >= len(few) {
		seen = make([]bool, s.required+1)
	}
	for more := c.open(); more; more = c.next() {
		key := c.key()
		m, ok := s.members[string(key)]
		if !ok {
			m = s.members[unquoted(key)]
		}
		if m.required > 0 && !seen[m.required] {
			seen[m.required] = true
			n++
		}
		if m.shape == nil {
			c.skip()
		} else if err := c.complete(m.shape); err != nil {
			return under(unquoted(key), err)
		}
	}
	if n == s.required {
		return nil
	}
	var missing []string
	for name, m := range s.members {
		if m.required > 0 && !seen[m.required] {
			missing = append(missing, strconv.Quote(name))
		}
	}
	slices.Sort(missing)
	return &Error{Err: expectation("missing key " + strings.Join(missing, ", "))}
}

// unquoted returns a key from between its quotes.
func unquoted(key []byte) string {
	if !strings.Contains(string(key), `\`) {
		return string(key)
	}
	text, _ := jsontext.AppendUnquote(nil, `"`+string(key)+`"`)
	return string(text)
}

// under returns err, which is about the value at step, as one about the value
// around it.
func under(step string, err error) error {
	e := err.(*Error)
	path := JoinPath([]string{step})
	if e.Path != "" && e.Path[0] != '[' {
		path += "."
	}
	return &Error{Path: path + e.Path, Err: e.Err}
}
