package agltest_test

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
	"example.com/agl/internal/exampletest"
)

// Params are what a run of repair is started with.
type Params struct {
	Request string
	Rounds  int
}

// Patch is what the implementer reports.
type Patch struct {
	Summary string `json:"summary"`
}

// Findings is what the reviewer reports; an empty list is a pass.
type Findings struct {
	Items []string `json:"items"`
}

// Query is what search is called with.
type Query struct {
	Text string `json:"text"`
}

var search = agl.NewTool("search", "Names the files that hold a text.",
	func(_ context.Context, w agl.World, q Query) (string, error) {
		var found []string
		err := fs.WalkDir(w.Tree, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(w.Tree, path)
			if strings.Contains(string(text), q.Text) {
				found = append(found, path)
			}
			return err
		})
		if err == nil && found == nil {
			err = fmt.Errorf("no file holds %q", q.Text)
		}
		return strings.Join(found, "\n"), err
	})

var implementer = agl.Editor[Patch]{
	Name:   "implementer",
	Model:  "claude/opus",
	Prompt: "Change the code as requested.",
	Report: "Describe the finished change.",
	Tools:  []agl.Tool{search},
}

var reviewer = agl.Reader[Findings]{
	Name:   "reviewer",
	Model:  "codex/gpt-5-codex",
	Prompt: "Review the change.",
	Report: "List everything that must change before this can land.",
}

// Repair changes, builds and reviews until nobody has anything to say.
var Repair = agl.NewWorkflow(agl.Spec{Name: "repair", Version: 1, Roles: []agl.Role{implementer, reviewer}}, repair)

func repair(ctx context.Context, run *agl.Run, p Params) error {
	var findings []string
	rounds := cmp.Or(p.Rounds, 3)
	for round := range rounds {
		var patch Patch
		err := run.Step(ctx, implementer.Commit(fmt.Sprintf("%s (round %d)", p.Request, round+1)).Into(&patch),
			agl.In("request", p.Request), agl.In("findings", findings))
		if err != nil {
			return err
		}
		build, err := run.Verify(ctx)
		if err != nil {
			return err
		}
		if !build.Passed {
			findings = []string{build.Output}
			continue
		}
		var review Findings
		if err := run.Step(ctx, reviewer.Into(&review), agl.In("summary", patch.Summary)); err != nil {
			return err
		}
		if len(review.Items) == 0 {
			return nil
		}
		findings = review.Items
	}
	return agl.Stopf("%d findings left after %d rounds", len(findings), rounds)
}

var job = Repair.With(Params{Request: "handle nil"})

// A workflow runs over scripted agents and a repository in memory, and three
// proofs are a line each. The agents of this one agree at once.
func Example() {
	exampletest.Run(func(t testing.TB) { // in a test: its *testing.T
		h := agltest.New(t)
		agltest.Reply(h, implementer, Patch{Summary: "nil is an error"})
		agltest.Reply(h, reviewer, Findings{})
		require.NoError(t, h.Start(job))
		h.Replay(Repair)                        // a resume runs no agent
		h.Golden("testdata/repair.journal.txt") // a new shape needs a new Version
		for _, r := range h.Journal() {
			fmt.Println(r.Kind, r.Name)
		}
	})
	// Output:
	// step implementer
	// verdict verify
	// step reviewer
}
