package codex

import (
	"maps"
	"runtime"
	"slices"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// off are the features that a turn of AGL's is without: what the repository or
// the user would configure the agent by, what asks other hosts, what outlives a
// turn, and nested agents, which would not be held to the role's tools. A version
// that does not know one passes over it.
var off = []string{
	"hooks", "plugins", "remote_plugin", "apps", "skill_search", "tool_suggest", "memories",
	"shell_snapshot", "multi_agent", "multi_agent_v2", "goals", "sleep_tool",
	"unbounded_connection_retries", // it would wait for a network for ever
}

// arguments returns the command line, without the program. Nothing of the
// request is on it.
func arguments() []string {
	args := []string{"app-server", "-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"}
	for _, feature := range off {
		args = append(args, "-c", "features."+feature+"=false")
	}
	return args
}

// outer are variables by which one program of the vendor's speaks to another
// that it has started.
var outer = []string{
	"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_CI", "CODEX_VERSION", "CODEX_SANDBOX",
	"CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
}

// secrets are variables that hold keys of the vendor's: commands have none.
var secrets = []string{"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"}

// enforced are the restrictions that are held to on this system.
func enforced() []ports.Restriction {
	all := []ports.Restriction{ports.NoShell, ports.NoNetwork, ports.NoVCS, ports.NoWrite}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return all[:1] // there the sandbox has to be set up first
	}
	return all
}

// The kinds of sandboxes, as a turn is told and as the program tells of them.
const (
	readOnly       = "readOnly"
	workspaceWrite = "workspaceWrite"
	unconfined     = "dangerFullAccess"
)

// sandbox returns what holds a role to its restrictions. In a sandbox no command
// reaches the network, and none writes to the repository beside the checkout,
// where version control keeps what it has.
func sandbox(restrictions []ports.Restriction, r *room) object {
	switch {
	case slices.Contains(restrictions, ports.NoWrite):
		return object{"type": readOnly, "networkAccess": false}
	case len(restrictions) > 0:
		return object{
			"type": workspaceWrite, "writableRoots": []string{r.tmp}, "networkAccess": false, "excludeTmpdirEnvVar": true, "excludeSlashTmp": true,
		}
	default:
		return object{"type": unconfined}
	}
}

// thread returns the params of thread/start. Every thread begins in a sandbox
// that only reads: by one that begins in a wider one, Codex has the checkout trusted, and
// takes what the repository configures.
func (t *turn) thread(s *service) object {
	features := object{}
	for _, feature := range off { // these stand in the place of those on the command line
		features[feature] = false
	}
	denies := func(r ports.Restriction) bool { return slices.Contains(t.task.Restrictions, r) }
	config := object{
		// Nothing in the repository, above it, or at home configures the agent.
		"project_doc_max_bytes": 0,
		"skills":                object{"include_instructions": false},
		"mcp_servers":           object{},
		"allow_login_shell":     false,
		"shell_environment_policy": object{
			"inherit": "all", "exclude": append(slices.Clone(secrets), s.Keys...),
		},
		"features": features,
	}
	maps.Copy(config, s.Config)
	if denies(ports.NoNetwork) {
		config["web_search"] = "disabled"
	}
	if denies(ports.NoShell) {
		features["shell_tool"], features["unified_exec"] = false, false
	}
	params := object{
		"cwd": t.task.Dir, "approvalPolicy": "never", "sandbox": "read-only", "ephemeral": true,
		"developerInstructions": vendorprog.Situation(t.task.Restrictions) + t.standing, "config": config, "dynamicTools": t.dynamicTools(),
	}
	if name := t.task.Model.Name(); name != "" {
		params["model"] = name
	}
	return params
}

// dynamicTools describes the role's tools. Codex passes them to its model as they
// are, aside from what its service does not read in a schema (lengths, patterns),
// and not as strict ones: no property has to be made required for it.
func (t *turn) dynamicTools() []object {
	list := make([]object, len(t.task.Tools))
	for i, tool := range t.task.Tools {
		list[i] = object{"type": "function", "name": tool.Name, "description": tool.Doc, "inputSchema": tool.Schema}
	}
	return list
}
