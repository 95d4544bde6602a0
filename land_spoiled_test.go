package agl_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

// spoiled are ways to leave a checkout that holds a merge so that no commit can
// be made of it.
var spoiled = map[string]func(index string) error{
	"its index is no index": func(index string) error { return os.WriteFile(index, []byte("x"), 0o644) },
	"its index is gone":     os.Remove,
}

// spoil spoils the checkout in dir, in which half of a resolution was typed.
func (c *clash) spoil(dir string, how func(index string) error) {
	c.t.Helper()
	require.NoError(c.t, os.WriteFile(filepath.Join(dir, "same.txt"), []byte("half\n"), 0o644))
	require.NoError(c.t, how(filepath.Join(c.gitIn(dir, "rev-parse", "--absolute-git-dir"), "index")))
}

// keptHalf checks that the half is salvaged.
func (c *clash) keptHalf() {
	c.t.Helper()
	salvaged, err := c.engine().Salvaged(c.t.Context(), "job")
	require.NoError(c.t, err)
	require.NotEmpty(c.t, salvaged)
	require.Equal(c.t, "half", c.git("show", salvaged[0].Ref+":same.txt"))
}

func TestAnAgentThatSpoilsTheCheckoutOfAConflictHasFailedAndIsPaid(t *testing.T) {
	t.Parallel()
	for name, how := range spoiled {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, true)
			w.mend = func(tn *turn) (any, error) { w.spoil(tn.Dir, how); return patch{}, nil }
			wf := clashing(plainly, agl.ResolveWith(editor, 1, nil))
			err := w.start(job(wf))
			require.ErrorIs(t, err, agl.Unexpected)
			require.ErrorContains(t, err, "step editor in the conflict of b")
			require.ErrorContains(t, err, "its index")
			require.Equal(t, agl.StateFailed, w.info().State, "it has ended")
			require.Equal(t, "of c\n", w.landed()["c.txt"], "the next landing goes on")
			for _, r := range w.journal() {
				if r.Kind == agl.KindLanding && r.Namespace == "b" {
					require.EqualValues(t, 100, r.Usage.Input)
				}
			}
			w.keptHalf()

			w.mend = func(tn *turn) (any, error) { tn.write("same.txt", "both\n"); return patch{}, nil }
			require.NoError(t, w.resume(wf))
			require.Equal(t, "both\n", w.landed()["same.txt"])
		})
	}
}

func TestAConflictThatWasSpoiledAfterACrashIsSalvagedAndMadeAgain(t *testing.T) {
	t.Parallel()
	for name, how := range spoiled {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newClash(t, true)
			death := &faults{}
			w.killed(death, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
				death.die()
				return at.Retry(), nil
			})
			w.spoil(w.checkout(), how)
			require.NoError(t, w.resume(clashing(plainly, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
				require.Equal(t, "b: conflicts in same.txt (add/add)", at.Summary())
				require.True(t, strings.HasPrefix(w.there(at, "same.txt"), "<<<<<<< "), "the merge is made again")
				w.typed(at, "same.txt", "both\n")
				return at.Retry(), nil
			})))
			require.Equal(t, "both\n", w.landed()["same.txt"])
			w.keptHalf()
			require.Empty(t, w.agents())
		})
	}
}

// The build commits, and the process dies before it sees that. What it committed
// is kept, and the landing is made.
func TestABranchThatABuildMovedBeforeACrashIsPutBack(t *testing.T) {
	t.Parallel()
	death := &faults{}
	var w *world
	w, _ = gated(t, func(task ports.VerifyTask, n int) (ports.Verdict, error) {
		if n == 1 {
			require.NoError(t, os.WriteFile(filepath.Join(task.Dir, "main.go"), []byte("formatted\n"), 0o644))
			w.gitIn(task.Dir, "commit", "-qam", "by the build")
			death.die()
		}
		return ports.Verdict{Passed: true}, nil
	})
	w.overGit()
	plain := w.set
	w.set = death.wrap(plain)
	require.Error(t, w.start(job(pair)))
	w.set = plain
	require.NoError(t, w.resume(pair))
	salvaged, err := w.engine().Salvaged(t.Context(), "job")
	require.NoError(t, err)
	require.NotEmpty(t, salvaged, "the build's commit")
	require.NotEqual(t, "formatted\n", w.files()["main.go"])
}
