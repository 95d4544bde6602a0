package agl_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl"
)

// interruptInConflict lands a, and is cancelled when the conflict of b has been
// mended and nothing was decided yet. A resume then lands the two that are
// left as resume says.
func interruptInConflict(t *testing.T, resume func(land, pause func(name string) error) error) (agents, landed []string) {
	ctx, cancel := context.WithCancel(t.Context())
	resumed := false
	w := newWorld(t, func(tn *turn) (any, error) {
		switch {
		case tn.Role == editor.Name:
			tn.write("same.txt", "both\n")
		case tn.Namespace == "c":
			tn.write("c.txt", "c\n")
		default:
			tn.write("same.txt", tn.Namespace+"\n")
		}
		return patch{}, nil
	})
	wf := script(func(ctx context.Context, run *agl.Run) error {
		children := map[string]*agl.Run{}
		for _, name := range []string{"a", "b", "c"} {
			child, err := run.Worktree(ctx, name)
			if err != nil {
				return err
			}
			if err := child.Step(ctx, builder.Commit("build")); err != nil {
				return err
			}
			children[name] = child
		}
		land := func(name string) error {
			return children[name].Integrate(ctx, func(ctx context.Context, c *agl.Conflict) (agl.Resolution, error) {
				if err := c.Step(ctx, editor); err != nil {
					return agl.Resolution{}, err
				}
				if !resumed {
					cancel()
					return agl.Resolution{}, ctx.Err()
				}
				return c.Retry(), nil
			})
		}
		if err := land("a"); err != nil {
			return err
		}
		if !resumed {
			return land("b")
		}
		return resume(land, func(name string) error {
			return children[name].Do(ctx, agl.Func("pause", func(context.Context, agl.World) (int, error) {
				time.Sleep(time.Minute)
				return 0, nil
			}))
		})
	}, builder, editor)
	require.ErrorIs(t, w.engine().Start(ctx, "job", job(wf), nil), context.Canceled)
	resumed = true
	require.NoError(t, w.resume(wf))
	require.Equal(t, "both\n", w.files()["same.txt"])
	records := w.journal()
	slices.SortFunc(records, func(a, b agl.Record) int { return a.Seq - b.Seq })
	for _, r := range records {
		if r.Kind == agl.KindLanding {
			landed = append(landed, r.Namespace)
		}
	}
	return w.agents(), landed
}

func TestALandingThatWasInterruptedInItsConflictGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		agents, landed := interruptInConflict(t, func(land, _ func(string) error) error {
			return each([]string{"c", "b"}, func(name string) error {
				if name == "b" {
					time.Sleep(time.Second) // it comes later
				}
				return land(name)
			})
		})
		require.Equal(t, []string{"a", "b", "c"}, landed)
		require.Equal(t, []string{"builder#1", "builder#1", "builder#1", "editor#1"}, agents, "the agent that mended is paid once")
	})
}

func TestALandingThatGoesFirstAndDoesNotComeIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		agents, landed := interruptInConflict(t, func(land, _ func(string) error) error {
			if err := land("c"); err != nil {
				return err
			}
			return land("b")
		})
		require.Equal(t, []string{"a", "c", "b"}, landed)
		require.Len(t, agents, 5, "its conflict is another one now")
		require.Less(t, time.Since(began), 10*time.Second)
	})
}

func TestALandingThatRunsSomethingElseFirstIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, landed := interruptInConflict(t, func(land, pause func(string) error) error {
			return each([]string{"c", "b"}, func(name string) error {
				if name == "b" {
					if err := pause(name); err != nil {
						return err
					}
					return land(name)
				}
				time.Sleep(time.Second) // it comes later
				began := time.Now()
				err := land(name)
				require.Zero(t, time.Since(began))
				return err
			})
		})
		require.Equal(t, []string{"a", "c", "b"}, landed)
	})
}
