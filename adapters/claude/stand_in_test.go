//go:build unix

package claude_test

import (
	"cmp"
	"path/filepath"
	"testing"
	"time"

	"example.com/agl/adapters/claude"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// What a stand-in for the program says.
const (
	said    = `{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"all done"}],"usage":{"input_tokens":10,"output_tokens":2}}}`
	success = `{"type":"result","subtype":"success","is_error":false,"result":"all done","terminal_reason":"completed",` +
		`"usage":{"input_tokens":10,"output_tokens":2},"total_cost_usd":0.5,"session_id":"s1"}`
)

// standIn is a program that speaks the channel as far as a test needs: it is set
// up, takes the request, and then does what a shell's script says. PROMPT is the
// line of the request, and OUT a folder for what it finds out.
func standIn(t testing.TB, opts claude.Options, body string) (agent ports.Agent, out string) {
	t.Helper()
	out = t.TempDir()
	opts.Program = filepath.Join(out, "claude")
	opts.Env = append(vendortest.ClaudeEnv(t, "http://127.0.0.1:1"), "OUT="+out)
	opts.Grace = cmp.Or(opts.Grace, time.Second)
	script := "#!/bin/sh\nread -r INIT\n" + say(`{"type":"control_response","response":{"subtype":"success","request_id":"agl-initialize"}}`) + "read -r PROMPT\n" + body
	gittest.Program(t, opts.Program, script)
	return claude.New(opts), out
}

// say is the command of a shell that writes a line.
func say(line string) string { return "cat <<'END'\n" + line + "\nEND\n" }
