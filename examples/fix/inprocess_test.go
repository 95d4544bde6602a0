package fix_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/local"
	"example.com/agl/examples/fix"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// player is an agent in this process: what it returns is its report.
type player func(task ports.Task) any

var _ ports.Agent = player(nil)

func (player) Capabilities(context.Context, ports.Model) (ports.Capabilities, error) {
	return ports.Capabilities{Tools: true, Enforce: []ports.Restriction{ports.NoWrite}}, nil
}

func (player) Ready(context.Context, ports.Model) error { return nil }

func (play player) Run(ctx context.Context, task ports.Task, _ func(ports.AgentEvent)) (ports.Outcome, error) {
	report, err := json.Marshal(play(task))
	if err != nil {
		return ports.Outcome{}, err
	}
	for _, tool := range task.Tools {
		if tool.Name != task.Report {
			continue
		}
		if result := tool.Call(ctx, report); result.Rejected {
			return ports.Outcome{}, ports.Unexpected.Errorf("report", "%s", result.Text)
		}
	}
	return ports.Outcome{Stop: ports.StopCompleted, Usage: ports.Usage{Complete: true}}, nil
}

func TestTheImplementerIsGivenWhatTheReviewerFound(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	var asked []string
	plays := player(func(task ports.Task) any {
		asked = append(asked, task.Instructions)
		switch {
		case task.Role == "implementer":
			main := filepath.Join(task.Dir, "main.go")
			require.NoError(t, os.WriteFile(main, fmt.Appendf(nil, "package main // %d\n", task.Ordinal), 0o600))
			return fix.Patch{Summary: "handle nil"}
		case task.Ordinal == 1: // the first review
			return fix.Findings{Items: []fix.Finding{{Severity: "high", Text: "no test"}}}
		}
		return fix.Findings{Items: []fix.Finding{}}
	})

	agents := map[string]ports.Agent{ports.AnyProvider: plays} // for every model
	set, err := local.New(t.Context(), local.Options{Repo: repo.Dir, Home: t.TempDir(), Agents: agents})
	require.NoError(t, err)
	engine, err := agl.New(set, nil)
	require.NoError(t, err)
	defer engine.Close()
	require.NoError(t, engine.Start(t.Context(), "test", fix.Workflow.With(fix.Params{Request: "crash on nil"}), nil))

	require.Len(t, asked, 4) // two rounds
	require.Contains(t, asked[2], "no test")
	require.NoError(t, engine.Resume(t.Context(), "test", fix.Workflow, nil))
	require.Len(t, asked, 4, "a resume buys nothing again")
}
