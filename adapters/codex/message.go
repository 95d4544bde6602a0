package codex

import (
	"encoding/json"
	"strconv"
)

// A note is a notification of the program's.
type note struct {
	method string
	params params
}

// params are those of any notification that is read here: the parts of it, and
// what is not there is zero.
type params struct {
	ThreadID  string      `json:"threadId"`
	Turn      turnState   `json:"turn"`
	Item      item        `json:"item"`
	ItemID    string      `json:"itemId"`
	Delta     string      `json:"delta"`
	Usage     threadUsage `json:"tokenUsage"`
	Limits    rateLimits  `json:"rateLimits"`
	Error     *turnError  `json:"error"`
	WillRetry bool        `json:"willRetry"`
	Settings  struct {
		Sandbox *confinement `json:"sandboxPolicy"`
	} `json:"threadSettings"`
}

// A turnState is a turn as the program tells of it.
type turnState struct {
	ID     string     `json:"id"`
	Status string     `json:"status"` // "completed", "interrupted", "failed"
	Error  *turnError `json:"error"`
}

type turnError struct {
	Message string    `json:"message"`
	Info    errorInfo `json:"codexErrorInfo"`
	Details string    `json:"additionalDetails"`
}

// An errorInfo is the class of a failure, and the status of HTTP that it came
// with, if it did: "name", or {"name":{"httpStatusCode":n}}.
type errorInfo struct {
	class  string
	status int
}

func (e *errorInfo) UnmarshalJSON(doc []byte) error {
	*e = errorInfo{}
	if json.Unmarshal(doc, &e.class) == nil {
		return nil
	}
	var classes map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	_ = json.Unmarshal(doc, &classes)
	for class, more := range classes {
		e.class, e.status = class, more.Status
	}
	return nil
}

// An item is a part of a turn: a text, a command, a change of files, a call.
type item struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Text    string `json:"text"`    // agentMessage
	Status  string `json:"status"`  // of what is done: "completed", "failed", "declined"
	Command string `json:"command"` // commandExecution
	Actions []struct {
		Command string `json:"command"`
	} `json:"commandActions"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"` // fileChange
	Server    string          `json:"server"`    // mcpToolCall
	Tool      string          `json:"tool"`      // dynamicToolCall, mcpToolCall
	Arguments json.RawMessage `json:"arguments"` // of these
	Query     string          `json:"query"`     // webSearch
	Path      string          `json:"path"`      // imageView
}

// threadUsage is what a thread has used, by the program's own sum.
type threadUsage struct {
	Total *tokens `json:"total"`
}

type tokens struct {
	Input     count `json:"inputTokens"` // with those from the cache
	Cached    count `json:"cachedInputTokens"`
	Output    count `json:"outputTokens"` // with those of reasoning
	Reasoning count `json:"reasoningOutputTokens"`
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

// rateLimits are the windows in which the account may use so much.
type rateLimits struct {
	Primary   *window `json:"primary"`
	Secondary *window `json:"secondary"`
}

type window struct {
	Used     float64 `json:"usedPercent"`
	ResetsAt float64 `json:"resetsAt"` // seconds since 1970
}

// begun is the answer to thread/start.
type begun struct {
	Thread struct {
		ID string `json:"id"`
	} `json:"thread"`
	Sandbox confinement `json:"sandbox"`
}

// A confinement is a sandbox as the program tells of it.
type confinement struct {
	Type    string `json:"type"`
	Network bool   `json:"networkAccess"`
}
