package strictjson

import (
	"encoding"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"example.com/agl/ports"
)

// An Error says what is wrong with a value or a document, and where.
type Error struct {
	Path string // "items[2].severity"; empty for the whole of it
	Err  error
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns what is wrong without the path.
func (e *Error) Unwrap() error { return e.Err }

type (
	textMarshaler   = encoding.TextMarshaler
	textAppender    = encoding.TextAppender
	textUnmarshaler = encoding.TextUnmarshaler
)

// An expectation is a finished sentence about a value.
type expectation string

func (e expectation) Error() string { return string(e) }

const wantDuration = `expected a duration such as "1m30s"`

// writeError turns the library's error about a Go value into an *Error. The
// library words its own differently from process to process.
func writeError(err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax): // in a string, or in what a method returned
		pointer, why := locate(syntax)
		return &Error{pointer, why}
	case !errors.As(err, &semantic):
		return &Error{Err: err}
	case semantic.Err == nil:
		return &Error{Path(string(semantic.JSONPointer)), fmt.Errorf("a %s cannot be written as JSON", semantic.GoType)}
	default:
		return &Error{Path(string(semantic.JSONPointer)), semantic.Err}
	}
}

// readError turns the library's error about a document into an *Error.
func readError(err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &semantic):
		pointer := semantic.JSONPointer
		if errors.Is(semantic.Err, json.ErrUnknownName) {
			return &Error{Path(string(pointer.Parent())), expectation("unknown key " + clipped(strconv.Quote(pointer.LastToken())))}
		}
		return &Error{Path(string(pointer)), semanticReason(semantic)}
	case errors.As(err, &syntax):
		path, why := locate(syntax)
		if !errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
			why = fmt.Errorf("%w, at byte %d", why, syntax.ByteOffset)
		}
		return &Error{path, why}
	case errors.Is(err, io.EOF):
		return &Error{Err: expectation("the document is empty")}
	default:
		return &Error{Err: err}
	}
}

// locate says where and why a text is no JSON.
func locate(e *jsontext.SyntacticError) (path string, why error) {
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		key := clipped(strconv.Quote(e.JSONPointer.LastToken()))
		return Path(string(e.JSONPointer.Parent())), expectation("duplicate key " + key)
	case errors.Is(e.Err, io.ErrUnexpectedEOF), errors.Is(e.Err, io.EOF):
		why = expectation("not valid JSON: it ends too early")
	case strings.HasPrefix(e.Err.Error(), "invalid surrogate pair"):
		why = expectation("not valid JSON: half a surrogate pair in a string")
	default:
		why = fmt.Errorf("not valid JSON: %w", e.Err)
	}
	return Path(string(e.JSONPointer)), why
}

func semanticReason(e *json.SemanticError) error {
	var said expectation
	switch {
	case errors.As(e.Err, &said):
		return said
	case e.GoType == nil:
		return e.Err
	case isInt(e.GoType.Kind()) && len(e.JSONValue) > 0 && !custom(e.GoType):
		return expectation(notInteger(e.GoType, e.JSONValue, errors.Is(e.Err, strconv.ErrRange)))
	}
	want := expected(e.GoType)
	if want == "" || !mismatched(e) {
		if e.Err == nil {
			return fmt.Errorf("a %s cannot be read from JSON", e.GoType)
		}
		return e.Err
	}
	found := describe(e.JSONKind)
	switch {
	case len(e.JSONValue) > 0:
		found = got(e.JSONValue)
	case e.GoType.Kind() == reflect.Array && found == "a list":
		found = "another number of elements"
	case e.GoType.Kind() != reflect.String && found == "a string" && e.Err != nil:
		found = "other text"
	}
	return expectation("expected " + want + ", got " + found)
}

// mismatched reports whether e is about a value of another kind than its type
// takes, or with a text that its type cannot take.
func mismatched(e *json.SemanticError) bool {
	if e.JSONKind == 0 {
		return false
	}
	return e.Err == nil || e.GoType == reflect.TypeFor[time.Time]() || e.GoType.Kind() != reflect.Struct
}

// expected says what a document must have where a t is read.
func expected(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return `a time such as "2006-01-02T15:04:05Z"`
	case t == reflect.TypeFor[stdjson.Number](), t == reflect.TypeFor[jsonv1.Number]():
		return "a number"
	case custom(t):
		return ""
	}
	switch k := t.Kind(); {
	case isInt(k):
		return "a whole number"
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.String:
		return "a string"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Slice && t.Elem() == reflect.TypeFor[byte]():
		return "base64 text"
	case k == reflect.Array:
		return fmt.Sprintf("a list of %d", t.Len())
	case k == reflect.Slice:
		return "a list"
	case k == reflect.Struct || k == reflect.Map:
		return "an object"
	default:
		return ""
	}
}

func notInteger(t reflect.Type, literal []byte, tooLarge bool) string {
	if negative := len(literal) > 0 && literal[0] == '-'; negative && strings.HasPrefix(t.Kind().String(), "u") {
		return "expected a whole number that is not negative, got " + clipped(string(literal))
	}
	if tooLarge {
		return fmt.Sprintf("%s does not fit %s", clipped(string(literal)), t.Kind())
	}
	return "expected a whole number, got " + clipped(string(literal))
}

// got names a value of a document in an error: a string or a number with its
// text.
func got(raw []byte) string {
	if k := jsontext.Value(raw).Kind(); k != '"' && k != '0' {
		return describe(k)
	}
	return clipped(string(raw))
}

func describe(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[', ']':
		return "a list"
	default:
		return "an object"
	}
}

func clipped(s string) string { return ports.Clip(s, 60) }

// Path returns an RFC 6901 pointer as people write it: /items/2/severity is
// items[2].severity.
func Path(pointer string) string {
	var b strings.Builder
	for token := range jsontext.Pointer(pointer).Tokens() {
		appendStep(&b, token)
	}
	return b.String()
}

// JoinPath returns the steps of a path as Path writes them.
func JoinPath(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		appendStep(&b, step)
	}
	return b.String()
}

func appendStep(b *strings.Builder, step string) {
	switch {
	case step != "" && strings.Trim(step, "0123456789") == "":
		fmt.Fprintf(b, "[%s]", step)
	case step == "" || strings.ContainsAny(step, " .[]\"\\\n\r\t"):
		fmt.Fprintf(b, "[%q]", step)
	default:
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
}
