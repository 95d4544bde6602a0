//go:build unix

package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/claude"
	"example.com/agl/adapters/codex"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/proc"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// What a stand-in for Claude Code says: it is set up, has its tool called if it is
// to, and is done.
const (
	setUp   = `{"type":"control_response","response":{"subtype":"success","request_id":"agl-initialize"}}`
	calling = `{"type":"control_request","request_id":"1","request":{"subtype":"mcp_message","server_name":"agl","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{}}}}}`
	done    = `{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":10,"output_tokens":2}}`
)

// What one for Codex says: it is there, and has a thread and a turn, has its tool
// called if it is to, and is done. Then it ends when its input does.
const (
	there    = `{"id":1,"result":{"userAgent":"codex"}}`
	begun    = `{"id":2,"result":{"thread":{"id":"T"},"sandbox":{"type":"readOnly","networkAccess":false}}}`
	turning  = `{"id":3,"result":{"turn":{"id":"U","status":"inProgress"}}}`
	asking   = `{"id":7,"method":"item/tool/call","params":{"threadId":"T","turnId":"U","callId":"C","tool":"ask","arguments":{}}}`
	finished = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","items":[],"status":"completed","error":null}}}`
)

// asked is what it does when it is asked for its user's configuration, which is
// once, before the first turn.
const asked = `case "$LINE" in *config/read*)
echo '{"id":2,"result":{"config":{}}}'; read -r LINE; echo '{"id":3,"result":{"account":{},"requiresOpenaiAuth":true}}'; exit;;
esac
`

// BenchmarkTurn measures what a turn costs beyond the vendor's program, which
// answers at once: it is run by the adapter, and bare on the same input, in turns.
// It is a shell, whose own time moves more than what is looked for, so that the
// medians are compared.
func BenchmarkTurn(b *testing.B) {
	newClaude := func(program string, env []string) ports.Agent {
		return claude.New(claude.Options{Program: program, Env: env})
	}
	newCodex := func(program string, env []string) ports.Agent {
		return codex.New(codex.Options{Program: program, Env: env})
	}
	ofClaude := func(calls int) []string {
		return slices.Concat([]string{setUp}, slices.Repeat([]string{calling}, calls), []string{done})
	}
	ofCodex := func(calls int) []string {
		then := append(slices.Repeat([]string{asking}, calls), finished)
		then[0] = turning + "\n" + then[0] // nothing is read between them
		return slices.Concat([]string{there, "", begun}, then, []string{""})
	}
	for name, vendor := range map[string]struct {
		agent func(program string, env []string) ports.Agent
		env   []string
		says  []string // a line for each that it reads, or none, or several
	}{
		"claude":                           {newClaude, vendortest.ClaudeEnv(b, ""), ofClaude(0)},
		"claude, with ten calls of a tool": {newClaude, vendortest.ClaudeEnv(b, ""), ofClaude(10)},
		"codex":                            {newCodex, vendortest.CodexEnv(b, ""), ofCodex(0)},
		"codex, with ten calls of a tool":  {newCodex, vendortest.CodexEnv(b, ""), ofCodex(10)},
	} {
		b.Run(name, func(b *testing.B) {
			dir, program, input := b.TempDir(), filepath.Join(b.TempDir(), "program"), filepath.Join(b.TempDir(), "input")
			agent := vendor.agent(program, vendor.env)
			task := ports.Task{
				Role: "worker", Namespace: ports.Base, Ordinal: 1, Model: "x/x", Instructions: "hi", Dir: dir, Env: []string{ports.EnvStep + "=bench"},
				Tools: []ports.Tool{{Name: "ask", Schema: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, json.RawMessage) ports.ToolResult {
					return ports.ToolResult{Text: "yes"}
				}}},
			}
			turn := func() time.Duration {
				start := time.Now()
				_, err := agent.Run(b.Context(), task, func(ports.AgentEvent) {})
				require.NoError(b, err)
				return time.Since(start)
			}
			gittest.Program(b, program, standIn(vendor.says, ""))
			turn() // what is asked once has been
			gittest.Program(b, program, standIn(vendor.says, `printf '%s\n' "$LINE" >>`+input+"\n"))
			turn()
			read, err := os.ReadFile(input)
			require.NoError(b, err)
			gittest.Program(b, program, standIn(vendor.says, ""))

			var ours, bares []time.Duration
			for b.Loop() {
				ours = append(ours, turn())
				start := time.Now()
				exit, err := (&proc.Cmd{Args: []string{program}, Dir: dir, Env: vendor.env, Stdin: bytes.NewReader(read), Stdout: io.Discard, Stderr: io.Discard}).Run(b.Context())
				bares = append(bares, time.Since(start))
				require.NoError(b, err)
				require.True(b, exit.OK(), exit)
			}
			our, bare := median(ours), median(bares)
			b.ReportMetric(float64((our-bare).Microseconds())/1e3, "ms-beyond")
			b.ReportMetric(float64(our)/float64(bare), "×bare")
		})
	}
}

// standIn is a shell's script that says something for each line that it reads,
// having done something with that.
func standIn(says []string, do string) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, said := range says {
		b.WriteString("read -r LINE\n" + asked + do)
		for line := range strings.SplitSeq(said, "\n") {
			if line != "" {
				b.WriteString("echo '" + line + "'\n")
			}
		}
	}
	b.WriteString("exit 0\n")
	return b.String()
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
