package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"example.com/agl/internal/strictjson"
)

// Coerce returns a payload with the slips mended that models make and that have
// one reading alone. A text is taken for the object, the list, the number or the
// boolean that it is the JSON of, whole, where the schema takes such a value and
// no text: "5" for 5, "[\"a\"]" for ["a"], "true" for true. White space and the
// fence of a block of Markdown may be around it, and around the payload; words
// may not. What it returns may not fit all the same, for reasons of its own.
//
// A value that fits as it is stays, every digit stays, and what was coerced is
// not changed again.
func (s *Schema) Coerce(raw []byte) []byte {
	doc := raw
	if !parses(doc) {
		doc = unfence(doc)
	}
	if !parses(doc) {
		return raw
	}
	return s.takes.coerce(doc)
}

// A taken is what of a schema says which types of values it takes, and which
// they hold. Nil takes anything.
type taken struct {
	types    []string // nil: any
	fields   map[string]*taken
	others   *taken // the values of an object beside its fields
	elements *taken // of a list
	oneOf    []*taken
}

// takenBy reads a schema. Keywords that it does not know may refuse more, and
// make no value fit that the others refuse.
func takenBy(text json.RawMessage) *taken {
	var k struct {
		Type       json.RawMessage            `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Patterns   json.RawMessage            `json:"patternProperties"`
		Additional json.RawMessage            `json:"additionalProperties"`
		Items      json.RawMessage            `json:"items"`
		Prefix     json.RawMessage            `json:"prefixItems"`
		AnyOf      []json.RawMessage          `json:"anyOf"`
		OneOf      []json.RawMessage          `json:"oneOf"`
	}
	if json.Unmarshal(text, &k) != nil { // true or false: it says nothing of types
		return nil
	}
	t := &taken{fields: map[string]*taken{}}
	var one string
	switch {
	case json.Unmarshal(k.Type, &one) == nil:
		t.types = []string{one}
	case len(k.Type) > 0:
		_ = json.Unmarshal(k.Type, &t.types) // the compiler has looked at it
	}
	for name, property := range k.Properties {
		t.fields[name] = takenBy(property)
	}
	if len(k.Patterns) == 0 {
		t.others = takenBy(k.Additional)
	}
	if len(k.Prefix) == 0 {
		t.elements = takenBy(k.Items)
	}
	if len(k.Type) == 0 {
		alternatives := k.AnyOf
		if alternatives == nil {
			alternatives = k.OneOf
		}
		for _, a := range alternatives {
			t.oneOf = append(t.oneOf, takenBy(a))
		}
	}
	return t
}

// takes reports whether a value of a type, as JSON's grammar tells them apart,
// may fit.
func (t *taken) takes(kind string) bool {
	switch {
	case t == nil:
		return true
	case t.types != nil:
		return slices.Contains(t.types, kind) || kind == "number" && slices.Contains(t.types, "integer")
	case t.oneOf != nil:
		return slices.ContainsFunc(t.oneOf, func(a *taken) bool { return a.takes(kind) })
	default:
		return true
	}
}

// of returns what holds for the values in one of a type: that of the only
// alternative that takes it.
func (t *taken) of(kind string) *taken {
	if t == nil || t.oneOf == nil {
		return t
	}
	var only *taken
	for _, a := range t.oneOf {
		if !a.takes(kind) {
			continue
		}
		if only != nil || a == nil {
			return nil
		}
		only = a
	}
	return only.of(kind)
}

// coerce returns raw, a valid document, with the texts in it taken for what the
// schema takes in their place. All else stays byte for byte.
func (t *taken) coerce(raw []byte) []byte {
	kind := kindOf(raw)
	if kind == "string" {
		if t.takes(kind) {
			return raw
		}
		var text string
		if strictjson.Decode(raw, &text) != nil {
			return raw
		}
		inner := unfence([]byte(text))
		if !parses(inner) || kindOf(inner) == "string" || kindOf(inner) == "null" || !t.takes(kindOf(inner)) {
			return raw
		}
		return t.coerce(inner)
	}
	if t = t.of(kind); t == nil || kind != "object" && kind != "array" {
		return raw
	}
	var out bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token() // raw parses, so that none of these fails
	done := 0
	for dec.More() {
		part := t.elements
		if kind == "object" {
			key, _ := dec.Token()
			name, _ := key.(string)
			field, ok := t.fields[name]
			if part = t.others; ok {
				part = field
			}
		}
		var value json.RawMessage
		_ = dec.Decode(&value)
		end := int(dec.InputOffset())
		out.Write(raw[done : end-len(value)])
		out.Write(part.coerce(value))
		done = end
	}
	out.Write(raw[done:])
	return out.Bytes()
}

// kindOf returns the type of a valid document, a whole number's being number.
func kindOf(raw []byte) string {
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// parses reports whether text is one document, whole, in which no key is there
// twice.
func parses(text []byte) bool {
	var doc any
	return strictjson.Decode(text, &doc) == nil
}

// unfence returns what is in text without the white space around it, and without
// the fence if it is one block of Markdown.
func unfence(text []byte) []byte {
	const fence = "```"
	text = bytes.TrimSpace(text)
	first, rest, ok := strings.Cut(string(text), "\n")
	inner, closed := strings.CutSuffix(rest, fence)
	language := strings.TrimSpace(strings.TrimPrefix(first, fence))
	if !ok || !closed || !strings.HasPrefix(first, fence) || language != "" && !strings.EqualFold(language, "json") {
		return text
	}
	return bytes.TrimSpace([]byte(inner))
}
