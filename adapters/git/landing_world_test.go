package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// A landing is a child's work that is to be merged into the run's checkout.
type landing struct {
	*world
	t    *testing.T
	in   ports.Integrator
	ws   ports.Workspace // the parent's
	spec ports.MergeSpec
}

// absent is the content of a file that a side removes.
const absent = "\x00absent"

// meet makes a parent and a child of one beginning, each with a commit of its
// own changes: files by name. Of the child there is only the branch.
func meet(t *testing.T, base, ours, theirs map[string]string) *landing {
	t.Helper()
	w := bareWorld(t)
	parent, child := basePlace(), childPlace("c")
	gittest.Prepared(t, w.dir, fmt.Sprintf("landing %q %q %q", base, ours, theirs), func() {
		w.begin(base)
		w.branch(parent.Branch, "ours", ours)
		w.branch(child.Branch, "theirs", theirs)
	})
	w.base = w.ref("heads/main")
	w.open()
	l := &landing{world: w, t: t, in: w.repo.Integrator(), spec: ports.MergeSpec{
		Head: w.ref("heads/" + parent.Branch), Theirs: w.ref("heads/" + child.Branch), Branch: child.Branch, Into: parent.Branch,
	}}
	l.ws = w.checkoutAt(l.spec.Head)
	return l
}

// branch makes a branch with a commit of changes to the first one, if there
// are any.
func (w *world) branch(name, message string, changes map[string]string) {
	w.t.Helper()
	w.git(w.dir, "checkout", "-q", "-b", name, "main")
	if len(changes) > 0 {
		w.change(w.dir, changes)
		w.git(w.dir, "add", "-A")
		w.git(w.dir, "commit", "-q", "-m", message)
	}
	w.git(w.dir, "checkout", "-q", "main")
}

// change writes and removes files.
func (w *world) change(dir string, files map[string]string) {
	w.t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if content == absent {
			require.NoError(w.t, os.Remove(path))
		} else {
			w.write(path, content)
		}
	}
}

// meetIn makes both in a world, as AGL does: each has a checkout, which more may
// change besides.
func meetIn(w *world, t *testing.T, ours, theirs map[string]string, more func(parent, child string)) *landing {
	t.Helper()
	l := &landing{world: w, t: t, in: w.repo.Integrator()}
	parent, child := basePlace(), childPlace("c")
	var err error
	l.ws, err = w.attach().Open(t.Context(), parent, w.base)
	require.NoError(t, err)
	other, err := w.attach().Open(t.Context(), child, w.base)
	require.NoError(t, err)
	for ws, files := range map[ports.Workspace]map[string]string{l.ws: ours, other: theirs} {
		w.change(ws.Dir(), files)
	}
	if more != nil {
		more(l.ws.Dir(), other.Dir())
	}
	l.spec = ports.MergeSpec{
		Head: l.commitAll(l.ws, parent, "ours"), Theirs: l.commitAll(other, child, "theirs"),
		Branch: child.Branch, Into: parent.Branch,
	}
	return l
}

func (l *landing) commitAll(ws ports.Workspace, place ports.Place, message string) string {
	l.t.Helper()
	made, err := ws.Commit(l.t.Context(), commitSpec(l.base, message))
	require.NoError(l.t, err)
	require.NoError(l.t, l.attach().Move(l.t.Context(), place.Branch, l.base, made.ID))
	return made.ID
}

func (l *landing) path(name string) string { return filepath.Join(l.ws.Dir(), name) }

func (l *landing) merge() ports.Merge {
	l.t.Helper()
	m, err := l.in.Merge(l.t.Context(), l.ws, l.spec)
	require.NoError(l.t, err)
	return m
}

func (l *landing) resolve(were []ports.ConflictPath) ports.Merge {
	l.t.Helper()
	m, err := l.in.Resolve(l.t.Context(), l.ws, l.spec, were)
	require.NoError(l.t, err)
	return m
}

func (l *landing) held(want ports.Hold) {
	l.t.Helper()
	got, err := l.in.Held(l.t.Context(), l.ws, l.spec)
	require.NoError(l.t, err)
	require.Equal(l.t, want, got)
}

// land commits what a merge came to, moves the branch and concludes.
func (l *landing) land(m ports.Merge) (ports.Commit, ports.PutBack) {
	l.t.Helper()
	require.Empty(l.t, m.Conflicts)
	made, err := l.in.Commit(l.t.Context(), l.spec, m.Tree, commitSpec(l.spec.Head, m.Message))
	require.NoError(l.t, err)
	require.NoError(l.t, l.attach().Move(l.t.Context(), l.spec.Into, l.spec.Head, made.ID))
	done, err := l.in.Conclude(l.t.Context(), l.ws, made.ID, "what the gate left")
	require.NoError(l.t, err)
	whole(l.t, l.world, l.ws, made.ID)
	l.noHold()
	return made, done
}

// giveUp puts the parent's checkout back.
func (l *landing) giveUp() ports.PutBack {
	l.t.Helper()
	done, err := l.ws.PutBack(l.t.Context(), l.spec.Head, "given up")
	require.NoError(l.t, err)
	whole(l.t, l.world, l.ws, l.spec.Head)
	l.noHold()
	return done
}

func (l *landing) noHold() {
	l.t.Helper()
	for _, name := range []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "index.lock"} {
		require.False(l.t, l.exists(filepath.Join(l.adminDir(l.ws), name)), name)
	}
	l.held(ports.HoldNone)
}

func kinds(conflicts []ports.ConflictPath) map[string]string {
	kinds := map[string]string{}
	for _, c := range conflicts {
		kinds[c.Path] = c.Kind
	}
	return kinds
}
