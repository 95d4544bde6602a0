package claude

import (
	"strings"

	"example.com/agl/internal/vendorprog"
	"example.com/agl/ports"
)

// describe says what the agent does: the tool's name as the vendor has it, and
// its first argument.
func describe(call block, dir string) ports.AgentEvent {
	return vendorprog.Deed(strings.TrimPrefix(call.Name, toolName("")), vendorprog.FirstArgument(call.Input), dir)
}
