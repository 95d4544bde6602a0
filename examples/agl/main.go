// Command agl is the ready-made command: the workflows fix and split under
// AGL's command line. A program with workflows of your own looks the same.
package main

import (
	"example.com/agl"
	"example.com/agl/adapters/cli"
	"example.com/agl/examples/fix"
	"example.com/agl/examples/split"
)

func main() {
	cli.Program{Name: "agl", Workflows: []agl.Definition{fix.Workflow, split.Workflow}}.Main()
}
