package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/agl/ports"
)

func TestAFailedCallHasTheKindThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	r := &Repo{common: "/r/.git"}
	for stderr, want := range map[string]struct {
		kind ports.Kind
		says string
	}{
		"fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process":     {ports.Unavailable, "/r/.git/index.lock"},
		"error: unable to write file /r/x: No space left on device\nfatal: adding files failed": {ports.Unavailable, "No space left"},
		"error: insufficient permission for adding an object to repository database":            {ports.Unavailable, "permission"},
		"error: unable to write file d/x\nerror: unable to write file d/y":                      {ports.Unavailable, "unable to write file d/x"},
		"fatal: unable to write new index file":                                                 {ports.Unavailable, "new index file"},
		"fatal: update_ref failed for ref 'refs/heads/b': couldn't write '/r/b.lock'":           {ports.Unavailable, "couldn't write"},
		"fatal: bad object HEAD":              {ports.NotFound, "an object is missing from /r/.git"},
		"fatal: x: clean filter 'lfs' failed": {ports.Unavailable, "lfs"},
		"fatal: something nobody has seen":    {ports.Unexpected, "nobody has seen"},
	} {
		err := r.fault("do it", fmt.Errorf("step: %w", &exitError{Args: []string{"add"}, Code: 128, Stderr: stderr}))
		if ports.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is %q: %v", stderr, ports.KindOf(err), err)
		}
	}
	if err := r.fault("do it", &exitError{Args: []string{"add"}, Code: -1}); !errors.Is(err, ports.Unavailable) {
		t.Errorf("a killed git is %v", err)
	}
	if err := r.fault("do it", fmt.Errorf("x: %w", context.Canceled)); ports.KindOf(err) != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call is %v", err)
	}
	if err := r.fault("do it", nil); err != nil {
		t.Error(err)
	}
}

func TestOnlyWhatTheStepLeftIsItsFailure(t *testing.T) {
	t.Parallel()
	for stderr, rejected := range map[string]string{
		"error: 'app/' does not have a commit checked out\nfatal: adding files failed":                                             "app/ is a git repository",
		"error: open(\"secret\"): Permission denied\nerror: unable to index file 'secret'\nfatal: adding files failed":             "secret",
		"error: invalid path 'sub/.GIT/config'\nerror: unable to add 'sub/.GIT/config' to index":                                   ".GIT",
		"fatal: Unable to create '/r/index.lock': File exists.":                                                                    "",
		"error: unable to create temporary file: No space left on device\nerror: unable to index file 'x'":                         "",
		"error: insufficient permission for adding an object to repository database .git/objects\nerror: unable to index file 'x'": "",
		"fatal: x: clean filter 'lfs' failed":                                                                                      "",
		"fatal: out of memory":                                                                                                     "",
	} {
		err := stageFailure(fmt.Errorf("x: %w", &exitError{Args: []string{"add"}, Code: 128, Stderr: stderr}))
		var refused *ports.RejectedError
		if got := errors.As(err, &refused); got != (rejected != "") || got && !strings.Contains(err.Error(), rejected) {
			t.Errorf("%q: %v", stderr, err)
		}
	}
}
