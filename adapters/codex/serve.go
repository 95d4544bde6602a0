package codex

import (
	"context"
	"encoding/json"
	"slices"

	"example.com/agl/internal/jsonrpc"
)

// refusedPrefix begins what the model reads of a call that was refused: its
// service has no other way to tell it so.
const refusedPrefix = "Error: "

// serve answers what the program asks of us, several at once.
func (t *turn) serve(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "item/tool/call":
		return t.call(ctx, params)
	// Nobody is there to permit anything, and nothing is to be asked: it was told
	// so. What it asks for all the same is refused, and named in the outcome.
	case "item/commandExecution/requestApproval":
		t.deny("exec_command")
		return object{"decision": "decline"}, nil
	case "item/fileChange/requestApproval":
		t.deny("apply_patch")
		return object{"decision": "decline"}, nil
	case "mcpServer/elicitation/request":
		t.deny("elicitation")
		return object{"action": "decline", "content": nil}, nil
	case "item/permissions/requestApproval":
		t.deny("permissions")
		return nil, jsonrpc.Errorf(jsonrpc.InvalidRequest, "AGL gives no permissions")
	default:
		return nil, jsonrpc.Errorf(jsonrpc.UnknownMethod, "AGL serves no %s", method)
	}
}

// call calls a tool of the role's.
func (t *turn) call(ctx context.Context, doc json.RawMessage) (any, error) {
	var params struct {
		ID        string          `json:"callId"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(doc, &params); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.InvalidParams, "a call has an id, a tool and arguments: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	t.calls[params.ID] = cancel
	t.mu.Unlock()
	defer t.watch.Replied()
	defer func() {
		t.mu.Lock()
		delete(t.calls, params.ID)
		t.mu.Unlock()
	}()
	result := t.tools.Call(ctx, params.Tool, params.Arguments)
	text := result.Text
	if result.Rejected {
		text = refusedPrefix + text
	}
	return object{"contentItems": []object{{"type": "inputText", "text": text}}, "success": !result.Rejected}, nil
}

// deny notes a permission that the agent asked for and was refused.
func (t *turn) deny(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.denied, name) {
		t.denied = append(t.denied, name)
	}
}
