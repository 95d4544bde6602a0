package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// Git follows links to the files it writes: an index that is a link to the
// operator's would be replaced there.
func TestALinkInTheWayOfAGLsGitIsTampering(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]func(w *world, ws ports.Workspace) string{
		"the index":       func(w *world, ws ports.Workspace) string { return filepath.Join(w.adminDir(ws), "index") },
		"the log of HEAD": func(w *world, ws ports.Workspace) string { return filepath.Join(w.adminDir(ws), "logs", "HEAD") },
		"the branch":      func(w *world, _ ports.Workspace) string { return filepath.Join(w.dir, ".git/refs/heads/agl", label) },
		"its log": func(w *world, _ ports.Workspace) string {
			return filepath.Join(w.dir, ".git/logs/refs/heads/agl", label)
		},
		"a folder of logs":  func(w *world, _ ports.Workspace) string { return filepath.Join(w.dir, ".git/logs/refs/agl") },
		"salvage":           func(w *world, _ ports.Workspace) string { return filepath.Join(w.dir, ".git/refs/agl/salvage") },
		"all refs":          func(w *world, _ ports.Workspace) string { return filepath.Join(w.dir, ".git/refs") },
		"all objects":       func(w *world, _ ports.Workspace) string { return filepath.Join(w.dir, ".git/objects") },
		"some objects":      func(w *world, _ ports.Workspace) string { return filepath.Join(w.dir, ".git/objects/00") },
		"a folder of packs": func(w *world, _ ports.Workspace) string { return filepath.Join(w.dir, ".git/objects/pack") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			before, err := ws.Guard(t.Context())
			require.NoError(t, err)
			path, target := where(w, ws), filepath.Join(w.root, "elsewhere")
			if _, err := os.Lstat(path); err == nil {
				require.NoError(t, os.Rename(path, target))
			}
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.Symlink(target, path))
			err = ws.Verify(t.Context(), before)
			var tampered *ports.TamperedError
			require.ErrorAs(t, err, &tampered)
			require.ErrorContains(t, err, path+" is a link to "+target)

			now, err := ws.Guard(t.Context())
			require.NoError(t, err)
			require.NoError(t, ws.Verify(t.Context(), now), "a link that was there before the step")
		})
	}
}

func TestNotEveryChangeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ws := w.checkout()
	before, err := ws.Guard(t.Context())
	require.NoError(t, err)
	for i := range 25 {
		w.git(ws.Dir(), "config", fmt.Sprintf("alias.x%02d", i), "!x")
	}
	err = ws.Verify(t.Context(), before)
	require.ErrorContains(t, err, "alias.x19")
	require.ErrorContains(t, err, "and 5 more")
	require.NotContains(t, err.Error(), "alias.x20")
}
