// Package schema makes JSON Schemas of Go types, and reads what a model sends
// for one.
//
// # What a type may be
//
// A payload is a struct, read as encoding/json reads it: tags, promoted fields,
// shadowing. Its keys are required and closed.
//
//   - A *T may be left out or null. A field with omitempty or omitzero too. A
//     field promoted through an embedded pointer may be left out.
//   - An integer takes 1.0; its size gives it bounds. A uint is not negative.
//   - time.Duration is Go's text ("1m30s"), time.Time RFC 3339, []byte base64.
//   - json.RawMessage is any JSON value. Interfaces are refused: there is
//     nothing to check, and no model knows what to send.
//   - Maps have string keys.
//   - A type with MarshalText and UnmarshalText is a string. One with
//     MarshalJSON and UnmarshalJSON must say what it reads by a method
//     JSONSchema, on it or its pointer, without parameters, whose one result is
//     its schema once encoded as JSON: a json.RawMessage is enough, and
//     invopop/jsonschema's hook will do. Such a schema stands for itself
//     alone: no $ref, $id, $defs, $schema.
//   - Recursive types are refused: vendors take no references.
//
// The tag jsonschema_description describes a field, in any words. The tag
// jsonschema holds directives, separated by commas: title, description, enum
// (repeated), default, example (repeated), pattern, format, minLength,
// maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf,
// minItems, maxItems, uniqueItems=true, required. On a list, those about
// strings and numbers are about its elements. A directive that is not one of
// these, or that has no effect on its field, is refused: a comma in a
// description would cut it short.
//
// # What a model may send
//
// A payload is checked as it is. Only one that does not fit is coerced, by its
// schema, and then checked again: see [Schema.Coerce]. So nothing is read in two
// ways, and a text is never taken for something else where a text is meant.
//
// The types of the libraries behind it do not appear outside.
package schema
