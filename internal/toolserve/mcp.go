package toolserve

import (
	"bytes"
	"context"
	"encoding/json"

	"example.com/agl/ports"
)

// version is the protocol's, for a client that names none.
const version = "2025-06-18"

// The codes of JSON-RPC's errors.
const (
	invalidRequest = -32600
	unknownMethod  = -32601
	invalidParams  = -32602
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type object map[string]any

// Take takes one message of the protocol, a request or a notification. reply is
// called once with the response, or with nil if none is due: before Take
// returns, or, for a call of a tool, by another goroutine when the tool has
// returned. The tool's context ends with ctx, or when a later message cancels
// the call; it is replied to all the same.
//
// Messages are to be taken in the order they came in, so that no cancellation
// is taken before its call.
func (s *Server) Take(ctx context.Context, message json.RawMessage, reply func(response json.RawMessage)) {
	var req request
	if err := json.Unmarshal(message, &req); err != nil || req.Method == "" {
		reply(encode(req.ID, nil, &failure{invalidRequest, "this is no request"}))
		return
	}
	if len(req.ID) == 0 {
		s.notified(req)
		reply(nil)
		return
	}
	switch req.Method {
	case "initialize":
		reply(encode(req.ID, initialized(req.Params), nil))
	case "ping":
		reply(encode(req.ID, object{}, nil))
	case "tools/list":
		reply(encode(req.ID, s.list(), nil))
	case "tools/call":
		s.call(ctx, req, reply)
	default:
		reply(encode(req.ID, nil, &failure{unknownMethod, "there is no method " + req.Method}))
	}
}

// initialized speaks the client's version of the protocol: what is served here
// is the same in all of them.
func initialized(params json.RawMessage) object {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(params, &asked) != nil || asked.Version == "" {
		asked.Version = version
	}
	return object{
		"protocolVersion": asked.Version,
		"capabilities":    object{"tools": object{}},
		"serverInfo":      object{"name": "agl", "version": "1"},
	}
}

// list describes the tools. That they only read is said of all of them: it is by
// this hint that a program decides whether calls may run at once, and whether
// somebody has to approve them.
func (s *Server) list() object {
	list := make([]object, len(s.tools))
	for i, tool := range s.tools {
		list[i] = object{
			"name": tool.Name, "description": tool.Doc, "inputSchema": tool.Schema, "annotations": object{"readOnlyHint": true},
		}
	}
	return object{"tools": list}
}

// call runs a tool in a goroutine of its own.
func (s *Server) call(ctx context.Context, req request, reply func(json.RawMessage)) {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil {
		reply(encode(req.ID, nil, &failure{invalidParams, "a call has a name and arguments: " + err.Error()}))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	id := key(req.ID)
	s.mu.Lock()
	if s.cancels[id] != nil {
		s.mu.Unlock()
		cancel()
		reply(encode(req.ID, nil, &failure{invalidRequest, "a call with this id runs already"}))
		return
	}
	s.cancels[id] = cancel
	s.running++
	s.mu.Unlock()

	s.calls.Go(func() {
		defer cancel()
		result := ports.ToolResult{Rejected: true, Text: "the tool " + params.Name + " ended its goroutine"}
		defer func() { // also where the tool ends its goroutine
			s.mu.Lock()
			delete(s.cancels, id)
			s.mu.Unlock()
			reply(encode(req.ID, object{
				"content": []object{{"type": "text", "text": result.Text}}, "isError": result.Rejected,
			}, nil))
			s.mu.Lock()
			s.running--
			s.mu.Unlock()
		}()
		result = s.Call(ctx, params.Name, params.Arguments)
	})
}

// notified takes a notification. All but cancellations say nothing of use.
func (s *Server) notified(req request) {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	if req.Method != "notifications/cancelled" || json.Unmarshal(req.Params, &params) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[key(params.ID)]; cancel != nil {
		cancel()
	}
}

// key makes a message's id, a number or a string, comparable.
func key(id json.RawMessage) string { return string(bytes.TrimSpace(id)) }

func encode(id json.RawMessage, result any, failed *failure) json.RawMessage {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	doc, err := json.Marshal(response{JSONRPC: "2.0", ID: id, Result: result, Error: failed})
	if err != nil { // a tool's schema that is no JSON
		doc, _ = json.Marshal(response{JSONRPC: "2.0", ID: id, Error: &failure{invalidRequest, err.Error()}})
	}
	return doc
}
