package agltest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/agltest"
)

type patch struct {
	Summary string `json:"summary"`
}

type findings struct {
	Items []string `json:"items"`
}

var (
	editor = agl.Editor[patch]{Name: "editor", Model: "claude/opus", Prompt: "Change it."}
	reader = agl.Reader[findings]{Name: "reader", Model: "codex/gpt", Prompt: "Review it."}
)

type params struct {
	Request string
	Rounds  int
}

// fix edits and reviews until the reviewer has nothing to say.
var fix = agl.NewWorkflow(agl.Spec{Name: "fix", Version: 1, Roles: []agl.Role{editor, reader}},
	func(ctx context.Context, run *agl.Run, p params) error {
		var review findings
		for round := range cmp.Or(p.Rounds, 3) {
			var done patch
			err := run.Step(ctx, editor.Commit(fmt.Sprintf("round %d", round+1)).Into(&done),
				agl.In("request", p.Request), agl.In("findings", review.Items))
			if err != nil {
				return err
			}
			if err := run.Step(ctx, reader.Into(&review), agl.In("summary", done.Summary)); err != nil {
				return err
			}
			if len(review.Items) == 0 {
				return nil
			}
		}
		return agl.Stopf("%d findings left", len(review.Items))
	})

// everywhere runs a test over the harness in memory and over git.
func everywhere(t *testing.T, test func(t *testing.T, h *agltest.Harness)) {
	t.Helper()
	for name, opts := range map[string]agltest.Options{"memory": {}, "git": {Git: true}} {
		opts.Files = map[string]string{"main.go": "package main\n", "docs/a b.md": "x\n"}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, opts.New(t))
		})
	}
}

func TestAWorkflowRunsOverScriptedAgents(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			var request string
			var items []string
			turn.Input("request", &request)
			turn.Input("findings", &items)
			was, err := fs.ReadFile(turn.Tree, "main.go")
			require.NoError(t, err)
			turn.WriteFile("main.go", fmt.Sprintf("%s// %s %d\n", was, request, len(items)))
			turn.WriteFile("sub/new.go", fmt.Sprintf("// %d\n", turn.N))
			if turn.N == 2 {
				turn.Remove("docs")
			}
			return patch{fmt.Sprintf("change %d", turn.N)}, nil
		})
		agltest.Reply(h, reader, findings{[]string{"no test", "no doc"}}, findings{})
		require.NoError(t, h.Start(fix.With(params{Request: "x"})))
		require.Equal(t, map[string]string{
			"main.go": "package main\n// x 0\n// x 2\n", "sub/new.go": "// 2\n",
		}, h.Files())
		require.Len(t, h.Journal(), 4)
		var log []string
		for _, c := range h.Commits() {
			log = append(log, fmt.Sprint(c.Message, c.Paths))
		}
		require.Equal(t, []string{"round 1[main.go sub/new.go]", "round 2[docs/a b.md main.go sub/new.go]"}, log)
		require.Equal(t, []string{"editor #1", "reader #1", "editor #2", "reader #2"}, h.Agents())
		require.Empty(t, h.Salvaged())
		require.Equal(t, agl.StateDone, h.Run().State)
		require.NoError(t, h.Resume(fix))
		require.Len(t, h.Agents(), 4)
	})
}

func TestACrashInATurnIsResumed(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, h *agltest.Harness) {
		agltest.Handle(h, editor, func(_ context.Context, turn *agltest.Turn) (patch, error) {
			turn.WriteFile("half.txt", fmt.Sprint(turn.N))
			if turn.N == 2 && turn.Attempt == 1 {
				turn.Crash()
			}
			return patch{"done"}, nil
		})
		agltest.Reply(h, reader, findings{[]string{"again"}}, findings{})
		err := h.Start(fix.With(params{Request: "x"}))
		require.ErrorIs(t, err, agltest.ErrCrashed)
		require.Equal(t, agl.StateInterrupted, h.Run().State)
		plan, err := h.Plan(fix)
		require.NoError(t, err)
		require.Equal(t, 2, plan.Namespaces[0].Hits)
		require.NoError(t, h.Resume(fix))
		require.Equal(t, []string{"editor #1", "reader #1", "editor #2", "editor #2", "reader #2"}, h.Agents())
		require.Len(t, h.Salvaged(), 1)
		require.Equal(t, "2", h.Files()["half.txt"])
	})
}

func TestAHandlersErrorIsItsSteps(t *testing.T) {
	t.Parallel()
	h := agltest.New(t)
	agltest.Handle(h, editor, func(context.Context, *agltest.Turn) (patch, error) {
		return patch{}, &agl.LimitError{}
	})
	err := h.Start(fix.With(params{}))
	var limit *agl.LimitError
	require.True(t, errors.As(err, &limit), "%v", err)
	require.ErrorIs(t, err, agl.Unavailable)
}
