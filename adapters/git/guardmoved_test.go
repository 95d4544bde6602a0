package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// A step that was interrupted is concluded, or given up, only if its guard
// holds: what moved meanwhile, and by whom, must not look like an attack.
func TestAGuardHoldsWhereverThingsWereMoved(t *testing.T) {
	t.Parallel()
	move := func(w *world, what *string) {
		to := *what + "-moved"
		require.NoError(w.t, os.Rename(*what, to))
		*what = to
	}
	for name, moved := range map[string]func(w *world){
		"the repository": func(w *world) { move(w, &w.dir) },
		"the checkouts":  func(w *world) { move(w, &w.trees) },
		"both":           func(w *world) { move(w, &w.dir); move(w, &w.trees) },
		"to a name that is no UTF-8": func(w *world) {
			require.NoError(w.t, os.Rename(w.dir, w.dir+"\xff"))
			w.dir += "\xff"
		},
		"the user's home": func(w *world) {
			w.env = append(w.env, "HOME="+filepath.Join(w.root, "other"), "XDG_CONFIG_HOME="+filepath.Join(w.root, "config"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.write(filepath.Join(w.home, ".config/git/ignore"), "*.o\n")
			before, err := w.checkout().Guard(t.Context())
			require.NoError(t, err)

			moved(w)
			w.open()
			ws := w.checkout()
			require.NoError(t, ws.Verify(t.Context(), before))
			_, err = ws.PutBack(t.Context(), w.base, "test")
			require.NoError(t, err)

			w.write(filepath.Join(w.dir, ".git/info/exclude"), "*\n")
			var tampered *ports.TamperedError
			require.ErrorAs(t, ws.Verify(t.Context(), before), &tampered)
			require.Len(t, tampered.Changes, 1)
			require.Contains(t, tampered.Changes[0], ".git/info/exclude was changed")
		})
	}
}

func TestAGuardHoldsInARepositoryWhosePathIsNoUTF8(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	require.NoError(t, os.Rename(w.dir, w.dir+"\xff"))
	w.dir += "\xff"
	w.open()
	ws := w.checkout()
	before, err := ws.Guard(t.Context())
	require.NoError(t, err)
	require.NoError(t, ws.Verify(t.Context(), before))
	w.write(filepath.Join(w.dir, ".git/hooks/post-commit"), "#!/bin/sh\n")
	var tampered *ports.TamperedError
	require.ErrorAs(t, ws.Verify(t.Context(), before), &tampered)
}
