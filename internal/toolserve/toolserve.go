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

	"example.com/agl/internal/jsonrpc"
	"example.com/agl/ports"
)

// A Server serves the tools of one turn. It may be used by several goroutines.
type Server struct {
	tools    []ports.Tool
	messages jsonrpc.Server
}

// New returns a Server of these tools. Their names differ.
func New(tools []ports.Tool) *Server {
	s := &Server{tools: tools}
	s.messages.Handle, s.messages.Cancel = s.handle, jsonrpc.CancelOfMCP
	return s
}

// Call calls a tool. A tool there is not, or one that panics or ends its
// goroutine, is a refusal, which the model reads: its turn goes on.
func (s *Server) Call(ctx context.Context, name string, args json.RawMessage) ports.ToolResult {
	call := ports.Task{Tools: s.tools}.Tool(name).Call
	if call == nil {
		return refused("there is no tool %q", name)
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	result := refused("the tool %s ended its goroutine", name)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if p := recover(); p != nil {
				result = refused("the tool %s failed: panic: %v", name, p)
			}
		}()
		result = call(ctx, args)
	}()
	<-returned
	return result
}

func refused(format string, args ...any) ports.ToolResult {
	return ports.ToolResult{Text: fmt.Sprintf(format, args...), Rejected: true}
}

// Running returns how many requests that came as messages were not replied to.
func (s *Server) Running() int { return s.messages.Running() }

// Wait returns when every request that came as a message was replied to. No
// message may be taken meanwhile.
func (s *Server) Wait() { s.messages.Wait() }
