//go:build unix

package git_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// Git would wait at one for as long as it is let, and hold the run's lock for
// longer than AGL lives.
func TestAPipeInTheWayOfAGLsGitIsTampering(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"index", "logs/HEAD"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			ws := w.checkout()
			before, err := ws.Guard(t.Context())
			require.NoError(t, err)
			path := filepath.Join(w.adminDir(ws), file)
			require.NoError(t, os.Rename(path, path+".was"))
			require.NoError(t, syscall.Mkfifo(path, 0o666))
			var tampered *ports.TamperedError
			err = ws.Verify(t.Context(), before)
			require.ErrorAs(t, err, &tampered)
			require.ErrorContains(t, err, path+" is neither a file nor a folder")

			require.NoError(t, os.Rename(path+".was", path))
			require.NoError(t, ws.Verify(t.Context(), before))
		})
	}
}
