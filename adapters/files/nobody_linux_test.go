package files_test

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/proc"
)

// asNobody takes root's rights to files from the calling test. Its thread ends
// with it.
func asNobody(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		require.NoError(t, syscall.Setfsuid(65534))
	}
}

// self is this process in the name of a temporary file.
func self(*testing.T) string {
	id := proc.Self()
	return fmt.Sprintf("%d.%d", id.PID, id.Start)
}
