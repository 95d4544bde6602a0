package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// keyword returns the keyword that a directive of the jsonschema tag becomes,
// or "" if it is no directive.
func keyword(directive string) string {
	switch directive {
	case "example":
		return "examples"
	case "title", "description", "enum", "default", "pattern", "format", "minLength", "maxLength",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minItems", "maxItems", "uniqueItems":
		return directive
	}
	return ""
}

// checkTags refuses a directive that is none. What follows a comma in a
// description looks like one.
func checkTags(tag reflect.StructTag) error {
	if _, ok := tag.Lookup("jsonschema_extras"); ok {
		return fmt.Errorf("the tag jsonschema_extras is not supported")
	}
	for _, d := range directives(tag) {
		name, value, assigned := strings.Cut(d, "=")
		switch {
		case d == "required":
		case !assigned || keyword(name) == "":
			return fmt.Errorf("%q in its jsonschema tag is no directive; a comma begins a new one, so write a description in a tag jsonschema_description", d)
		case name == "uniqueItems" && value != "true":
			return fmt.Errorf("uniqueItems in its jsonschema tag can only be true")
		}
	}
	return nil
}

// directives splits a jsonschema tag at the commas that no backslash precedes.
func directives(tag reflect.StructTag) []string {
	text := tag.Get("jsonschema")
	if text == "" {
		return nil
	}
	const escaped = "\x00"
	parts := strings.Split(strings.ReplaceAll(text, `\,`, escaped), ",")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], escaped, ",")
	}
	return parts
}

// checkEffect refuses a directive that the reflected schema of its field does
// not show: it does not go with the field's type, or its value is none.
func checkEffect(f *field, s *jsonschema.Schema) error {
	found := keywords(s)
	if s.Items != nil {
		for k, v := range keywords(s.Items) {
			found[k] = append(found[k], v...)
		}
	}
	given := map[string]int{}
	for _, d := range directives(f.Tag) {
		name, _, _ := strings.Cut(d, "=")
		if d == "required" {
			if f.optional() {
				return fmt.Errorf("it is required by its jsonschema tag, and optional by its type or its json tag")
			}
			continue
		}
		given[name]++
		shown := found[keyword(name)]
		if repeats := name == "enum" || name == "example"; len(shown) == 0 || repeats && len(shown) < given[name] {
			return fmt.Errorf("%q in its jsonschema tag has no effect on a %s", d, f.node.typ)
		}
		if (name == "format" || name == "pattern") && f.node.hasOwnText() {
			return fmt.Errorf("%q in its jsonschema tag cannot hold for a %s, which has a text of its own", d, f.node.typ)
		}
	}
	return nil
}

// hasOwnText reports whether n, or its elements, are strings of a form that
// their type sets.
func (n *node) hasOwnText() bool {
	if n.form == formList {
		return n.elem.hasOwnText()
	}
	return slices.Contains([]form{formTime, formDuration, formText, formQuoted, formBytes}, n.form)
}

// keywords returns the values of each keyword of s: the elements of a list, or
// the one value.
func keywords(s *jsonschema.Schema) map[string][]json.RawMessage {
	text, _ := json.Marshal(s)
	var members map[string]json.RawMessage
	_ = json.Unmarshal(text, &members) // true is not an object, and has none
	values := map[string][]json.RawMessage{}
	for k, v := range members {
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			list = []json.RawMessage{v}
		}
		values[k] = list
	}
	return values
}
