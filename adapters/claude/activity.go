package claude

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"example.com/agl/ports"
)

func activity(text string) ports.AgentEvent {
	return ports.AgentEvent{Kind: ports.AgentActivity, Text: ports.Printable(text)}
}

// activitySize is how long an activity may be, in bytes.
const activitySize = 300

// describe says what the agent does: the tool's name as the vendor has it, and
// its first argument, without the path of the checkout.
func describe(call block, dir string) string {
	name := strings.TrimPrefix(call.Name, toolName(""))
	arg := firstArgument(call.Input)
	if dir != "" {
		arg = strings.ReplaceAll(arg, dir+string(filepath.Separator), "")
	}
	if arg != "" {
		name += " " + arg
	}
	return ports.Clip(ports.Printable(name), activitySize)
}

// firstArgument returns the first value of an object, a string as it is.
func firstArgument(input json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(input)))
	for range 2 { // the brace, and the first name
		if _, err := dec.Token(); err != nil {
			return ""
		}
	}
	var value json.RawMessage
	if dec.Decode(&value) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
