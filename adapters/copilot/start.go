package copilot

import (
	"strconv"
	"strings"

	"example.com/agl/ports"
)

// arguments are the command line of the program, without itself. Nothing of the
// request is on it.
var arguments = []string{"--headless", "--stdio", "--no-auto-update", "--log-level=none"}

// ids is what the ids of our calls begin with.
const ids = "agl-"

// outer are variables that would let something else than AGL decide what an agent
// may do, or is told.
var outer = []string{"COPILOT_ALLOW_ALL", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS"}

// environ returns the whole environment of the program.
func (a *Agent) environ(model ports.Model, add ...string) []string {
	add = append([]string{"COPILOT_AUTO_UPDATE=false"}, add...)
	if name := model.Name(); name != "" { // a provider of the user's own has to have one
		add = append(add, "COPILOT_MODEL="+name)
	}
	return a.program.Environ(add...)
}

// valueIn returns a variable's value in an environment; the last one wins.
func valueIn(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if n, v, _ := strings.Cut(entry, "="); n == name {
			value = v
		}
	}
	return value
}

// providerOf returns the provider of models that the program's own variables
// name, or nil if that is GitHub. On its command line the program reads them
// itself; on its channel it has to be told.
func providerOf(env []string) fields {
	const prefix = "COPILOT_PROVIDER_"
	if valueIn(env, prefix+"BASE_URL") == "" {
		return nil
	}
	provider := fields{"type": "openai"}
	for name, key := range map[string]string{
		"TYPE": "type", "BASE_URL": "baseUrl", "API_KEY": "apiKey", "API_KEY_COMMAND": "apiKeyCommand", "BEARER_TOKEN": "bearerToken",
		"WIRE_API": "wireApi", "TRANSPORT": "transport", "MODEL_ID": "modelId", "WIRE_MODEL": "wireModel",
	} {
		if value := valueIn(env, prefix+name); value != "" {
			provider[key] = value
		}
	}
	for name, key := range map[string]string{"MAX_PROMPT_TOKENS": "maxPromptTokens", "MAX_OUTPUT_TOKENS": "maxOutputTokens"} {
		if n, err := strconv.Atoi(valueIn(env, prefix+name)); err == nil && n > 0 {
			provider[key] = n
		}
	}
	if version := valueIn(env, prefix+"AZURE_API_VERSION"); version != "" {
		provider["azure"] = fields{"apiVersion": version}
	}
	headers := map[string]string{}
	for line := range strings.SplitSeq(strings.ReplaceAll(valueIn(env, prefix+"HEADERS"), `\n`, "\n"), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if len(headers) > 0 {
		provider["headers"] = headers
	}
	return provider
}
