package agl_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/adapters/files"
)

// mixed holds what encoding/json does not give back as it was.
type mixed struct {
	Empty   []string          `json:"empty,omitempty"`
	Nil     []string          `json:"nil"`
	Map     map[string]int    `json:"map"`
	When    time.Time         `json:"when"`
	Took    time.Duration     `json:"took"`
	Big     int64             `json:"big"`
	Pointer *int              `json:"pointer"`
	Text    map[string]string `json:"text,omitempty"`
}

func TestWhatAVerbReturnsIsTheSameOnTheFirstRunAndOnReplay(t *testing.T) {
	t.Parallel()
	role := agl.Reader[mixed]{Name: "mixed", Model: "fake/x", Prompt: "p"}
	value := mixed{
		Empty: []string{}, When: time.Now(), Took: 90 * time.Second, Big: 1<<62 + 1,
		Text: map[string]string{"b": "2", "a": "1\u2028<&>"},
	}
	w := newWorld(t, func(*turn) (any, error) { return value, nil })
	var seen []any
	wf := script(func(ctx context.Context, run *agl.Run) error {
		var m mixed
		if err := run.Step(ctx, role.Into(&m)); err != nil {
			return err
		}
		var loose map[string]any
		err := run.Do(ctx, agl.Func("loose", func(context.Context, agl.World) (map[string]any, error) {
			return map[string]any{"n": 5, "f": 1.0, "when": time.Now(), "big": int64(1<<62 + 1), "nil": nil}, nil
		}).Into(&loose), agl.In("value", m))
		if err != nil {
			return err
		}
		seen = append(seen, m, loose)
		// A later verb depends on both: a difference would be a miss.
		return run.Step(ctx, role, agl.In("value", m), agl.In("loose", loose))
	}, role)
	require.NoError(t, w.start(job(wf)))
	require.Len(t, w.agents(), 2)
	require.NoError(t, w.resume(wf))
	require.Empty(t, w.agents())
	require.Equal(t, seen[:2], seen[2:])
	require.Equal(t, value.Big, seen[0].(mixed).Big)
}

func TestAWalkThatLeavesRecordsUnreachedSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	steps := 2
	wf := script(func(ctx context.Context, run *agl.Run) error {
		for i := range steps {
			if err := run.Step(ctx, reader, agl.In("n", i)); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, w.start(job(wf)))
	steps = 1
	require.NoError(t, w.resume(wf))
	require.Equal(t, 1, w.info().Unreached)
	plan, err := w.engine().Plan(t.Context(), "job", wf)
	require.NoError(t, err)
	require.False(t, plan.Diverged())
	require.Len(t, plan.Namespaces[0].Unreached, 1)
}

func TestANondeterministicWorkflowIsStoppedWhereItShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	calls := 0
	wf := script(func(ctx context.Context, run *agl.Run) error {
		calls++
		for i := range 2 {
			if err := run.Step(ctx, reader, agl.In("n", i)); err != nil {
				return err
			}
		}
		if calls == 1 {
			return agl.Stopf("early")
		}
		return run.Step(ctx, reader, agl.In("call", calls))
	})
	require.ErrorIs(t, w.start(job(wf)), agl.Stopped)
	w.agents()
	require.NoError(t, w.resume(wf), "two dry calls and one that runs")
	require.Equal(t, []string{"reader#3"}, w.agents())
	var diverged *agl.DivergedError
	require.ErrorAs(t, w.resume(wf), &diverged, "the third step asks for something else each time")
	require.ErrorContains(t, diverged, "input:call")
	require.Empty(t, w.agents())
}

// text is a string of a type of its own.
type text string

func TestAnAgentIsGivenAStringAsItIs(t *testing.T) {
	t.Parallel()
	var got []string
	w := newWorld(t, func(tn *turn) (any, error) {
		got = append(got, tn.Instructions)
		return findings{}, nil
	})
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		if err := run.Step(ctx, reader, agl.In("t", "a \"b\"\nc")); err != nil {
			return err
		}
		return run.Step(ctx, reader, agl.In("t", text("a \"b\"\nc")))
	}))))
	require.Contains(t, got[0], "a \"b\"\nc")
	require.Equal(t, got[0], got[1])
}

func TestALargeHitIsServedUnderACancelledContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*turn) (any, error) { return findings{[]string{strings.Repeat("x", 5000)}}, nil })
	w.set.Store = files.New(t.TempDir(), "p")
	wf := func(end func(context.CancelFunc)) *agl.Workflow[agl.None] {
		return script(func(ctx context.Context, run *agl.Run) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			end(cancel)
			var f findings
			if err := run.Step(ctx, reader.Into(&f)); err != nil {
				return err
			}
			if len(f.Items) != 1 || len(f.Items[0]) != 5000 {
				return errors.New("it is cut")
			}
			return nil
		})
	}
	require.NoError(t, w.start(job(wf(func(context.CancelFunc) {}))))
	require.NoError(t, w.resume(wf(func(cancel context.CancelFunc) { cancel() })))
	require.Len(t, w.agents(), 1)
}

// Two reports that differ in the order of their fields.
type (
	asDeclared struct {
		A string `json:"a"`
		B string `json:"b"`
	}
	asMoved struct {
		B string `json:"b"`
		A string `json:"a"`
	}
)

func TestAFieldThatIsMovedIsTheSameStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*turn) (any, error) { return asDeclared{"x", "y"}, nil })
	before := agl.Reader[asDeclared]{Name: "r", Model: "fake/x", Prompt: "p"}
	after := agl.Reader[asMoved]{Name: "r", Model: "fake/x", Prompt: "p"}
	require.NoError(t, w.start(job(script(func(ctx context.Context, run *agl.Run) error {
		return run.Step(ctx, before, agl.In("given", asDeclared{"x", "y"}))
	}, before))))
	var got asMoved
	require.NoError(t, w.resume(script(func(ctx context.Context, run *agl.Run) error {
		return run.Step(ctx, after.Into(&got), agl.In("given", asMoved{"y", "x"}))
	}, after)))
	require.Equal(t, asMoved{"y", "x"}, got)
	require.Len(t, w.agents(), 1)
}
