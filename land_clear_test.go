package agl_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
	"example.com/agl/ports"
)

var clashBranches = []string{"agl/_work/job/a", "agl/_work/job/b", "agl/_work/job/c", "agl/job"}

// clearedClash starts clashing, in a process that dies while b's conflict is
// resolved, and clears it, with a fault.
func clearedClash(t *testing.T, overGit bool, f *faults, prepare func(w *clash)) (*clash, ports.Cleared, error) {
	w := newClash(t, overGit)
	death := &faults{}
	w.killed(death, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
		w.typed(at, "same.txt", "half of it\n")
		death.die()
		return at.Retry(), nil
	})
	prepare(w)
	plain := w.set
	w.set = f.wrap(plain)
	cleared, err := w.engine().Clear(t.Context(), "job")
	w.set = plain
	return w, cleared, err
}

// gone fails the test unless nothing of the run is left but its salvage.
func (c *clash) gone() {
	c.t.Helper()
	require.Empty(c.t, c.store.Documents("job", ""))
	for _, branch := range clashBranches {
		at, err := c.set.Workspaces.Branch(c.t.Context(), branch)
		require.NoError(c.t, err)
		require.Empty(c.t, at, branch)
	}
	salvaged, err := c.engine().Salvaged(c.t.Context(), "job")
	require.NoError(c.t, err)
	require.Len(c.t, salvaged, 1, "what was typed is kept")
	dir := filepath.Join(c.t.TempDir(), "salvage")
	require.NoError(c.t, c.engine().WriteSalvage(c.t.Context(), "job", salvaged[0].N, dir))
	require.FileExists(c.t, filepath.Join(dir, "same.txt"))
}

func unchanged(*clash) {}

func TestClearTakesTheChildrenAndTellsWhereTheyWere(t *testing.T) {
	t.Parallel()
	for name, overGit := range map[string]bool{"memory": false, "git": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heads []string
			w, cleared, err := clearedClash(t, overGit, &faults{}, func(w *clash) {
				for _, branch := range clashBranches {
					at, err := w.set.Workspaces.Branch(t.Context(), branch)
					require.NoError(t, err)
					heads = append(heads, at)
				}
			})
			require.NoError(t, err)
			w.gone()
			require.Equal(t, clashBranches, slices.Sorted(slices.Values(cleared.Branches)))
			var tips []string
			for _, branch := range clashBranches {
				for _, tip := range cleared.Tips {
					if tip.Branch == branch {
						tips = append(tips, tip.Commit)
					}
				}
			}
			require.Equal(t, heads, tips)
			if overGit {
				require.NotContains(t, w.git("worktree", "list"), "job")
				refs := strings.Fields(w.git("for-each-ref", "--format=%(refname)"))
				require.Equal(t, []string{"refs/agl/salvage/job/_base/1", "refs/heads/main"}, refs)
			}
			require.NoError(t, w.start(job(clashing(plainly, func(_ context.Context, at *agl.Conflict) (agl.Resolution, error) {
				w.typed(at, "same.txt", "both\n")
				return at.Retry(), nil
			}))), "the label is free")
		})
	}
}

func TestAClearOfChildrenThatDiedAnywhereIsRepeated(t *testing.T) {
	t.Parallel()
	for name, overGit := range map[string]bool{"memory": false, "git": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			probe := &faults{}
			_, _, err := clearedClash(t, overGit, probe, unchanged)
			require.NoError(t, err)
			for i, call := range probe.names {
				for _, after := range []bool{false, true} {
					if overGit && (call != "clear" && !strings.HasPrefix(call, "write") || !after) {
						continue // git sees no more of it
					}
					t.Run(fmt.Sprintf("%d %s after=%v", i+1, call, after), func(t *testing.T) {
						t.Parallel()
						w, _, err := clearedClash(t, overGit, &faults{at: i + 1, after: after, crash: true}, unchanged)
						require.ErrorIs(t, err, errFault)
						_, err = w.engine().Clear(t.Context(), "job")
						if i == len(probe.names)-1 && after {
							require.ErrorIs(t, err, agl.NotFound)
						} else {
							require.NoError(t, err)
						}
						w.gone()
					})
				}
			}
		})
	}
}

func TestARunWithChildrenThatCannotBeReadIsClearedWithThem(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{"a record": "records/00000006.json", "its own document": "run.json", "an opening": "records/00000003.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, func(t *testing.T, probe *clash) {
				w, cleared, err := clearedClash(t, probe.gitDir != "", &faults{}, func(w *clash) {
					require.NoError(t, w.store.Write(t.Context(), "job", document, []byte("torn"), ports.Durable))
				})
				require.NoError(t, err)
				require.Equal(t, clashBranches, slices.Sorted(slices.Values(cleared.Branches)))
				w.gone()
			})
		})
	}
}
