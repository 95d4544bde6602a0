// Command agl is the ready-made command: the workflow fix under AGL's command
// line. A program with workflows of your own looks the same.
package main

import (
	"example.com/agl"
	"example.com/agl/adapters/cli"
	"example.com/agl/examples/fix"
)

func main() {
	cli.Program{Name: "agl", Workflows: []agl.Definition{fix.Workflow}}.Main()
}
