package claude

import (
	"encoding/json"
	"strconv"

	"example.com/agl/ports"
)

// A message is one line that the program writes: the parts of it that are read
// here, of any kind. What is not there is zero.
type message struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Parent  string `json:"parent_tool_use_id"` // the call under which a nested agent speaks

	// control_request, control_response
	RequestID string          `json:"request_id"`
	Request   request         `json:"request"`
	Response  controlResponse `json:"response"`

	// system/init
	SessionID  string      `json:"session_id"`
	Tools      []string    `json:"tools"`
	MCPServers []mcpServer `json:"mcp_servers"`

	// system/api_retry
	Attempt     int `json:"attempt"`
	ErrorStatus int `json:"error_status"`

	// rate_limit_event
	Limit *rateLimit `json:"rate_limit_info"`

	Message *said        `json:"message"` // assistant
	Event   *streamEvent `json:"event"`   // stream_event
	APIErr  apiError     `json:"error"`   // assistant, api_retry
	IsAPI   bool         `json:"is_api_error_message"`

	// result
	Failed         flag                  `json:"is_error"`
	Result         string                `json:"result"`
	TerminalReason string                `json:"terminal_reason"`
	StopReason     string                `json:"stop_reason"`
	APIStatus      int                   `json:"api_error_status"`
	Errors         []string              `json:"errors"`
	Usage          *tokens               `json:"usage"`
	ModelUsage     map[string]modelUsage `json:"modelUsage"`
	Cost           float64               `json:"total_cost_usd"`
	Denials        []denial              `json:"permission_denials"`
}

type request struct {
	Subtype string          `json:"subtype"`
	Server  string          `json:"server_name"`
	Message json.RawMessage `json:"message"`
}

type controlResponse struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Error     string `json:"error"`
}

type mcpServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

type rateLimit struct {
	Status   string  `json:"status"`
	ResetsAt float64 `json:"resetsAt"` // seconds since 1970
}

type said struct {
	ID      string  `json:"id"`
	Content []block `json:"content"`
	Usage   *tokens `json:"usage"`
}

type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// A streamEvent is one of the service's own, as it streams a message.
type streamEvent struct {
	Type    string  `json:"type"`
	Message *said   `json:"message"`
	Usage   *tokens `json:"usage"`
	Delta   struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"delta"`
}

type denial struct {
	Tool string `json:"tool_name"`
}

// tokens is usage as the service writes it.
type tokens struct {
	Input      count `json:"input_tokens"`
	CacheWrite count `json:"cache_creation_input_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	Output     count `json:"output_tokens"`
}

func (u tokens) usage() ports.Usage {
	return ports.Usage{Input: int64(u.Input + u.CacheWrite), Cached: int64(u.CacheRead), Output: int64(u.Output)}
}

// modelUsage is what all of a session used of a model, side calls and nested
// agents included.
type modelUsage struct {
	Input      count `json:"inputTokens"`
	CacheWrite count `json:"cacheCreationInputTokens"`
	CacheRead  count `json:"cacheReadInputTokens"`
	Output     count `json:"outputTokens"`
}

// A count is a number of tokens, however it is written; what is none is 0.
type count int64

func (c *count) UnmarshalJSON(doc []byte) error {
	var text string
	if json.Unmarshal(doc, &text) != nil {
		text = string(doc)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 1<<53 {
		n = 0
	}
	*c = count(n)
	return nil
}

// An apiError is the class of a failure of the service, "" if it is written in
// another way.
type apiError string

func (e *apiError) UnmarshalJSON(doc []byte) error {
	var text string
	_ = json.Unmarshal(doc, &text)
	*e = apiError(text)
	return nil
}

// A flag is a boolean that has to be there: absent, or written in another way, it
// is neither.
type flag string

func (f *flag) UnmarshalJSON(doc []byte) error {
	*f = flag(doc)
	return nil
}

func (f flag) isFalse() bool { return f == "false" }

// fields are the keys of what is written to the program.
type fields map[string]any

// userMessage is the line by which a turn begins.
func userMessage(text string) fields {
	return fields{
		"type": "user", "message": fields{"role": "user", "content": text},
		"parent_tool_use_id": nil, "session_id": "",
	}
}

// control is a request of ours.
func control(id string, request fields) fields {
	return fields{"type": "control_request", "request_id": id, "request": request}
}

// mcpReply answers an mcp_message; a notification, to which no response is due,
// is answered as well.
func mcpReply(id string, response json.RawMessage) fields {
	if response == nil {
		response = json.RawMessage(`{"jsonrpc":"2.0","result":{}}`)
	}
	return fields{"type": "control_response", "response": fields{
		"subtype": "success", "request_id": id, "response": fields{"mcp_response": response},
	}}
}

// refusal answers a request that is not served.
func refusal(id, subtype string) fields {
	return fields{"type": "control_response", "response": fields{
		"subtype": "error", "request_id": id, "error": "AGL serves no " + subtype,
	}}
}
