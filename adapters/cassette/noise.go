package cassette

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
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

// unread reports whether a message is one that an adapter passes over.
func unread(doc []byte, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		pointer, pattern, _ := strings.Cut(kind, "=")
		matched, _ := path.Match(pattern, textAt(doc, pointer)) // it was looked at with the header
		return matched
	})
}

// textAt returns the text at a JSON pointer, "" if there is none.
func textAt(doc json.RawMessage, pointer string) (text string) {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var object map[string]json.RawMessage
		if json.Unmarshal(doc, &object) != nil {
			return ""
		}
		doc = object[step]
	}
	_ = json.Unmarshal(doc, &text) // nothing, or no text
	return text
}
