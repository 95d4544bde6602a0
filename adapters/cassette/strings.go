package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// rewrite returns a JSON document with each of its strings, keys of objects
// included, replaced by what fn makes of it. key is that of the member whose
// value the string is. All else stays as it is, to the last digit.
func rewrite(doc []byte, fn func(key, s string) (string, error)) ([]byte, error) {
	var out bytes.Buffer
	key, isValue := "", false // of the member whose value comes next
	for i := 0; i < len(doc); {
		c := doc[i]
		if c != '"' {
			if c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != ':' {
				isValue = false
			}
			out.WriteByte(c)
			i++
			continue
		}
		end := stringEnd(doc, i)
		if end < 0 {
			return nil, fmt.Errorf("a string is not closed")
		}
		var s string
		if err := json.Unmarshal(doc[i:end], &s); err != nil {
			return nil, err
		}
		under := ""
		if isValue {
			under = key
		}
		made, err := fn(under, s)
		if err != nil {
			return nil, err
		}
		if made == s {
			out.Write(doc[i:end])
		} else {
			out.Write(quoted(made))
		}
		i = end
		if rest := bytes.TrimLeft(doc[i:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			key, isValue = s, true
		} else {
			isValue = false
		}
	}
	return out.Bytes(), nil
}

// stringEnd returns the index behind the string that begins at i, or -1.
func stringEnd(doc []byte, i int) int {
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// quoted is a string as JSON, without the escapes that HTML needs.
func quoted(s string) []byte { return bytes.TrimSuffix(encode(s), []byte("\n")) }

// encode is a value as a line of JSON.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("cassette: " + err.Error()) // made of strings and JSON alone
	}
	return b.Bytes()
}

// decode is a JSON document as Go values, numbers as they are written.
func decode(doc []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}
