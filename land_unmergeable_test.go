package agl_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
)

// What keeps the commits of one child from being merged is that landing's
// failure: its siblings land, and a resume tries it again.
func TestAChildThatCannotBeCheckedOutKeepsNoOtherFromLanding(t *testing.T) {
	t.Parallel()
	w := newClash(t, true)
	w.git("config", "filter.big.clean", "cat")
	w.git("config", "filter.big.required", "true")
	w.git("config", "filter.big.smudge", "false")
	w.play = func(tn *turn) (any, error) {
		tn.write(tn.Namespace+".txt", "x\n")
		if tn.Namespace == "b" {
			tn.write(".gitattributes", "*.big filter=big\n")
			tn.write("x.big", "x\n")
		}
		return patch{}, nil
	}
	var errs []error
	wf := script(func(ctx context.Context, run *agl.Run) error {
		children, err := opens(ctx, run, "a", "b", "c")
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := build(ctx, child, "x"); err != nil {
				return err
			}
		}
		errs = nil
		for _, child := range children {
			errs = append(errs, child.Integrate(ctx, agl.Abandon))
		}
		return errors.Join(errs...)
	}, builder)
	require.ErrorContains(t, w.start(job(wf)), "smudge filter big failed")
	require.ErrorIs(t, errs[1], agl.Unavailable)
	require.NoError(t, errors.Join(errs[0], errs[2]))
	require.Equal(t, agl.StateFailed, w.info().State)
	require.Empty(t, w.gitIn(w.checkout(), "status", "--porcelain"))
	require.Contains(t, w.landed(), "c.txt")
	w.agents()

	w.git("config", "filter.big.smudge", "cat")
	require.NoError(t, w.resume(wf))
	require.Equal(t, "x\n", w.landed()["x.big"])
	require.Empty(t, w.agents())
}
