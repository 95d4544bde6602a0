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

// BenchmarkTurn measures what a turn costs beyond the vendor's program, which
// answers at once: it is run by the adapter, and bare on the same input, in turns.
// It is a shell, whose own time moves more than what is looked for, so that the
// medians are compared.
func BenchmarkTurn(b *testing.B) {
	for name, says := range map[string][]string{ // a line for each that it reads
		"claude":                           {setUp, done},
		"claude, with ten calls of a tool": slices.Concat([]string{setUp}, slices.Repeat([]string{calling}, 10), []string{done}),
	} {
		b.Run(name, func(b *testing.B) {
			dir, program, input := b.TempDir(), filepath.Join(b.TempDir(), "claude"), filepath.Join(b.TempDir(), "input")
			env := vendortest.ClaudeEnv(b, "")
			agent := claude.New(claude.Options{Program: program, Env: env})
			task := ports.Task{
				Role: "worker", Namespace: ports.Base, Ordinal: 1, Model: "claude/haiku", Instructions: "hi", Dir: dir, Env: []string{ports.EnvStep + "=bench"},
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
			gittest.Program(b, program, standIn(says, `printf '%s\n' "$LINE" >>`+input+"\n"))
			turn()
			read, err := os.ReadFile(input)
			require.NoError(b, err)
			gittest.Program(b, program, standIn(says, ""))

			var ours, bares []time.Duration
			for b.Loop() {
				ours = append(ours, turn())
				start := time.Now()
				exit, err := (&proc.Cmd{Args: []string{program}, Dir: dir, Env: env, Stdin: bytes.NewReader(read), Stdout: io.Discard, Stderr: io.Discard}).Run(b.Context())
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

// standIn is a shell's script that says a line for each that it reads, having
// done something with that.
func standIn(says []string, do string) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, line := range says {
		b.WriteString("read -r LINE\n" + do + "echo '" + line + "'\n")
	}
	return b.String()
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
