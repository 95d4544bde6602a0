package jsonrpc

import (
	"context"
	"encoding/json"
	"sync"
)

// A Handler answers a request. It runs in a goroutine of its own, and may take
// as long as it wants. Its context ends when the other side cancels the
// request, and with the context that the request was taken with. What it returns
// is marshalled; an *Error is passed on as it is.
type Handler func(ctx context.Context, method string, params json.RawMessage) (result any, err error)

// A Cancellation is the notification by which a request is taken back: its
// method, and the member of its params that holds the request's id.
type Cancellation struct{ Method, ID string }

// The cancellations of the protocols there are.
var (
	CancelOfLSP = Cancellation{Method: "$/cancelRequest", ID: "id"}
	CancelOfMCP = Cancellation{Method: "notifications/cancelled", ID: "requestId"}
)

// A Server answers requests that come one by one, over whatever there is: a
// Conn, or messages in messages of a vendor's own. Its fields are set before the
// first. It may be used by several goroutines.
type Server struct {
	Handle   Handler                                     // nil: there are no methods
	Notified func(method string, params json.RawMessage) // takes what needs no answer, in order; nil: nobody does
	Cancel   Cancellation                                // the zero value: nothing is taken back
	Bare     bool                                        // answers have no member "jsonrpc"

	handlers sync.WaitGroup
	mu       sync.Mutex
	cancels  map[string]context.CancelFunc // of the requests that run, by their ids
	running  int
}

// Take takes a request or a notification. reply is called once: with the answer,
// by another goroutine when the handler has returned; or before Take returns,
// with nil if none is due, or with an error about what is no request. A request
// that is cancelled is answered all the same, by whatever its handler returns.
//
// Messages are to be taken in the order they came in, so that no cancellation
// is taken before its request.
func (s *Server) Take(ctx context.Context, doc []byte, reply func(answer []byte)) {
	m, _ := parse(doc)
	if m.Method == "" {
		reply(answer(m.ID, nil, Errorf(InvalidRequest, "this is no request"), s.Bare))
		return
	}
	s.take(ctx, m, reply)
}

// take takes a message that has a method.
func (s *Server) take(ctx context.Context, m message, reply func([]byte)) {
	if len(m.ID) == 0 {
		s.notified(m)
		reply(nil)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	id := key(m.ID)
	s.mu.Lock()
	if s.cancels[id] != nil {
		s.mu.Unlock()
		cancel()
		s.handlers.Go(func() { // nothing else is taken while the other side does not read its answers
			reply(answer(m.ID, nil, Errorf(InvalidRequest, "a request with this id runs already"), s.Bare))
		})
		return
	}
	if s.cancels == nil {
		s.cancels = make(map[string]context.CancelFunc)
	}
	s.cancels[id] = cancel
	s.running++
	s.mu.Unlock()

	s.handlers.Go(func() {
		var result any
		var err error = Errorf(InternalError, "the handler of %s ended its goroutine", m.Method)
		defer func() { // also where the handler panics, or ends its goroutine
			cancel()
			if p := recover(); p != nil {
				err = Errorf(InternalError, "%s failed: panic: %v", m.Method, p)
			}
			s.mu.Lock()
			delete(s.cancels, id)
			s.mu.Unlock()
			reply(answer(m.ID, result, err, s.Bare))
			s.mu.Lock()
			s.running--
			s.mu.Unlock()
		}()
		if s.Handle == nil {
			err = Errorf(UnknownMethod, "there is no method %s", m.Method)
			return
		}
		result, err = s.Handle(ctx, m.Method, m.Params)
	})
}

// notified takes a notification: if it takes a request back, its handler's
// context ends. All of them are passed on.
func (s *Server) notified(m message) {
	if s.Cancel.Method != "" && m.Method == s.Cancel.Method {
		var params map[string]json.RawMessage
		_ = json.Unmarshal(m.Params, &params)
		s.mu.Lock()
		if cancel := s.cancels[key(params[s.Cancel.ID])]; cancel != nil {
			cancel()
		}
		s.mu.Unlock()
	}
	if s.Notified != nil {
		s.Notified(m.Method, m.Params)
	}
}

// Running returns how many requests were not replied to.
func (s *Server) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Wait returns when every request was replied to. None may be taken meanwhile.
func (s *Server) Wait() { s.handlers.Wait() }
