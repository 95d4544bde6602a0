package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// parse reads a request for a message.
func parse(r *http.Request) (Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	var doc struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return Request{}, fmt.Errorf("the request is no message: %w", err)
	}
	req := Request{Stream: doc.Stream, Model: doc.Model, Header: r.Header, Body: string(body)}
	var system []string
	for _, b := range blocks(doc.System) {
		system = append(system, b.Text)
	}
	req.System = strings.Join(system, "\n\n")
	for _, tool := range doc.Tools {
		req.Tools = append(req.Tools, tool.Name)
	}
	for _, m := range doc.Messages {
		if m.Role == "assistant" {
			req.Turn++
		}
		req.Said = append(req.Said, Message{Role: m.Role, Blocks: blocks(m.Content), Content: m.Content})
	}
	return req, nil
}

// blocks reads content, which may be a text alone.
func blocks(content json.RawMessage) []Block {
	var list []Block
	if json.Unmarshal(content, &list) == nil {
		return list
	}
	var text string
	_ = json.Unmarshal(content, &text)
	return []Block{{Type: "text", Text: text}}
}

type object map[string]any

// content returns the blocks of the reply's message.
func (r Reply) content(id string) []object {
	var list []object
	for _, text := range r.Texts {
		list = append(list, object{"type": "text", "text": text})
	}
	for i, call := range r.Calls {
		list = append(list, object{
			"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", id, i), "name": call.Tool, "input": json.RawMessage(call.Args),
		})
	}
	if len(list) == 0 {
		list = append(list, object{"type": "text", "text": ""})
	}
	return list
}

func (r Reply) stop() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func (u Usage) object() object {
	return object{
		"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead,
		"cache_creation_input_tokens": u.CacheWrite, "output_tokens": u.Output,
	}
}

// message is the reply as a whole.
func (r Reply) message(id, model string) object {
	return object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": model, "content": r.content(id),
		"stop_reason": r.stop(), "stop_sequence": nil, "usage": r.Usage.object(),
	}
}

// stream sends the reply in pieces.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, reply Reply, id, model string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher).Flush
	send := func(event object) {
		doc, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], doc)
		flush()
	}
	begun := reply.message(id, model)
	begun["content"], begun["stop_reason"] = []object{}, nil
	send(object{"type": "message_start", "message": begun})
	for i, block := range reply.content(id) {
		piece := object{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			piece = object{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}
			block["input"] = object{}
		} else {
			block["text"] = ""
		}
		send(object{"type": "content_block_start", "index": i, "content_block": block})
		send(object{"type": "content_block_delta", "index": i, "delta": piece})
		switch {
		case reply.Malformed:
			fmt.Fprint(w, "event: content_block_delta\ndata: {not json,,\n\n")
			flush()
		case reply.Hang:
			select {
			case <-r.Context().Done():
			case <-s.over:
			}
			return
		case reply.Cut:
			panic(http.ErrAbortHandler)
		}
		send(object{"type": "content_block_stop", "index": i})
	}
	send(object{"type": "message_delta", "delta": object{"stop_reason": reply.stop(), "stop_sequence": nil}, "usage": reply.Usage.object()})
	send(object{"type": "message_stop"})
}
