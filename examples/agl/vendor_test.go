package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A vendor is a stand-in for Claude Code. Its variables are the operator's only
// while it is asked for its version and login, so what it does is in its name.
type vendor struct {
	version string
	login   string
	turn    func() error
}

// vendors are the programs "claude-NAME" of the scripts.
var vendors = map[string]vendor{
	"good":    {"2.1.332 (Claude Code)", `{"loggedIn":true}`, knock},
	"new":     {"99.0.0 (Claude Code)", `{"loggedIn":true}`, knock},
	"old":     {"2.1.196 (Claude Code)", `{"loggedIn":true}`, knock},
	"odd":     {"2.1.332 \x1b[31m\u202ered", "\x1b[2J\u202e", func() error { return errors.New("\x1b[31mno \u202ehope") }},
	"nobody":  {"2.1.332 (Claude Code)", `{"loggedIn":false}`, knock},
	"dumb":    {"2.1.332 (Claude Code)", `{"loggedIn":true}`, func() error { return errors.New("unknown option --input-format") }},
	"hanging": {"2.1.332 (Claude Code)", `{"loggedIn":true}`, hang},
	"frozen":  {"", "", nil},
}

func (v vendor) main() {
	var err error
	switch args := os.Args[1:]; {
	case v.turn == nil:
		err = hang()
	case args[0] == "--version":
		fmt.Println(v.version)
	case slices.Contains(args, "auth"):
		fmt.Println(v.login)
	default:
		err = errors.Join(alone(), v.turn())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// alone says whether the environment has anything of the operator's.
func alone() error {
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL", "AGL_CLAUDE", "WORK"} {
		if value, ok := os.LookupEnv(name); ok {
			return fmt.Errorf("%s=%s got through", name, value)
		}
	}
	if key := os.Getenv("ANTHROPIC_API_KEY"); key != "fake-key" {
		return fmt.Errorf("the key is %q", key)
	}
	return nil
}

// hang never ends by itself. Where the PATH begins, it says that it runs.
func hang() error {
	first := filepath.SplitList(os.Getenv("PATH"))[0]
	temp := filepath.Join(first, "new")
	if err := os.WriteFile(temp, []byte(strconv.Itoa(os.Getpid())), 0o600); err == nil {
		_ = os.Rename(temp, filepath.Join(first, "hangs"))
	}
	select {}
}

// knock is a turn as the program has it: it asks its service what to do, calls
// the tool, and tells the service what that has answered.
func knock() error {
	in := bufio.NewReader(os.Stdin)
	read := func(v any) error {
		line, err := in.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, v)
		}
		return err
	}
	if err := read(&struct{}{}); err != nil { // initialize
		return err
	}
	fmt.Println(`{"type":"control_response","response":{"subtype":"success","request_id":"agl-initialize"}}`)
	if err := read(&struct{}{}); err != nil { // the request
		return err
	}
	fmt.Println(`{"type":"system","subtype":"init","session_id":"s","tools":["mcp__agl__knock"]}`)
	user := map[string]any{"role": "user", "content": "knock"}
	use, err := request(user)
	if err != nil {
		return err
	}
	fmt.Printf(`{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message","server_name":"agl","message":`+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}}}`+"\n", strings.TrimPrefix(use.Name, "mcp__agl__"), use.Input)
	var reply struct {
		Response struct {
			Response struct {
				Reply struct {
					Result struct {
						Content json.RawMessage `json:"content"`
					} `json:"result"`
				} `json:"mcp_response"`
			} `json:"response"`
		} `json:"response"`
	}
	if err := read(&reply); err != nil {
		return err
	}
	result := map[string]any{"type": "tool_result", "tool_use_id": use.ID, "content": reply.Response.Response.Reply.Result.Content}
	if _, err := request(user, map[string]any{"role": "assistant", "content": []any{use}}, map[string]any{"role": "user", "content": []any{result}}); err != nil {
		return err
	}
	fmt.Println(`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"done"}]}}`)
	fmt.Println(`{"type":"result","subtype":"success","is_error":false,"result":"done","terminal_reason":"completed","session_id":"s"}`)
	return nil
}

// A toolUse is what the model says last.
type toolUse struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func request(messages ...any) (last toolUse, err error) {
	body, err := json.Marshal(map[string]any{"model": "m", "messages": messages})
	if err != nil {
		return toolUse{}, err
	}
	resp, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		return toolUse{}, err
	}
	defer resp.Body.Close()
	var message struct {
		Content []toolUse `json:"content"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&message); err != nil || len(message.Content) == 0 {
		return toolUse{}, fmt.Errorf("the service says nothing: %w", err)
	}
	return message.Content[0], nil
}
