package strictjson

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Cut returns the JSON value that data begins with, after white space, and what
// follows it; ok is false if there is none. It looks at the grammar alone:
// names that are there twice are not refused. Both results are parts of data.
func Cut(data []byte) (value, rest []byte, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value, err := dec.ReadValue()
	if err != nil {
		return nil, data, false
	}
	return value, data[dec.InputOffset():], true
}
