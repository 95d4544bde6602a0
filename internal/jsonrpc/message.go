package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The codes of errors that the protocol knows.
const (
	InvalidRequest = -32600
	UnknownMethod  = -32601
	InvalidParams  = -32602
	InternalError  = -32603
)

// An Error is an answer that is no result. A handler may return one; what else
// it returns is an InternalError.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf returns an Error.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// A message is any of the three: a request has a method and an id, a
// notification a method alone, a response an id and one of the other two.
type message struct {
	JSONRPC string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// parse reads a message. What it returns is its own.
func parse(doc []byte) (message, bool) {
	var m message
	if json.Unmarshal(doc, &m) != nil {
		return m, false
	}
	return m, m.Method != "" || len(m.ID) > 0 && (m.Result != nil || m.Error != nil)
}

// encode writes a message. With bare it does not say which protocol it is of.
func encode(m message, bare bool) ([]byte, error) {
	if !bare {
		m.JSONRPC = "2.0"
	}
	return json.Marshal(m)
}

// answer is the response to a request. A result that is no JSON is an error of
// the handler's.
func answer(id json.RawMessage, result any, err error, bare bool) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	if err == nil {
		var value, doc []byte
		if value, err = json.Marshal(result); err == nil {
			if doc, err = encode(message{ID: id, Result: value}, bare); err == nil {
				return doc
			}
		}
	}
	doc, err := encode(message{ID: id, Error: asError(err)}, bare)
	if err != nil { // the data of an Error that are no JSON
		doc, _ = encode(message{ID: id, Error: asError(err)}, bare)
	}
	return doc
}

func asError(err error) json.RawMessage {
	failed := Errorf(InternalError, "%v", err)
	_ = errors.As(err, &failed)
	doc, err := json.Marshal(failed)
	if err != nil {
		doc, _ = json.Marshal(Errorf(InternalError, "%v", err))
	}
	return doc
}

// failure reads the error of a response, however it is written.
func failure(doc json.RawMessage) *Error {
	failed := new(Error)
	if err := json.Unmarshal(doc, failed); err != nil || failed.Code == 0 && failed.Message == "" {
		return &Error{Code: InternalError, Message: string(doc), Data: doc}
	}
	return failed
}

// key makes an id comparable, be it a number, a string or null.
func key(id json.RawMessage) string { return string(bytes.TrimSpace(id)) }
