package cassette

import (
	"encoding/json"
	"maps"
	"strings"
)

// quiet returns a message in which what is at the given JSON pointers is empty:
// [] for a list, {} for an object, "" for a text. A pointer that ends in "/" is to
// an object of which the members are left out that are null. All else stays as it
// is, but the order of keys.
func quiet(doc []byte, pointers []string) []byte {
	for _, pointer := range pointers {
		steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		if made, ok := emptied(doc, steps); ok {
			doc = made
		}
	}
	return doc
}

// emptied empties what is at the end of the steps, if it is there.
func emptied(doc json.RawMessage, steps []string) (json.RawMessage, bool) {
	if len(steps) == 0 {
		switch doc[0] {
		case '[':
			return json.RawMessage(`[]`), true
		case '{':
			return json.RawMessage(`{}`), true
		case '"':
			return json.RawMessage(`""`), true
		}
		return nil, false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(doc, &object) != nil || object == nil {
		return nil, false
	}
	if len(steps) == 1 && steps[0] == "" {
		maps.DeleteFunc(object, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
		return encode(object), true
	}
	if object[steps[0]] == nil {
		return nil, false
	}
	made, ok := emptied(object[steps[0]], steps[1:])
	if !ok {
		return nil, false
	}
	object[steps[0]] = made
	return encode(object), true
}
