//go:build unix

package codex_test

import (
	"cmp"
	"path/filepath"
	"testing"
	"time"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/gittest"
	"example.com/agl/internal/vendortest"
	"example.com/agl/ports"
)

// What a stand-in for the program says.
const (
	said = `{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"agentMessage","id":"m1","text":"all done"}}}`
	used = `{"method":"thread/tokenUsage/updated","params":{"threadId":"T","turnId":"U","tokenUsage":` +
		`{"total":{"inputTokens":30,"cachedInputTokens":20,"outputTokens":2,"reasoningOutputTokens":1},"last":{}}}}`
	success = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","items":[],"status":"completed","error":null}}}`
)

// failed is the end of a turn that failed, with an error's class.
func failed(message, info string) string {
	return `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"` + message + `","codexErrorInfo":` + info + `}}}}`
}

// standIn is a program that speaks the channel as far as a test needs: asked for
// its configuration, it has none; otherwise it begins a thread and a turn, and
// then does what a shell's script says. THREAD and TURN are the lines of these
// requests, and OUT a folder for what it finds out; asked in it has a line for each
// time that it was asked.
func standIn(t testing.TB, opts codex.Options, body string) (agent ports.Agent, out string) {
	t.Helper()
	return standInOn(t, opts, `{"id":2,"result":{"thread":{"id":"T"},"sandbox":{"type":"readOnly","networkAccess":false}}}`, body)
}

// standInOn is a stand-in with an answer of its own to thread/start.
func standInOn(t testing.TB, opts codex.Options, started, body string) (agent ports.Agent, out string) {
	t.Helper()
	out = t.TempDir()
	opts.Program = filepath.Join(out, "codex")
	if opts.Env == nil {
		opts.Env = vendortest.CodexEnv(t, "http://127.0.0.1:1")
	}
	opts.Env = append(opts.Env, "OUT="+out)
	opts.Grace = cmp.Or(opts.Grace, time.Second)
	gittest.Program(t, opts.Program, "#!/bin/sh\nread -r INIT\n"+say(`{"id":1,"result":{"userAgent":"codex"}}`)+"read -r INITIALIZED\nread -r THREAD\n"+
		"case \"$THREAD\" in *config/read*)\necho >>$OUT/asked\n"+say(`{"id":2,"result":{"config":{"model_provider":null}}}`)+"read -r ACCOUNT\n"+
		say(`{"id":3,"result":{"account":null,"requiresOpenaiAuth":true}}`)+"exit;;\nesac\n"+
		say(started)+"read -r TURN\n"+say(`{"id":3,"result":{"turn":{"id":"U","status":"inProgress"}}}`)+body)
	return codex.New(opts), out
}

// say is the command of a shell that writes a line.
func say(line string) string { return "cat <<'END'\n" + line + "\nEND\n" }
