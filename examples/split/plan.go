package split

import (
	"context"
	"errors"
	"fmt"

	"example.com/agl"
	"example.com/agl/ports"
)

// Params are the workflow's flags (tags of github.com/alecthomas/kong; this
// package does not import it).
type Params struct {
	Request string `short:"r" required:"" help:"What to change."`
	Chunks  int    `default:"4" help:"Chunks at most, each built in a worktree of its own at the same time as the others."`
	Resolve Who    `default:"agent" enum:"person,agent,give-up" help:"Who deals with a chunk that conflicts with the others, or breaks the build with them: an agent, an agent and then a person, or nobody (person, agent, give-up)."`
} // default, required and enum bind the command line only; code that starts a workflow may leave a field zero

// Who deals with a landing that cannot go on.
type Who string

// Who there is.
const (
	Person Who = "person"  // the mender, twice; then a person is asked
	Agent  Who = "agent"   // the mender, twice; then it is given up
	GiveUp Who = "give-up" // nobody: the chunk is not landed, the others are
)

// Validate checks what the command line does, for code that starts the
// workflow.
func (p Params) Validate() error {
	if p.Chunks < 0 {
		return fmt.Errorf("%d chunks", p.Chunks)
	}
	switch p.Resolve {
	case "", Person, Agent, GiveUp:
		return nil
	}
	return fmt.Errorf("resolve is %q; there are %s, %s and %s", p.Resolve, Person, Agent, GiveUp)
}

// resolver returns what decides about a landing that cannot go on.
func (p Params) resolver() agl.Resolver {
	switch p.Resolve {
	case GiveUp:
		return agl.Abandon
	case Person:
		return agl.ResolveWith(mender, 2, askPerson)
	}
	return agl.ResolveWith(mender, 2, agl.Abandon)
}

// askPerson has a person decide, who may edit what is in the checkout first.
func askPerson(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
	again := false
	q := agl.Choose(fmt.Sprintf("%s (still, after %d tries)\nThe merge is in %s. Edit it there, and try again; or give it up.", c.Summary(), c.Attempt-1, c.Dir),
		agl.Opt("try again", true), agl.Opt("give it up", false)).Ahead(10)
	if err := c.Ask(ctx, q.Into(&again)); err != nil || !again {
		return c.Abort(), err
	}
	return c.Retry(), nil
}

// Plan is what the planner reports.
type Plan struct {
	Chunks []Chunk `json:"chunks"`
}

// A Chunk is a part of the request that can be built without the others.
type Chunk struct {
	ID   string `json:"id" jsonschema_description:"A short name of its own, such as parser: letters, digits, '.', '_' and '-'. It names a worktree and a branch."`
	Task string `json:"task" jsonschema_description:"What to change, for somebody who knows the repository and nothing of the plan."`
}

// Validate refuses ids that no worktrees may have. The planner reads what is
// wrong, and reports again.
func (p Plan) Validate() error {
	if len(p.Chunks) == 0 {
		return errors.New("there are no chunks")
	}
	var problems []error
	first := map[string]string{} // ids, by what they are as the name of a worktree
	for _, c := range p.Chunks {
		if err := ports.CheckName("the id", c.ID); err != nil {
			problems = append(problems, err)
		}
		name := ports.FoldName(c.ID)
		if other, taken := first[name]; taken {
			problems = append(problems, fmt.Errorf("two chunks have the ids %q and %q; the case of letters makes no difference", other, c.ID))
		}
		first[name] = c.ID
	}
	return errors.Join(problems...)
}

// atMost makes one chunk of those that are too many.
func atMost(chunks []Chunk, most int) []Chunk {
	if len(chunks) <= most {
		return chunks
	}
	last := chunks[most-1]
	for _, c := range chunks[most:] {
		last.Task += "\n\n" + c.Task
	}
	return append(chunks[:most-1:most-1], last)
}

// Patch is what a builder reports.
type Patch struct {
	Summary string `json:"summary" jsonschema_description:"The change in one line."`
}

// Findings is what the reviewer reports; an empty list is a pass.
type Findings struct {
	Items []Finding `json:"items"`
}

// A Finding is one thing wrong with the whole.
type Finding struct {
	Severity string `json:"severity" jsonschema:"enum=high,enum=medium,enum=low"`
	Text     string `json:"text"`
}
