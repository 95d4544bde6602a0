package mem_test

import (
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
)

// A landing is a merge of one line into another.
type landing struct {
	*testing.T
	in           ports.Integrator
	ours, theirs *line
	spec         ports.MergeSpec
}

// meet returns the landing of a line that has committed files into one that
// has, each from the same beginning.
func meet(t *testing.T, repo *mem.Repository, ours, theirs []string) *landing {
	t.Helper()
	l := &landing{T: t, in: repo.Integrator(), ours: begin(t, repo, "ours", ""), theirs: begin(t, repo, "theirs", "")}
	l.ours.commit(ours...)
	l.theirs.commit(theirs...)
	l.spec = ports.MergeSpec{Head: l.ours.head, Theirs: l.theirs.head, Branch: l.theirs.place.Branch, Into: l.ours.place.Branch}
	return l
}

func (l *landing) merge() ports.Merge {
	l.Helper()
	m, err := l.in.Merge(l.Context(), l.ours.ws, l.spec)
	require.NoError(l, err)
	return m
}

func (l *landing) held() ports.Hold {
	l.Helper()
	held, err := l.in.Held(l.Context(), l.ours.ws, l.spec)
	require.NoError(l, err)
	return held
}

func (l *landing) file(path string) string {
	l.Helper()
	data, err := fs.ReadFile(l.ours.ws.Tree(), path)
	require.NoError(l, err)
	return string(data)
}

func TestAFileInConflictHasBothSidesBetweenMarkers(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "0\n", "bin": "\x00", "gone": "0\n"})
	l := meet(t, repo, []string{"a", "ours", "n", "", "bin", "\x00o", "gone", ""}, []string{"a", "theirs\n", "n", "n\n", "bin", "\x00t", "gone", "1\n"})
	m := l.merge()
	require.Equal(t, []ports.ConflictPath{
		{Path: "a", Kind: ports.ConflictContent}, {Path: "bin", Kind: ports.ConflictContent}, {Path: "gone", Kind: ports.ConflictDeleteModify},
	}, m.Conflicts)
	require.Empty(t, m.Tree)
	require.Equal(t, "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> agl/_work/job/theirs\n", l.file("a"))
	require.Equal(t, "\x00o", l.file("bin"))
	require.Equal(t, "1\n", l.file("gone"))
	require.Equal(t, "n\n", l.file("n"))
	require.Equal(t, ports.HoldPristine, l.held())

	again, err := l.in.Resolve(t.Context(), l.ours.ws, l.spec, m.Conflicts)
	require.NoError(t, err)
	const untouched = "nobody has touched it"
	require.Equal(t, []ports.ConflictPath{
		{Path: "a", Kind: ports.ConflictMarkers, Note: "line 1"},
		{Path: "bin", Kind: ports.ConflictContent, Note: untouched},
		{Path: "gone", Kind: ports.ConflictDeleteModify, Note: untouched},
	}, again.Conflicts)
	require.NoError(t, l.ours.ws.WriteFile(t.Context(), "a", []byte("both\n> =======\n")))
	require.NoError(t, l.ours.ws.WriteFile(t.Context(), "bin", []byte("\x00b")))
	require.NoError(t, l.ours.ws.Remove(t.Context(), "gone"))
	again, err = l.in.Resolve(t.Context(), l.ours.ws, l.spec, m.Conflicts)
	require.NoError(t, err)
	require.Empty(t, again.Conflicts)
	made, err := l.in.Commit(t.Context(), l.spec, again.Tree, ports.CommitSpec{Message: again.Message, Identity: "A <a@example.com>", Date: time.Unix(1e9, 0)})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "both\n> =======\n", "bin": "\x00b", "n": "n\n"}, repo.Files(made.ID))
}

func TestAMergeThatMemoryCannotTellHoldsNothing(t *testing.T) {
	t.Parallel()
	long := "a line like many\nanother\nand more\n"
	repo := newRepository(map[string]string{"from": long})
	l := meet(t, repo, []string{"from", "", "to", long}, []string{"from", long + "x\n"})
	_, err := l.in.Merge(t.Context(), l.ours.ws, l.spec)
	require.ErrorIs(t, err, mem.ErrUnsupported)
	require.Equal(t, ports.HoldNone, l.held())
}

func TestAHoldIsExportedAndLostInAPowerCut(t *testing.T) {
	t.Parallel()
	repo := newRepository(map[string]string{"a": "0\n", "b": "0\n"})
	l := meet(t, repo, []string{"a", "ours\n"}, []string{"a", "theirs\n"})
	m := l.merge()
	doc, err := repo.Export()
	require.NoError(t, err)
	copied, err := mem.ImportRepository(mem.NewClock(), doc)
	require.NoError(t, err)
	k := begin(t, copied, "ours", l.ours.head)
	held, err := copied.Integrator().Held(t.Context(), k.ws, l.spec)
	require.NoError(t, err)
	require.Equal(t, ports.HoldPristine, held)
	_, err = copied.Integrator().Held(t.Context(), l.ours.ws, l.spec)
	require.ErrorIs(t, err, ports.Invalid, "a checkout of another repository")
	require.NoError(t, k.ws.WriteFile(t.Context(), "a", []byte("mine\n")))
	again, err := copied.Integrator().Resolve(t.Context(), k.ws, l.spec, m.Conflicts)
	require.NoError(t, err)
	require.Empty(t, again.Conflicts)
	require.Equal(t, ports.HoldPristine, l.held(), "the copy is apart")

	repo.PowerCut()
	require.Equal(t, ports.HoldNone, l.held())
	changes, err := l.ours.ws.Inspect(t.Context(), l.ours.head)
	require.NoError(t, err)
	require.True(t, changes.Clean(l.ours.head), "%+v", changes)
}
