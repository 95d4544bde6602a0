package claude

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// server is the name under which the role's tools are served. The model sees
// them as mcp__agl__NAME.
const server = "agl"

func toolName(name string) string { return "mcp__" + server + "__" + name }

// The program's own tools, by what they can do.
var (
	reading    = []string{"Glob", "Grep", "Read"}
	writing    = []string{"Edit", "NotebookEdit", "Write"}
	networking = []string{"WebFetch", "WebSearch"}
	shell      = []string{"Bash"}
)

// ownTools returns the program's own tools that a role may use. The program has
// no sandbox, so that a shell could do whatever is denied: with any restriction
// there is none.
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
	slices.Sort(tools)
	return tools
}

// arguments returns the command line of a turn, without the program. Nothing of
// the request is on it.
func arguments(task ports.Task, session string) []string {
	own := ownTools(task.Restrictions)
	args := []string{
		"-p",
		"--input-format=stream-json", "--output-format=stream-json", "--verbose", "--include-partial-messages",
		// Nothing in the repository, above it, or at home configures the agent.
		"--setting-sources=", "--strict-mcp-config", "--disable-slash-commands",
		"--permission-mode=dontAsk", "--tools=" + strings.Join(own, ","),
		"--allowedTools=" + strings.Join(append(own, "mcp__"+server), ","),
		"--no-session-persistence", "--session-id=" + session,
	}
	if name := task.Model.Name(); name != "" {
		args = append(args, "--model="+name)
	}
	return args
}

// outer are variables by which one program of the vendor's speaks to another
// that it has started: an agent of AGL's is nobody's child.
var outer = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN"}

// environ returns the whole environment of the program.
func (a *Agent) environ(add ...string) []string {
	return a.prog.Environ(append([]string{
		"CLAUDE_CODE_MAX_RETRIES=" + fmt.Sprint(a.retries()),
		// "@path" in a prompt is text, and the files of the repository that speak
		// to agents, its git log and what was remembered earlier are not sent.
		"CLAUDE_CODE_DISABLE_ATTACHMENTS=1",
		"CLAUDE_CODE_DISABLE_FILE_MENTIONS=1",
		"CLAUDE_CODE_DISABLE_CLAUDE_MDS=1",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
		// A turn ends when its work has.
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_MCP_TASK_BACKGROUND=1",
		// A tool may wait for a person, and what it answers is read whole.
		"MCP_TOOL_TIMEOUT=2000000000",
		"MAX_MCP_OUTPUT_TOKENS=1000000",
		"DISABLE_AUTOUPDATER=1",
	}, add...)...)
}

// newSession returns a random UUID, which is what the program takes.
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
