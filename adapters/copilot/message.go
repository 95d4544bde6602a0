package copilot

import "encoding/json"

// An event is what the program tells of a session. What is not there is zero.
type event struct {
	Type  string `json:"type"`
	Agent string `json:"agentId"` // the nested agent that it is of; "" for the turn's own
	Data  data

	Session string `json:"-"` // which tells it
}

// data are the parts of an event that are read here, of any kind.
type data struct {
	RequestID string `json:"requestId"` // external_tool.*, permission.requested

	// external_tool.requested, tool.execution_*
	CallID    string          `json:"toolCallId"`
	ToolName  string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`

	// permission.requested
	Permission permission `json:"permissionRequest"`

	// assistant.message, assistant.message_delta
	MessageID string `json:"messageId"`
	Content   string `json:"content"`
	Delta     string `json:"deltaContent"`

	usage             // assistant.usage
	Compaction *usage `json:"compactionTokensUsed"` // session.compaction_complete

	// model.call_failure, session.error
	ErrorType    string `json:"errorType"`
	ErrorCode    string `json:"errorCode"`
	Message      string `json:"message"`
	ErrorMessage string `json:"errorMessage"`
	FailureKind  string `json:"failureKind"`
	Status       int    `json:"statusCode"`
	Attempt      int    `json:"retryAttempt"`

	// session.info
	InfoType string `json:"infoType"`

	// assistant.idle, session.idle
	Aborted bool `json:"aborted"`
}

// A permission is what the agent asks for.
type permission struct {
	Kind     string `json:"kind"`
	File     string `json:"fileName"`
	Resolved string `json:"resolvedPath"`
	Edits    []edit `json:"fileEdits"`
}

// An edit is what becomes of a file, which may be moved by it.
type edit struct {
	Before struct {
		Path string `json:"path"`
	} `json:"before"`
	After struct {
		Path string `json:"path"`
	} `json:"after"`
}

// A usage is what one request to the model used. All of the input, also what was
// read from a cache, is in Input.
type usage struct {
	Input     *int64 `json:"inputTokens"` // nil: it was not told
	Output    *int64 `json:"outputTokens"`
	CacheRead int64  `json:"cacheReadTokens"`
	Reasoning int64  `json:"reasoningTokens"`
	Finish    string `json:"finishReason"`
	Filtered  bool   `json:"contentFilterTriggered"`
}

// taken are the kinds of events that are read. The others are many and may be
// large: the whole conversation is among them after each request.
var taken = map[string]bool{
	"external_tool.requested": true, "external_tool.completed": true,
	"tool.execution_start": true, "tool.execution_complete": true, "permission.requested": true,
	"assistant.message": true, "assistant.message_delta": true, "assistant.usage": true, "model.call_failure": true,
	"session.compaction_start": true, "session.compaction_complete": true, "session.error": true, "session.info": true, "assistant.idle": true, "session.idle": true,
}

// parse reads a notification. A part of it that is written in another way is
// passed over: the kinds of events there are grow with each version.
func parse(params json.RawMessage) event {
	var envelope struct {
		Session string `json:"sessionId"`
		Event   struct {
			event
			Data json.RawMessage `json:"data"`
		} `json:"event"`
	}
	_ = json.Unmarshal(params, &envelope)
	e := envelope.Event.event
	e.Session = envelope.Session
	if taken[e.Type] {
		_ = json.Unmarshal(envelope.Event.Data, &e.Data)
	}
	return e
}
