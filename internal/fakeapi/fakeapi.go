// Package fakeapi is the service of a vendor on loopback, with a model that does
// what a script says: for tests, and to look into whether a vendor's installed
// program can be worked with. It speaks Anthropic's Messages,
// and OpenAI's Responses and Chat Completions.
//
// What a reply is to be follows from the request alone — how often the model
// has spoken in the conversation — so that one server serves any number of
// conversations at once, and a request that is made again is answered again.
package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
)

// A Server is a running fake.
type Server struct {
	URL string // of the service, "http://127.0.0.1:PORT"

	script func(Request) Reply
	over   chan struct{} // closed when the test ends

	mu       sync.Mutex
	requests []Request
	tries    map[string]int
	ids      int
}

// A Request is what a program asked the model.
type Request struct {
	Turn   int // how often the model has spoken before
	Try    int // how often this was asked before, in the same conversation
	Stream bool
	Model  string
	System string    // the system prompt or the developer's messages, their blocks joined by blank lines
	Tools  []string  // their names
	Said   []Message // the conversation
	Header http.Header
	Body   string // the whole request
}

// A Message is one of a conversation's.
type Message struct {
	Role    string
	Blocks  []Block
	Content json.RawMessage // as it came
}

// A Block is a part of a message: a text, or what a tool has answered.
type Block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"`  // of a tool_result
	IsError bool            `json:"is_error"` // which OpenAI's service is not told
}

// Heard returns all text that the model was given by the user, tools' results
// aside.
func (r Request) Heard() string {
	var texts []string
	for _, m := range r.Said {
		for _, b := range m.Blocks {
			if m.Role == "user" && b.Type == "text" {
				texts = append(texts, b.Text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// Results returns what tools answered since the model spoke last.
func (r Request) Results() []Block {
	var results []Block
	for _, m := range r.Said {
		if m.Role == "assistant" {
			results = nil
		}
		for _, b := range m.Blocks {
			if b.Type == "tool_result" {
				results = append(results, b)
			}
		}
	}
	return results
}

// String returns the text of a tool's result.
func (b Block) String() string {
	var text string
	if json.Unmarshal(b.Content, &text) == nil {
		return text
	}
	var blocks []Block
	_ = json.Unmarshal(b.Content, &blocks)
	for _, part := range blocks {
		text += part.Text
	}
	return text
}

// A Reply is what the model does. Its zero value is a turn's end, with an empty
// text.
type Reply struct {
	Texts []string // text blocks
	Calls []Call   // and then calls of tools
	Stop  string   // the stop_reason, or why a response is incomplete; "": that of a message with these parts
	Usage Usage

	Status int               // instead: an error of HTTP
	Error  string            // its type, as "rate_limit_error"
	Detail string            // its message
	Fields map[string]any    // more of it
	Header map[string]string // headers of any reply

	Unmetered bool // it does not tell what it used; of Chat Completions alone
	Cut       bool // the stream ends in its middle
	Malformed bool // it has a line that is no JSON
	Hang      bool // it goes on no more after its middle
}

// A Call is a call of a tool.
type Call struct {
	Tool, Args string
	Custom     bool // Args is a text, of a tool that takes one, and no JSON; OpenAI's only
}

// Usage is what a message used, in tokens. Input is without what the cache was
// read for, and Output has Reasoning in it, which is OpenAI's only.
type Usage struct{ Input, CacheRead, CacheWrite, Output, Reasoning int64 }

// A TB is the part of a testing.TB that New needs. This package is in programs,
// which have no use for the whole.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// New starts a fake whose model does what script says. It ends with the test.
func New(t TB, script func(Request) Reply) *Server {
	t.Helper()
	s, end, err := Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return s
}

// Start starts a fake whose model does what script says, until end is called.
func Start(script func(Request) Reply) (s *Server, end func(), err error) {
	s = &Server{script: script, over: make(chan struct{}), tries: make(map[string]int)}
	s.URL, end, err = serve(s, s.over)
	return s, end, err
}

// serve serves on a free port of loopback, until end is called, which closes over
// and then every connection, and waits for what is being answered.
func serve(handler http.Handler, over chan struct{}) (url string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	var answering sync.RWMutex // held by every request that is answered
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answering.RLock()
		defer answering.RUnlock()
		handler.ServeHTTP(w, r)
	})
	srv := &http.Server{Handler: counted, ErrorLog: log.New(io.Discard, "", 0)} // a program that goes away is none of its business
	gone := make(chan struct{})
	go func() {
		_ = srv.Serve(listener) // ErrServerClosed
		close(gone)
	}()
	return "http://" + listener.Addr().String(), func() {
		close(over)
		srv.Close()
		<-gone
		answering.Lock()
		defer answering.Unlock()
	}, nil
}

// Requests returns what the model was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request{}, s.requests...)
}

// ServeHTTP answers a request to the model. All others find nothing.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	read, answer := parse, s.stream
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		read, answer = parseResponses, s.streamResponse
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		read, answer = parseChat, s.streamChat
	default: // also whoever wants to speak over a websocket
		http.NotFound(w, r)
		return
	}
	req, err := read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	key := fmt.Sprint(conversation(req), " ", req.Turn)
	req.Try = s.tries[key]
	s.tries[key]++
	s.requests = append(s.requests, req)
	s.ids++
	id := fmt.Sprintf("%04d", s.ids)
	s.mu.Unlock()

	reply := s.script(req)
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Request-Id", "req_"+id)
	switch {
	case reply.Status != 0:
		failure := map[string]any{"type": reply.Error, "code": reply.Error, "message": reply.Detail}
		maps.Copy(failure, reply.Fields)
		sendJSON(w, reply.Status, map[string]any{"type": "error", "error": failure})
	case !req.Stream:
		sendJSON(w, http.StatusOK, reply.message(id, req.Model))
	default:
		answer(w, r, reply, id, req.Model)
	}
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// conversation tells the conversations of several programs apart.
func conversation(r Request) string {
	for _, name := range []string{"X-Claude-Code-Session-Id", "Session_id", "Session-Id"} {
		if id := r.Header.Get(name); id != "" {
			return id
		}
	}
	if strings.HasPrefix(r.Header.Get("User-Agent"), "OpenAI/") { // Copilot's has the time in its first message
		return r.Heard()
	}
	return r.Header.Get("User-Agent")
}
