package local_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/local"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// moving is a repository with a run that has a checkout and a record.
type moving struct {
	repo *gittest.Repo
	opts local.Options
	was  *local.Project
}

func newMoving(t *testing.T) *moving {
	t.Helper()
	m := &moving{repo: gittest.New(t, map[string]string{"file": "text\n"})}
	m.opts = local.Options{Repo: m.repo.Dir, Home: t.TempDir(), Env: m.repo.Env, Build: ptr("make")}
	var err error
	m.was, err = local.Find(t.Context(), m.opts)
	require.NoError(t, err)
	_, err = local.Init(t.Context(), m.opts)
	require.NoError(t, err)
	set, err := local.New(t.Context(), m.opts)
	require.NoError(t, err)
	require.NoError(t, set.Store.Write(t.Context(), "demo", "run.json", []byte("{}"), ports.Durable))
	lock, err := set.Store.Lock(t.Context(), "demo")
	require.NoError(t, err)
	trees, err := set.Workspaces.Attach(t.Context(), "demo", lock)
	require.NoError(t, err)
	_, err = trees.Open(t.Context(), ports.Place{Namespace: ports.Base, Branch: "agl/demo"}, m.repo.Git("rev-parse", "HEAD"))
	require.NoError(t, err)
	require.NoError(t, lock.Release())
	return m
}

// move moves the repository and returns where it was.
func (m *moving) move(t *testing.T) (old string) {
	t.Helper()
	old = m.repo.Dir
	m.repo.Dir = filepath.Join(filepath.Dir(old), "elsewhere")
	m.opts.Repo = m.repo.Dir
	require.NoError(t, os.Rename(old, m.repo.Dir))
	return old
}

func (m *moving) requireWhole(t *testing.T, p *local.Project) {
	t.Helper()
	require.NotEqual(t, m.was.Name, p.Name)
	found, err := local.Find(t.Context(), m.opts)
	require.NoError(t, err)
	require.Equal(t, p, found)
	require.Equal(t, "make", found.Build, "the settings came along")
	set, err := local.New(t.Context(), m.opts)
	require.NoError(t, err)
	labels, err := set.Store.Runs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"demo"}, labels)
	checkout := filepath.Join(p.Trees, "demo", ports.Base)
	require.FileExists(t, filepath.Join(checkout, "file"))
	require.Contains(t, m.repo.Git("worktree", "list", "--porcelain"), "worktree "+checkout+"\n")
	require.NotContains(t, m.repo.Git("worktree", "list", "--porcelain"), "prunable")
	require.Equal(t, "agl/demo", m.repo.Git("-C", checkout, "branch", "--show-current"))
	require.NoDirExists(t, m.was.Trees)
	require.NoDirExists(t, filepath.Join(m.was.Home, "projects", m.was.Name))
}

func TestAMovedRepositoryGetsItsRecordsAndCheckoutsBack(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	old := m.move(t)
	p, err := local.Moved(t.Context(), old, m.opts)
	require.NoError(t, err)
	m.requireWhole(t, p)
}

func TestFollowingAMoveCanBeRepeatedAfterItWasKilled(t *testing.T) {
	t.Parallel()
	for name, upTo := range map[string]func(t *testing.T, m *moving, to *local.Project){
		"after the checkouts moved": func(t *testing.T, m *moving, to *local.Project) {
			require.NoError(t, os.Rename(m.was.Trees, to.Trees))
		},
		"after the repair": func(t *testing.T, m *moving, to *local.Project) {
			require.NoError(t, os.Rename(m.was.Trees, to.Trees))
			m.repo.Git("worktree", "repair", filepath.Join(to.Trees, "demo", ports.Base))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMoving(t)
			old := m.move(t)
			to, err := local.Find(t.Context(), m.opts)
			require.NoError(t, err)
			upTo(t, m, to)
			p, err := local.Moved(t.Context(), old, m.opts)
			require.NoError(t, err)
			m.requireWhole(t, p)
		})
	}
}

func TestFollowingAMoveIsRefusedWithNothingChanged(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(t *testing.T, m *moving) (old string)
		kind    ports.Kind
	}{
		"the repository has not moved": {func(t *testing.T, m *moving) string { return m.repo.Dir }, ports.Invalid},
		"nobody was there":             {func(t *testing.T, m *moving) string { return filepath.Join(m.repo.Dir, "nowhere") }, ports.NotFound},
		"something is still there": {func(t *testing.T, m *moving) string {
			old := m.move(t)
			require.NoError(t, os.MkdirAll(filepath.Join(old, ".git"), 0o700))
			return old
		}, ports.Conflicted},
		"there are records at the new place": {func(t *testing.T, m *moving) string {
			old := m.move(t)
			to, err := local.Find(t.Context(), m.opts)
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(filepath.Join(to.Home, "projects", to.Name, "runs", "mine"), 0o700))
			return old
		}, ports.Conflicted},
		"a run is in use": {func(t *testing.T, m *moving) string {
			set, err := local.New(t.Context(), m.opts)
			require.NoError(t, err)
			lock, err := set.Store.Lock(context.WithoutCancel(t.Context()), "demo")
			require.NoError(t, err)
			t.Cleanup(func() { _ = lock.Release() })
			return m.move(t)
		}, ports.Conflicted},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMoving(t)
			old := tc.prepare(t, m)
			_, err := local.Moved(t.Context(), old, m.opts)
			require.ErrorIs(t, err, tc.kind)
			require.NotContains(t, err.Error(), "\n")
			require.FileExists(t, filepath.Join(m.was.Home, "projects", m.was.Name, "runs", "demo", "run.json"))
			require.DirExists(t, filepath.Join(m.was.Trees, "demo", ports.Base))
		})
	}
}
