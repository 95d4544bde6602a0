//go:build unix

package git_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// A journal is what a process that lands, and is killed, has recorded.
type journal struct {
	path      string
	Child     string // the commit to land
	Old, Head string // where the branch was moved from, and to
	Recorded  bool   // the landing is
	Concluded bool
	Snapshot  string // of what was typed, while the merge is made again
}

func readJournal(path string) (*journal, error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path}
	return j, json.Unmarshal(doc, j)
}

func (j *journal) write() error {
	doc, err := json.Marshal(j)
	return errors.Join(err, os.WriteFile(j.path+".new", doc, 0o644), os.Rename(j.path+".new", j.path))
}

// landUntilKilled lands a child as an engine does, from wherever an earlier
// process was killed. A conflict in a.txt is resolved by what a person types.
func landUntilKilled(ctx context.Context, root string) error {
	repo, trees, err := attachLocked(ctx, root)
	if err != nil {
		return err
	}
	j, err := readJournal(filepath.Join(root, "journal"))
	if err != nil {
		return err
	}
	branch := basePlace().Branch
	if err := trees.Move(ctx, branch, j.Old, j.Head); err != nil {
		return err
	}
	ws, err := trees.Open(ctx, basePlace(), j.Head)
	if err != nil {
		return err
	}
	l := lander{in: repo.Integrator(), ws: ws, j: j, spec: ports.MergeSpec{
		Head: j.Head, Theirs: j.Child, Branch: childPlace("c").Branch, Into: branch,
	}}
	if !j.Recorded {
		m, err := l.merge(ctx)
		if err != nil {
			return err
		}
		made, err := l.in.Commit(ctx, l.spec, m.Tree, commitSpec(j.Head, m.Message))
		if err != nil {
			return err
		}
		j.Old, j.Head, j.Recorded = j.Head, made.ID, true
		if err := j.write(); err != nil {
			return err
		}
		if err := trees.Move(ctx, branch, j.Old, j.Head); err != nil {
			return err
		}
	}
	if _, err := l.in.Conclude(ctx, ws, j.Head, "what was left"); err != nil {
		return err
	}
	j.Concluded = true
	return j.write()
}

// A lander lands one child.
type lander struct {
	in   ports.Integrator
	ws   ports.Workspace
	spec ports.MergeSpec
	j    *journal
}

// merge returns a merge without conflicts, that the checkout holds.
func (l lander) merge(ctx context.Context) (ports.Merge, error) {
	held, err := l.in.Held(ctx, l.ws, l.spec)
	if err != nil {
		return ports.Merge{}, err
	}
	if held == ports.HoldEdited && l.j.Snapshot == "" { // else the snapshot was not restored whole
		if l.j.Snapshot, err = l.in.Snapshot(ctx, l.ws, commitSpec(l.spec.Head, "typed")); err != nil {
			return ports.Merge{}, err
		}
		if err := l.j.write(); err != nil {
			return ports.Merge{}, err
		}
	}
	if _, err := l.ws.PutBack(ctx, l.spec.Head, "a merge is made again"); err != nil {
		return ports.Merge{}, err
	}
	m, err := l.in.Merge(ctx, l.ws, l.spec)
	if err != nil || len(m.Conflicts) == 0 {
		return m, err
	}
	a := filepath.Join(l.ws.Dir(), "a.txt")
	if l.j.Snapshot == "" {
		if err := os.WriteFile(a, []byte("typed\n"), 0o644); err != nil {
			return ports.Merge{}, err
		}
	} else {
		if _, err := l.in.Restore(ctx, l.ws, l.j.Snapshot, "x"); err != nil {
			return ports.Merge{}, err
		}
		l.j.Snapshot = ""
		if err := l.j.write(); err != nil {
			return ports.Merge{}, err
		}
	}
	if text, err := os.ReadFile(a); err != nil || string(text) != "typed\n" {
		return ports.Merge{}, fmt.Errorf("what was typed is lost: %q, %w", text, err)
	}
	if m, err = l.in.Resolve(ctx, l.ws, l.spec, m.Conflicts); err == nil && len(m.Conflicts) > 0 {
		err = fmt.Errorf("not resolved: %+v", m.Conflicts)
	}
	return m, err
}

// In the states that a kill at each call of git leaves, before it begins and
// after it ended, the next process lands the child all the same.
func TestALandingThatIsKilledAtAnyCallOfGitIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	real, err := exec.LookPath("git")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		ours, theirs, want string
	}{
		"clean":       {lines, "t\n" + lines, "t\n" + lines},
		"in conflict": {"o\n" + lines, "t\n" + lines, "typed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{"a.txt": lines, "b.txt": "b\n"})
			l := meetIn(w, t, map[string]string{"a.txt": c.ours, "o.txt": "o\n"}, map[string]string{"a.txt": c.theirs, "new/t.txt": "t\n", "b.txt": absent}, nil)
			bin := filepath.Join(w.root, "bin")
			// Calls may go on at once: each takes the first number that nobody has.
			gittest.Program(t, filepath.Join(bin, "git"), `#!/bin/sh
n=1; set -C; until { true >"$AGL_TEST_CALLS/$n"; } 2>/dev/null; do n=$((n + 1)); [ -d "$AGL_TEST_CALLS" ] || exit 1; done; set +C
[ $n = "$AGL_TEST_BEFORE" ] && kill -9 $PPID && exit 1
[ $n = "$AGL_TEST_AFTER" ] || exec '`+real+`' "$@"
'`+real+`' "$@"
kill -9 $PPID
`)
			live := func(when string, at int) bool {
				calls, err := os.MkdirTemp(w.root, "calls-")
				require.NoError(t, err)
				var stderr strings.Builder
				cmd := exec.CommandContext(t.Context(), self)
				cmd.Env = append(w.env, "AGL_TEST_KILLED_LANDING="+w.root, "PATH="+bin+":"+os.Getenv("PATH"), "AGL_TEST_CALLS="+calls, fmt.Sprintf("%s=%d", when, at))
				cmd.Stderr = &stderr
				err = cmd.Run()
				var exit *exec.ExitError
				if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == -1) {
					t.Fatalf("%s %d: %v: %s", when, at, err, stderr.String())
				}
				return err != nil
			}
			path := filepath.Join(w.root, "journal")
			killed := true
			for at := 1; killed; at++ {
				when := []string{"AGL_TEST_BEFORE", "AGL_TEST_AFTER"}[at%2]
				branch := basePlace().Branch
				w.git(w.dir, "update-ref", "refs/heads/"+branch, l.spec.Head)
				_, err := l.ws.PutBack(t.Context(), l.spec.Head, "the next round")
				require.NoError(t, err)
				require.NoError(t, (&journal{path: path, Child: l.spec.Theirs, Old: l.spec.Head, Head: l.spec.Head}).write())
				killed = live(when, at)
				for live("AGL_TEST_BEFORE", 0) {
				}
				j, err := readJournal(path)
				require.NoError(t, err)
				require.True(t, j.Concluded)
				require.Equal(t, l.spec.Head+" "+l.spec.Theirs, w.git(w.dir, "log", "-1", "--format=%P", j.Head))
				require.Equal(t, "a.txt\nnew/t.txt\no.txt", w.git(w.dir, "ls-tree", "-r", "--name-only", j.Head))
				require.Equal(t, c.want, w.read(l.path("a.txt")))
				whole(t, w, l.ws, j.Head)
				l.noHold()
				if !killed {
					t.Logf("%d calls of git", at-1)
				}
			}
			for file := range snapshot(t, filepath.Join(w.dir, ".git")) {
				if strings.HasSuffix(file, ".lock") && file != "agl-worktrees.lock" || strings.Contains(file, "agl-landing") || strings.Contains(file, "agl-index") {
					t.Errorf("%s is left", file)
				}
			}
		})
	}
}
