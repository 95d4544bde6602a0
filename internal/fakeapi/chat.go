package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// parseChat reads a request of OpenAI's Chat Completions.
func parseChat(r *http.Request) (Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	var doc struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Custom struct {
				Name string `json:"name"`
			} `json:"custom"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return Request{}, fmt.Errorf("the request is no chat: %w", err)
	}
	req := Request{Stream: doc.Stream, Model: doc.Model, Header: r.Header, Body: string(body)}
	for _, tool := range doc.Tools {
		req.Tools = append(req.Tools, tool.Function.Name+tool.Custom.Name)
	}
	for _, m := range doc.Messages {
		said := Message{Role: m.Role, Blocks: blocks(m.Content), Content: m.Content}
		switch m.Role {
		case "system", "developer":
			for _, b := range said.Blocks {
				req.System += b.Text
			}
			continue
		case "assistant":
			req.Turn++
		case "tool": // as a block of the protocol that has them
			said.Blocks = []Block{{Type: "tool_result", Content: m.Content}}
		}
		req.Said = append(req.Said, said)
	}
	return req, nil
}

// chat is usage as the protocol has it: what was read from a cache is part
// of the prompt, and the reasoning of what was written.
func (u Usage) chat() object {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

// chatStop is the finish_reason.
func (r Reply) chatStop() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

// streamChat sends the reply in pieces. Its texts are one: the protocol has no
// more.
func (s *Server) streamChat(w http.ResponseWriter, r *http.Request, reply Reply, id, model string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher).Flush
	chunk := func(members object) {
		members["id"], members["object"], members["model"] = "chatcmpl-"+id, "chat.completion.chunk", model
		doc, _ := json.Marshal(members)
		fmt.Fprintf(w, "data: %s\n\n", doc)
		flush()
	}
	delta := func(delta object, finish any) {
		chunk(object{"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, text := range reply.Texts {
		half := len(text) / 2
		for half > 0 && text[half]&0xc0 == 0x80 { // not in the middle of a character
			half--
		}
		for _, piece := range []string{text[:half], text[half:]} {
			if piece != "" {
				delta(object{"content": piece}, nil)
			}
		}
	}
	switch {
	case reply.Malformed:
		fmt.Fprint(w, "data: {not json,,\n\n")
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
	for i, call := range reply.Calls {
		made := object{"index": i, "id": fmt.Sprintf("call_%s_%d", id, i), "type": "function", "function": object{"name": call.Tool, "arguments": call.Args}}
		if call.Custom {
			made["type"], made["custom"] = "custom", object{"name": call.Tool, "input": call.Args}
			delete(made, "function")
		}
		delta(object{"tool_calls": []object{made}}, nil)
	}
	delta(object{}, reply.chatStop())
	if !reply.Unmetered {
		chunk(object{"choices": []object{}, "usage": reply.Usage.chat()})
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
	flush()
}
