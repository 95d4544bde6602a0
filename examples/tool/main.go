// Command release is a tool of one's own: a workflow, a typed tool for its
// agent, and the agent itself, which runs in this process.
//
//	release run note -n v1 --text 'parse nil'
package main

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"example.com/agl"
	"example.com/agl/adapters/cli"
	"example.com/agl/ports"
)

func main() {
	cli.Program{
		Name:      "release",
		Workflows: []agl.Definition{workflow},
		Agents:    map[string]ports.Agent{"inprocess": scribe{}},
	}.Main()
}

// Params are the workflow's flags.
type Params struct {
	Text string `required:"" help:"What changed."`
}

// Note is what the scribe reports.
type Note struct {
	Version string `json:"version"`
	Line    string `json:"line" jsonschema_description:"The line that was added to CHANGELOG.md."`
}

// Bump is what the agent gives the tool next_version, and Version what it gets.
type (
	Bump struct {
		Part string `json:"part" jsonschema:"enum=minor,enum=patch"`
	}
	Version struct {
		Next string `json:"next"`
	}
)

// Change is what the agent gets of the tool what_changed.
type Change struct {
	What string `json:"what"`
}

// nextVersion is the tool. Its handler's errors go back to the agent, which
// may try again; what it returns is checked against no schema, it is a value.
var nextVersion = agl.NewTool("next_version", "Says which version comes next.",
	func(_ context.Context, w agl.World, in Bump) (Version, error) {
		text, err := fs.ReadFile(w.Tree, "VERSION")
		if err != nil {
			return Version{}, fmt.Errorf("the repository has no VERSION: %w", err)
		}
		var major, minor, patch int
		if _, err := fmt.Sscanf(strings.TrimSpace(string(text)), "%d.%d.%d", &major, &minor, &patch); err != nil {
			return Version{}, fmt.Errorf("VERSION holds %q, no version: %w", text, err)
		}
		if in.Part == "minor" {
			minor, patch = minor+1, 0
		} else {
			patch++
		}
		return Version{Next: fmt.Sprintf("%d.%d.%d", major, minor, patch)}, nil
	})

var writer = agl.Editor[Note]{
	Name:   "scribe",
	Model:  "inprocess/scribe",
	Prompt: "Add the change to CHANGELOG.md under the version that comes next, and write that version to VERSION.",
	Tools:  []agl.Tool{nextVersion},
}

var workflow = agl.NewWorkflow(agl.Spec{
	Name: "note", Version: 1, Doc: "Note a change in the changelog.",
	Roles: []agl.Role{writer},
}, note)

func note(ctx context.Context, run *agl.Run, p Params) error {
	// A tool may close over what belongs to this run.
	whatChanged := agl.NewTool("what_changed", "Says what the release changes.",
		func(context.Context, agl.World, agl.None) (Change, error) { return Change{What: p.Text}, nil })
	return run.Step(ctx, writer.With(whatChanged).Commit("note: "+p.Text), agl.In("change", p.Text))
}
