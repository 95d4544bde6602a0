package copilot

import (
	"encoding/json"
	"slices"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// fields are the members of what is written to the program.
type fields map[string]any

// The program's own tools, by what they can do. Which of them there are depends
// on the model.
var (
	reading    = []string{"glob", "grep", "rg", "view"}
	writing    = []string{"apply_patch", "create", "edit", "str_replace_editor"}
	networking = []string{"web_fetch", "web_search"}
	shell      = []string{"bash", "list_bash", "list_powershell", "powershell", "read_bash", "read_powershell", "stop_bash", "stop_powershell", "write_bash", "write_powershell"}
)

// ownTools returns the program's own tools that a role may use. The program's
// sandbox is not there on every system, and a shell without one could do whatever
// is denied: with any restriction there is none. Other agents, which the program
// could start, have tools of their own.
func ownTools(restrictions []ports.Restriction) []string {
	tools := slices.Clone(reading)
	if !slices.Contains(restrictions, ports.NoWrite) {
		tools = append(tools, writing...)
	}
	if !slices.Contains(restrictions, ports.NoNetwork) {
		tools = append(tools, networking...)
	}
	if len(restrictions) == 0 {
		tools = append(tools, shell...)
	}
	return tools
}

// words say in words what the restrictions enforce, and where the agent is.
func words(task ports.Task) string {
	return vendorprog.Situation(task.Restrictions) +
		"\nWrite files in your working directory alone. Wait for the commands that you start: those that still run when you have said your last are ended."
}

// creation is what a session is made of. standing is what the repository says to
// agents, if anything; config is an empty folder: the
// program's usual one has settings, hooks, servers of tools, skills and agents
// of the user's, which no member turns off.
func creation(task ports.Task, standing, config string, provider fields) fields {
	available := make([]string, 0, 32)
	for _, name := range ownTools(task.Restrictions) {
		available = append(available, "builtin:"+name)
	}
	tools := make([]fields, len(task.Tools))
	for i, tool := range task.Tools {
		available = append(available, "custom:"+tool.Name)
		schema := tool.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		tools[i] = fields{
			"name": tool.Name, "description": tool.Doc, "parameters": schema,
			"skipPermission": true, "overridesBuiltInTool": true, "defer": "never",
		}
	}
	create := fields{
		"clientName":       "agl",
		"workingDirectory": task.Dir,
		"configDir":        config,
		"streaming":        true,
		"envValueMode":     "direct",

		"tools":                tools,
		"availableTools":       available,
		"toolFilterPrecedence": "excluded",
		"toolSearch":           fields{"enabled": false}, // tools are in each request
		"largeOutput":          fields{"enabled": false}, // what a tool answers is read whole
		"requestPermission":    true,
		"systemMessage":        fields{"mode": "append", "content": words(task) + standing},

		// Nothing in the repository, above it, or at home configures the agent, and
		// nothing is remembered.
		"skipCustomInstructions":             true,
		"enableConfigDiscovery":              false,
		"enableOnDemandInstructionDiscovery": false,
		"enableFileHooks":                    false,
		"enableSkills":                       false,
		"enableHostGitOperations":            false,
		"enableSessionStore":                 false,
		"enableSessionTelemetry":             false,
		"skipEmbeddingRetrieval":             true,
		"embeddingCacheStorage":              "in-memory",
		"mcpOAuthTokenStorage":               "in-memory",
		"mcpServers":                         fields{},
		"customAgentsLocalOnly":              true,
		"coauthorEnabled":                    false,
		"manageScheduleEnabled":              false,
		"memory":                             fields{"enabled": false},
		"infiniteSessions":                   fields{"enabled": false},
		"remoteSession":                      "off",
	}
	if name := task.Model.Name(); name != "" {
		create["model"] = name
	}
	if provider != nil {
		create["provider"] = provider
	}
	return create
}
