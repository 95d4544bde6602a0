package copilot_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/agl/adapters/cassette"
	"example.com/agl/adapters/copilot"
	"example.com/agl/internal/jsonrpc"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// A standIn is a program in the place of Copilot's: this test's own, started once
// more, which speaks the channel as far as a test needs.
type standIn struct {
	out    string // a folder for what it finds out
	reader jsonrpc.Reader
	ids    int
}

type object = map[string]any

// plays is what the stand-ins do, by the name in their environment.
var plays = map[string]func(*standIn){}

const playing = "AGL_TEST_PLAY"

// play names what a stand-in does. It is called when the package's variables are
// made, in both processes.
func play(name string, do func(*standIn)) string {
	if plays[name] != nil {
		panic("two plays are named " + name)
	}
	plays[name] = do
	return name
}

func TestMain(m *testing.M) {
	cassette.Main()
	name := os.Getenv(playing)
	if name == "" {
		os.Exit(m.Run())
	}
	s := &standIn{out: os.Getenv("OUT"), reader: jsonrpc.Headers(0).NewReader(os.Stdin)}
	plays[name](s)
}

// standsIn returns an agent whose program does what a play says.
func standsIn(t testing.TB, opts copilot.Options, name string, env ...string) (agent ports.Agent, out string) {
	t.Helper()
	out = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opts.Program = self
	opts.Env = append(append(vendortest.CopilotEnv(t, "http://127.0.0.1:1"), playing+"="+name, "OUT="+out), env...)
	opts.Grace = cmp.Or(opts.Grace, time.Second)
	return copilot.New(opts), out
}

// write writes a message.
func (s *standIn) write(m object) {
	m["jsonrpc"] = "2.0"
	doc, _ := json.Marshal(m)
	s.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(doc), doc))
}

func (s *standIn) raw(text string) { _, _ = io.WriteString(os.Stdout, text) }

// say tells an event of the session.
func (s *standIn) say(kind string, data object, members ...object) {
	s.ids++
	event := object{"type": kind, "data": data, "id": fmt.Sprint(s.ids)}
	for _, more := range members {
		maps.Copy(event, more)
	}
	s.write(object{"method": "session.event", "params": object{"sessionId": "s1", "event": event}})
}

// await answers requests until one of a method has come, and returns its params:
// nil if none comes any more.
func (s *standIn) await(method string) json.RawMessage {
	for {
		doc, err := s.reader.Next()
		if err != nil {
			return nil
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		_ = json.Unmarshal(doc, &request)
		result := object{"success": true}
		if request.Method == "session.create" {
			result = object{"sessionId": "s1"}
			s.keep("create", request.Params)
		}
		s.write(object{"id": request.ID, "result": result})
		if request.Method == method {
			return request.Params
		}
	}
}

// begin gets to where the model is asked.
func (s *standIn) begin() { s.keep("send", s.await("session.send")) }

// answer is a whole answer of the model.
func (s *standIn) answer(text string) {
	s.say("assistant.usage", object{"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 0, "finishReason": "stop"})
	s.say("assistant.message", object{"messageId": "m1", "content": text})
}

// end ends the turn, and waits for the end of its input.
func (s *standIn) end() {
	s.say("assistant.idle", object{})
	s.say("session.idle", object{})
	s.await("")
}

// succeed is a turn.
func (s *standIn) succeed() {
	s.begin()
	s.answer("all done")
	s.end()
}

// fail ends the turn by an error.
func (s *standIn) fail(data object) {
	s.say("session.error", data)
	s.end()
}

// keep keeps something for the test.
func (s *standIn) keep(name string, doc []byte) {
	if err := os.WriteFile(filepath.Join(s.out, name), doc, 0o600); err != nil {
		panic(err)
	}
}

// refuse answers a method by an error, and others as they want.
func (s *standIn) refuse(method, message string) {
	s.respond(method, object{"error": object{"code": -32601, "message": message}})
	s.await("")
}

// answerWith answers a method.
func (s *standIn) answerWith(method string, result object) {
	s.respond(method, object{"result": result})
}

func (s *standIn) respond(method string, answer object) {
	for {
		doc, err := s.reader.Next()
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(doc, &request)
		if request.Method == method {
			answer["id"] = request.ID
			s.write(answer)
			return
		}
		s.write(object{"id": request.ID, "result": object{"sessionId": "s1"}})
	}
}
