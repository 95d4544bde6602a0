package codex

import (
	"strings"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// describe says what the agent does, with the names of the vendor's tools. The
// event's text is empty if there is nothing to be said.
func describe(i item, dir string) ports.AgentEvent {
	switch i.Type {
	case "commandExecution":
		command := i.Command
		if len(i.Actions) == 1 && i.Actions[0].Command != "" { // without the shell that runs it
			command = i.Actions[0].Command
		}
		return vendorprog.Deed("exec_command", command, dir)
	case "fileChange":
		var paths []string
		for _, change := range i.Changes {
			paths = append(paths, change.Path)
		}
		return vendorprog.Deed("apply_patch", strings.Join(paths, " "), dir)
	case "dynamicToolCall":
		return vendorprog.Deed(i.Tool, vendorprog.FirstArgument(i.Arguments), dir)
	case "mcpToolCall":
		return vendorprog.Deed(i.Server+"."+i.Tool, vendorprog.FirstArgument(i.Arguments), dir)
	case "webSearch":
		return vendorprog.Deed("web_search", i.Query, dir)
	case "imageView":
		return vendorprog.Deed("view_image", i.Path, dir)
	case "contextCompaction":
		return vendorprog.Deed("compact", "", dir)
	default:
		return ports.AgentEvent{}
	}
}
