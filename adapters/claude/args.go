package claude

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/agl/internal/proc"
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

// find returns the path of the program. It is looked for on the PATH that it
// will have itself.
func (a *Agent) find() (string, error) {
	name := a.program()
	if a.opts.Env == nil || filepath.Base(name) != name {
		return exec.LookPath(name)
	}
	path := ""
	for _, entry := range a.opts.Env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// environ returns the whole environment of the program.
func (a *Agent) environ(add ...string) []string {
	base := a.opts.Env
	if base == nil {
		base = os.Environ()
	}
	base = slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(outer, name)
	})
	return proc.Environ(base, append([]string{
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

// words say in words what the restrictions enforce, and where the agent is.
func words(task ports.Task) string {
	lines := []string{"You work unattended, in the git worktree that is your working directory. Nobody reads what you write while you work, and nobody can approve anything."}
	for _, r := range task.Restrictions {
		switch r {
		case ports.NoWrite:
			lines = append(lines, "You are held to reading: change no file.")
		case ports.NoShell:
			lines = append(lines, "Run no commands.")
		case ports.NoNetwork:
			lines = append(lines, "Reach no network.")
		case ports.NoVCS:
			lines = append(lines, "Leave version control alone: no commits, no branches, no stashes.")
		}
	}
	return strings.Join(lines, "\n")
}

// newSession returns a random UUID, which is what the program takes.
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
