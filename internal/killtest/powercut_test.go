//go:build linux

package killtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A loss is what a power cut takes besides what it always takes: documents,
// objects and references that were not synced.
type loss string

const (
	lossNone     loss = "nothing else"
	lossIndex    loss = "the index"
	lossAdmin    loss = "the worktree's folder in the repository"
	lossCheckout loss = "the checkout"
	lossBoth     loss = "the checkout and its folder in the repository"
)

var losses = []loss{lossNone, lossIndex, lossAdmin, lossCheckout, lossBoth}

// TestAfterAPowerCutNoRecordNamesWhatIsNotThere kills a run where it calls git,
// or in the middle of writing a document, and takes away all that no sync was
// seen for.
func TestAfterAPowerCutNoRecordNamesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := fixPlay.uninterrupted(t)
	calls := countDiskCalls(t)
	var points []point
	for i, at := range every(30, 14, w.calls) {
		points = append(points, point{gitCall, at, []moment{before, after}[i%2]})
	}
	for _, at := range every(41, 9, calls) {
		points = append(points, point{diskCall, at, before})
	}
	for i, p := range points {
		l := losses[i%len(losses)]
		t.Run(fmt.Sprintf("%s, %s is lost", p, l), func(t *testing.T) {
			takeTurn(t)
			s := newSandbox(t, fixPlay.script())
			d := newDisk(t, s.dir, s.repo)
			operators := s.operators()
			s.dies(d, p)
			s.endAll()
			kept := s.salvaged()
			require.NoError(t, s.cutPower(d, l))
			require.Equal(t, kept, s.salvaged(), "salvage was lost")
			s.headsAreThere()
			s.noteKill()

			proc := s.prepare(point{}, nil, "agl", s.next(fixPlay)...)
			d.watch(0, proc)
			r := proc.wait()
			require.Zero(t, r.code, "%s", r)
			require.NoError(t, s.cutPower(d, lossNone))
			s.headsAreThere()
			s.isDone(w)
			if l == lossCheckout && !exists(s.checkout()) { // the run had ended: nothing asked for it again
				r = s.agl("clear", label)
				require.Zero(t, r.code, "%s", r)
				require.NotContains(t, s.realGit(s.repo, "worktree", "list", "--porcelain"), "prunable")
				return
			}
			s.leavesNothing(operators)
		})
	}
}

// dies starts the play, watched, and has it killed at p.
func (s *sandbox) dies(d *disk, p point) {
	s.t.Helper()
	proc := s.prepare(p, nil, "agl", fixPlay.run(s)...)
	at := 0
	if p.what == diskCall {
		at = p.at
	}
	d.watch(at, proc)
	r := proc.wait()
	require.True(s.t, r.killed, "%s", r)
}

var inPlay struct {
	sync.Once
	calls int
}

// countDiskCalls returns how often the command itself syncs or renames in the
// play.
func countDiskCalls(t *testing.T) int {
	t.Helper()
	inPlay.Do(func() {
		s := newSandbox(t, fixPlay.script())
		d := newDisk(t)
		proc := s.prepare(point{}, nil, "agl", fixPlay.run(s)...)
		d.watch(0, proc)
		r := proc.wait()
		require.Zero(t, r.code, "%s", r)
		inPlay.calls = int(d.calls.Load())
	})
	if inPlay.calls == 0 {
		t.Skip("the run that was to be counted failed, or could not be watched: another test tells")
	}
	require.Greater(t, inPlay.calls, 18, "six records are synced, renamed and their folder synced")
	return inPlay.calls
}

// cutPower leaves of the sandbox what was synced. Its processes are gone.
func (s *sandbox) cutPower(d *disk, l loss) error {
	var errs []error
	remove := func(path string) { errs = append(errs, os.RemoveAll(path)) }
	walk(s.t, filepath.Join(s.gitDir(), "objects"), func(_, path string, e fs.DirEntry) bool {
		if e.Type().IsRegular() && !d.holds(path) {
			remove(path)
		}
		return false
	})
	walk(s.t, s.gitDir(), func(name, path string, e fs.DirEntry) bool {
		if strings.Contains("/"+name, "/logs/") && e.Type().IsRegular() && !d.holds(path) {
			remove(path)
		}
		return name == "objects"
	})
	for _, refs := range []string{"refs", "packed-refs"} {
		walk(s.t, filepath.Join(s.gitDir(), refs), func(name, path string, e fs.DirEntry) bool {
			if !e.Type().IsRegular() || d.holds(path) {
				return false
			}
			if was, ok := d.was(path); ok {
				errs = append(errs, os.WriteFile(path, []byte(was), 0o600))
			} else {
				remove(path)
			}
			return false
		})
	}
	walk(s.t, s.home, func(name, path string, e fs.DirEntry) bool {
		if name == "trees" {
			return true
		}
		gone := !d.leadsTo(s.dir, path) || e.Type().IsRegular() && !d.holds(path)
		if gone {
			remove(path)
		}
		return gone
	})
	admins := filepath.Join(s.gitDir(), "worktrees")
	switch l {
	case lossIndex:
		indexes, err := filepath.Glob(filepath.Join(admins, "*", "index"))
		errs = append(errs, err)
		for _, index := range indexes {
			errs = append(errs, os.Truncate(index, 0))
		}
	case lossAdmin:
		remove(admins)
	case lossCheckout:
		checkouts, err := filepath.Glob(filepath.Join(s.home, "trees", "*", "*", "_base"))
		errs = append(errs, err)
		for _, checkout := range checkouts {
			remove(checkout)
		}
	case lossBoth:
		remove(admins)
		remove(filepath.Join(s.home, "trees"))
	}
	return errors.Join(errs...)
}

// headsAreThere checks that everything is in the repository that a record
// names.
func (s *sandbox) headsAreThere() {
	s.t.Helper()
	for _, file := range s.documents("records") {
		var r struct {
			Head, Before string
			Landing      struct{ Before, After, Child string }
		}
		header, _, _ := strings.Cut(read(file), "\n") // a large value is behind it
		require.NoError(s.t, json.Unmarshal([]byte(header), &r))
		for _, commit := range []string{r.Before, r.Head, r.Landing.Before, r.Landing.After, r.Landing.Child} {
			if commit != "" {
				s.realGit(s.repo, "rev-list", "--objects", "--quiet", commit)
			}
		}
	}
}

// salvaged returns the refs that keep what was put back.
func (s *sandbox) salvaged() []string {
	return strings.Fields(s.realGit(s.repo, "for-each-ref", "--format=%(refname):%(objectname)", "refs/agl/salvage/"))
}

// endAll ends every process of the sandbox.
func (s *sandbox) endAll() {
	s.t.Helper()
	await(s.t, "the end of every process", func() bool {
		left := processes(s.mark)
		for _, p := range left {
			_ = p.Kill()
		}
		return len(left) == 0
	})
}
