package agl

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.com/agl/internal/engine"
	"example.com/agl/internal/schema"
	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// A World is what a tool's handler or a recorded function is told of its
// surroundings: whose step or call this is, and its checkout. Its methods
// WriteFile and Remove change the checkout; programs run in Dir. In a test
// without agltest.Options.Git the checkout is in memory: WriteFile, Remove and
// Tree work there as everywhere, and Dir is a path at which nothing can be, so
// that a program or an os.WriteFile fails there and says so.
type World = ports.World

// A Tool is something an agent may call: a typed Go function that runs in this
// process. Make one with NewTool.
type Tool struct{ tool *engine.Tool }

// NewTool returns a tool whose arguments are an In and whose result is an Out.
//
// In is a struct. Its JSON Schema is reflected from it as encoding/json reads
// it: a field without omitempty or omitzero is required; a pointer is optional
// and may be null; `jsonschema:"enum=a,enum=b"` and
// `jsonschema_description:"…"` say more; a time.Duration is Go duration text,
// a time.Time is RFC 3339. A Validate() error method of In is called on what
// was decoded. Arguments that do not fit go back to the agent with every
// problem named.
//
// A string Out is given to the agent as it is, None as nothing, anything else
// as JSON. The handler's error is what the agent reads: it does not end the
// step. It may be called several times at once.
//
// A name has ASCII letters, digits, '.', '_' and '-', as a role's has. NewTool
// panics on a malformed declaration, naming the field.
func NewTool[In, Out any](name, doc string, handler func(ctx context.Context, w World, in In) (Out, error)) Tool {
	if err := ports.CheckName("tool", name); err != nil {
		panic("agl: " + err.Error())
	}
	switch {
	case name == engine.ReportTool:
		panic(fmt.Sprintf("agl: tool %q: the name is that of the tool that takes reports", name))
	case name == engine.AskTool:
		panic(fmt.Sprintf("agl: tool %q: the name is that of AskTool", name))
	case strings.TrimSpace(doc) == "":
		panic(fmt.Sprintf("agl: tool %s: its doc is blank, and it is all that an agent knows of it", name))
	case handler == nil:
		panic(fmt.Sprintf("agl: tool %s: its handler is nil", name))
	}
	arguments := schema.For(reflect.TypeFor[In]())
	return Tool{&engine.Tool{
		Name: name, Doc: doc, Schema: arguments,
		Call: func(ctx context.Context, w ports.World, args json.RawMessage) (string, error) {
			var in In
			if err := arguments.Decode(args, &in); err != nil {
				return "", err
			}
			out, err := handler(ctx, w, in)
			if err != nil {
				return "", err
			}
			return resultText(out)
		},
	}}
}

func resultText(out any) (string, error) {
	switch out := out.(type) {
	case string:
		return out, nil
	case None:
		return "done", nil
	}
	doc, err := strictjson.Canonical(out)
	if err != nil {
		return "", fmt.Errorf("the tool's result cannot be written: %w", err)
	}
	return string(doc), nil
}

func compileTools(role string, tools []Tool) ([]*engine.Tool, error) {
	compiled := make([]*engine.Tool, len(tools))
	for i, t := range tools {
		if t.tool == nil {
			return nil, ports.Invalid.Errorf("role "+role, "tool %d is the zero Tool; make it with NewTool", i+1)
		}
		if slices.ContainsFunc(compiled[:i], func(other *engine.Tool) bool { return other.Name == t.tool.Name }) {
			return nil, ports.Invalid.Errorf("role "+role, "it has two tools %q", t.tool.Name)
		}
		compiled[i] = t.tool
	}
	return compiled, nil
}
