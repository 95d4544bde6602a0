package copilot

import (
	"context"
	"sync"

	"example.com/agl/internal/toolserve"
	"example.com/agl/ports"
)

// calls are the calls of the role's tools that run. The program asks for one by
// an event, and is replied to by a call of its own method.
type calls struct {
	tools *toolserve.Server
	reply func(request string, result fields)
	done  func() // a tool has returned

	all     sync.WaitGroup
	mu      sync.Mutex
	cancels map[string]context.CancelFunc // by the request's id, until it was replied to
	active  int                           // tools that have not returned
}

// begin runs a tool in a goroutine of its own. Its context ends with ctx, or by
// cancel.
func (c *calls) begin(ctx context.Context, d data) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancels[d.RequestID] != nil { // it was told twice
		cancel()
		return
	}
	c.cancels[d.RequestID] = cancel
	c.active++
	c.all.Go(func() {
		defer cancel()
		result := c.tools.Call(ctx, d.ToolName, d.Arguments)
		c.mu.Lock()
		c.active--
		c.mu.Unlock()
		c.done() // from here on it is the program that is waited for: it may not take the reply
		c.reply(d.RequestID, toolResult(result))
		c.mu.Lock()
		delete(c.cancels, d.RequestID)
		c.mu.Unlock()
	})
}

// cancel ends the context of a call, if it runs. The program tells of the end of
// every call, so that most have returned.
func (c *calls) cancel(request string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.cancels[request]; cancel != nil {
		cancel()
	}
}

// running returns how many tools have not returned.
func (c *calls) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}

// refused is what the text of a call that was refused begins with, for the model:
// the protocols of most services have no other sign of it.
const refused = "Refused: "

func toolResult(r ports.ToolResult) fields {
	if r.Rejected {
		return fields{"textResultForLlm": refused + r.Text, "resultType": "failure", "error": r.Text}
	}
	return fields{"textResultForLlm": r.Text, "resultType": "success"}
}
