package codex_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/codex"
	"example.com/agl/internal/fakeapi"
	"example.com/agl/ports"
)

// Case C3: Codex does not make a tool strict, so that its schema is not changed
// for it, and an optional property may be left out.
func TestAToolsSchemaReachesTheServiceAsItIs(t *testing.T) {
	t.Parallel()
	agent, api := served(t, codex.Options{Retries: -1}, func(r fakeapi.Request) fakeapi.Reply {
		if r.Turn == 0 {
			return fakeapi.Reply{Calls: []fakeapi.Call{{Tool: "report", Args: `{"text":"x"}`}}}
		}
		return fakeapi.Reply{Texts: []string{"done"}}
	})
	const schema = `{"type":"object","properties":{"text":{"type":"string"},"note":{"type":"string"},"of":{"type":"object","properties":{},"additionalProperties":{"type":"integer"}},` +
		`"list":{"type":"array","items":{"$ref":"#/$defs/item"}}},"required":["text"],"additionalProperties":false,` +
		`"$defs":{"item":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}}`
	got := ""
	task := request(t, "hi")
	task.Tools = []ports.Tool{{Name: "report", Doc: "Reports.", Schema: json.RawMessage(schema), Call: func(_ context.Context, args json.RawMessage) ports.ToolResult {
		got = string(args)
		return ports.ToolResult{Text: "recorded"}
	}}}
	_, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"x"}`, got)
	var body struct {
		Tools []struct {
			Name       string
			Strict     bool
			Parameters json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal([]byte(api.Requests()[0].Body), &body))
	for _, tool := range body.Tools {
		if tool.Name == "report" {
			require.False(t, tool.Strict)
			require.JSONEq(t, schema, string(tool.Parameters))
			return
		}
	}
	t.Fatal("the model was not told of the tool")
}
