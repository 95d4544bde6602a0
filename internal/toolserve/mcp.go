package toolserve

import (
	"context"
	"encoding/json"

	"example.com/agl/internal/jsonrpc"
)

// version is the protocol's, for a client that names none.
const version = "2025-06-18"

type object map[string]any

// Take takes one message of the protocol, a request or a notification. reply is
// called once, perhaps by another goroutine: with the response, when a tool that
// was called has returned, or with nil if none is due. The tool's context ends
// with ctx, or when a later message cancels the call; it is replied to all the
// same.
//
// Messages are to be taken in the order they came in, so that no cancellation
// is taken before its call.
func (s *Server) Take(ctx context.Context, message json.RawMessage, reply func(response json.RawMessage)) {
	s.messages.Take(ctx, message, func(answer []byte) { reply(answer) })
}

func (s *Server) handle(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		return initialized(params), nil
	case "ping":
		return object{}, nil
	case "tools/list":
		return s.list(), nil
	case "tools/call":
		return s.called(ctx, params)
	default:
		return nil, jsonrpc.Errorf(jsonrpc.UnknownMethod, "there is no method %s", method)
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

func (s *Server) called(ctx context.Context, params json.RawMessage) (any, error) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(params, &call); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "a call has a name and arguments: %v", err)
	}
	result := s.Call(ctx, call.Name, call.Arguments)
	return object{"content": []object{{"type": "text", "text": result.Text}}, "isError": result.Rejected}, nil
}
