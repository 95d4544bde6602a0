package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// parseResponses reads a request for a response of OpenAI's.
func parseResponses(r *http.Request) (Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	type tool struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Tools []tool `json:"tools"` // of a namespace
	}
	var doc struct {
		Model        string `json:"model"`
		Stream       bool   `json:"stream"`
		Instructions string `json:"instructions"`
		Tools        []tool `json:"tools"`
		Input        []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Output  json.RawMessage `json:"output"`
			Tools   []tool          `json:"tools"` // models of some kinds are told of them here
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return Request{}, fmt.Errorf("the request is for no response: %w", err)
	}
	req := Request{Stream: doc.Stream, Model: doc.Model, Header: r.Header, Body: string(body)}
	name := func(tools []tool) {
		for _, t := range tools {
			if t.Name == "" {
				t.Name = t.Type
			}
			req.Tools = append(req.Tools, t.Name)
			for _, inner := range t.Tools {
				req.Tools = append(req.Tools, t.Name+"."+inner.Name)
			}
		}
	}
	name(doc.Tools)
	system := []string{doc.Instructions}
	spoke := false // the item before was the model's
	for _, item := range doc.Input {
		speaks := false
		switch {
		case item.Type == "additional_tools":
			name(item.Tools)
		case item.Role == "developer" || item.Role == "system":
			for _, b := range blocks(item.Content) {
				system = append(system, b.Text)
			}
		case item.Role == "user":
			list := blocks(item.Content)
			for i := range list {
				list[i].Type = "text"
			}
			req.Said = append(req.Said, Message{Role: "user", Blocks: list, Content: item.Content})
		case strings.HasSuffix(item.Type, "_output"):
			req.Said = append(req.Said, Message{Role: "user", Blocks: []Block{{Type: "tool_result", Content: item.Output}}, Content: item.Output})
		default: // a text, a call, or a thought
			speaks = true
			if !spoke {
				req.Turn++
				req.Said = append(req.Said, Message{Role: "assistant"})
			}
		}
		spoke = speaks
	}
	req.System = strings.TrimSpace(strings.Join(system, "\n\n"))
	return req, nil
}

// items returns what a response of OpenAI's is made of.
func (r Reply) items(id string) []object {
	var list []object
	for i, text := range r.Texts {
		list = append(list, object{
			"type": "message", "id": fmt.Sprintf("msg_%s_%d", id, i), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": text, "annotations": []object{}}},
		})
	}
	for i, call := range r.Calls {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", id, i), "name": call.Tool, "arguments": call.Args}
		if call.Custom {
			item = object{"type": "custom_tool_call", "id": fmt.Sprintf("ctc_%s_%d", id, i), "name": call.Tool, "input": call.Args}
		}
		item["call_id"], item["status"] = fmt.Sprintf("call_%s_%d", id, i), "completed"
		list = append(list, item)
	}
	if len(list) == 0 {
		list = Reply{Texts: []string{""}}.items(id)
	}
	return list
}

func (u Usage) responses() object {
	input := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"input_tokens": input, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		"total_tokens": input + u.Output,
	}
}

// streamResponse sends the reply in the pieces of a response.
func (s *Server) streamResponse(w http.ResponseWriter, r *http.Request, reply Reply, id, model string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher).Flush
	send := func(kind string, event object) {
		event["type"] = kind
		doc, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, doc)
		flush()
	}
	response := func(status string, items []object, usage any) object {
		return object{"id": "resp_" + id, "object": "response", "status": status, "model": model, "output": items, "usage": usage}
	}
	send("response.created", object{"response": response("in_progress", []object{}, nil)})
	items := reply.items(id)
	for i, item := range items {
		begun := object{}
		for name, value := range item {
			begun[name] = value
		}
		begun["status"] = "in_progress"
		if item["type"] == "message" {
			begun["content"] = []object{}
		}
		send("response.output_item.added", object{"output_index": i, "item": begun})
		if item["type"] == "message" {
			text := item["content"].([]object)[0]["text"]
			send("response.output_text.delta", object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": text})
		}
		switch {
		case reply.Malformed:
			fmt.Fprint(w, "event: response.output_text.delta\ndata: {not json,,\n\n")
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
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	if reply.Stop != "" {
		incomplete := response("incomplete", items, reply.Usage.responses())
		incomplete["incomplete_details"] = object{"reason": reply.Stop}
		send("response.incomplete", object{"response": incomplete})
		return
	}
	send("response.completed", object{"response": response("completed", items, reply.Usage.responses())})
}
