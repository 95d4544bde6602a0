//go:build linux

package killtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAResumeWaitsForAGitThatOutlivedItsAGL kills the command while a git call
// of its runs: the run stays locked until that has ended, and a resume touches
// nothing before.
func TestAResumeWaitsForAGitThatOutlivedItsAGL(t *testing.T) {
	t.Parallel()
	w := fixPlay.uninterrupted(t)
	commands := []string{"worktree", "write-tree"}
	if *killAll {
		commands = nil
		for _, c := range w.notes {
			if !slices.Contains(commands, c.Args[0]) && writes(c) {
				commands = append(commands, c.Args[0])
			}
		}
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			takeTurn(t)
			at := 1 + slices.IndexFunc(w.notes, func(c call) bool { return c.Args[0] == command && writes(c) })
			require.Positive(t, at, "AGL does not call git %s", command)
			s := newSandbox(t, fixPlay.script())
			s.notes = true
			operators := s.operators()
			r := s.start(point{gitCall, at, outlived}, nil, "work", fixPlay.workflow, label, s.script).wait()
			require.True(t, r.killed, "%s", r)
			s.noteKill()
			gate := filepath.Join(s.dir, "gate")
			await(t, "the git call", func() bool { return exists(gate + ".waiting") })
			require.False(t, s.lockIsFree(), "AGL is dead, its git is not, and the run's lock is free")

			resumed := s.start(point{}, nil, "work", fixPlay.workflow, label, s.script)
			await(t, "the resume's look at the lock", func() bool { return resumed.hasOpen(s.runLock()) })
			require.NoError(t, os.WriteFile(gate, nil, 0o600))
			r = resumed.wait()
			require.Zero(t, r.code, "%s", r)
			ended, err := time.Parse(time.RFC3339Nano, read(gate+".ended"))
			require.NoError(t, err)
			for _, call := range r.calls {
				if writes(call) && call.Began.Before(ended) {
					t.Errorf("git %v was called while another git of the run was at work", call.Args)
				}
			}
			s.isDone(w)
			s.leavesNothing(operators)
		})
	}
}

// writes reports whether a call may change the repository or a checkout. One
// that only reads may outlive its AGL without harm, and does not hold the lock.
func writes(c call) bool {
	return !slices.Contains([]string{
		"cat-file", "config", "diff-tree", "for-each-ref", "hash-object", "ls-files", "ls-tree", "merge-base",
		"rev-list", "rev-parse", "var", "version",
	}, c.Args[0])
}

// hasOpen reports whether the process has a file open.
func (p *process) hasOpen(path string) bool {
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	for _, fd := range fds {
		if target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", p.cmd.Process.Pid, fd.Name())); err == nil && target == path {
			return true
		}
	}
	return false
}
