package copilot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/copilot"
)

var writesThroughLinks = play("it writes through links", begun(func(s *standIn) {
	dir, _ := os.Getwd()
	for _, name := range []string{"new", "first", "loop", "inner", "dir/new"} {
		s.say("permission.requested", object{"requestId": name, "permissionRequest": object{"kind": "write", "fileName": filepath.Join(dir, name)}})
		var params struct{ Result struct{ Kind string } }
		_ = json.Unmarshal(s.await("session.permissions.handlePendingPermissionRequest"), &params)
		s.keep(filepath.Base(filepath.Dir(name))+"-"+filepath.Base(name), []byte(params.Result.Kind))
	}
	s.answer("all done")
	s.end()
}))

// A repository may have links to files that are not there yet: who writes to one
// makes what it names.
func TestALinkToWhatIsNotThereLeadsOutOfTheCheckout(t *testing.T) {
	t.Parallel()
	agent, out := standsIn(t, copilot.Options{}, writesThroughLinks)
	task := request(t, "hi")
	for name, target := range map[string]string{
		"new": "/no-such-folder/file", "first": "new", "loop": "loop", "inner": "made/later", "dir": "/no-such-folder",
	} {
		if err := os.Symlink(target, filepath.Join(task.Dir, name)); err != nil {
			t.Skipf("there are no links: %v", err)
		}
	}
	_, err := agent.Run(t.Context(), task, silent)
	require.NoError(t, err)
	for name, want := range map[string]string{".-new": "reject", ".-first": "reject", ".-loop": "reject", ".-inner": "approve-once", "dir-new": "reject"} {
		got, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), name)
	}
}
