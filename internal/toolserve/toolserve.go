// Package toolserve serves a role's tools, from this process, to a program that
// runs elsewhere: by name, or by messages of the Model Context Protocol that
// come over whatever channel the program speaks.
//
// The messages are read and written here and not by the protocol's SDK for Go:
// a vendor's channel carries them one by one, each with its reply, so that none
// of the SDK's transports and sessions is of use, while its types are in one
// package with an HTTP server and an OAuth client, which would be in every
// program that uses AGL. Four methods are all there is to serve.
package toolserve

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"example.com/agl/ports"
)

// A Server serves the tools of one turn. It may be used by several goroutines.
type Server struct {
	tools []ports.Tool

	calls   sync.WaitGroup
	mu      sync.Mutex
	cancels map[string]context.CancelFunc // of the calls that run, by the message's id
	running int
}

// New returns a Server of these tools. Their names differ.
func New(tools []ports.Tool) *Server {
	return &Server{tools: tools, cancels: make(map[string]context.CancelFunc)}
}

// Call calls a tool. A tool there is not, or one that panics, is a refusal,
// which the model reads: its turn goes on.
func (s *Server) Call(ctx context.Context, name string, args json.RawMessage) (result ports.ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			result = refused("the tool %s failed: panic: %v", name, p)
		}
	}()
	for _, tool := range s.tools {
		if tool.Name == name {
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			return tool.Call(ctx, args)
		}
	}
	return refused("there is no tool %q", name)
}

func refused(format string, args ...any) ports.ToolResult {
	return ports.ToolResult{Text: fmt.Sprintf(format, args...), Rejected: true}
}

// Running returns how many calls that came as messages were not replied to.
func (s *Server) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Wait returns when every call that came as a message has returned and was
// replied to. No message may be taken meanwhile.
func (s *Server) Wait() { s.calls.Wait() }
