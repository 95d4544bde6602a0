package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

// A bench is a repository with a checkout in which an agent worked.
type bench struct {
	t    testing.TB
	env  []string
	main string // the operator's checkout
	repo *Repo
	*checkout
	head string
}

// newBench makes a repository whose first commit holds files, by path; a value
// that begins with "->" is a link, one that begins with "#!" executable.
func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	return newBenchOf(t, "sha1", files)
}

// newBenchOf is newBench with an object format.
func newBenchOf(t testing.TB, format string, files map[string]string) *bench {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	b := &bench{t: t, main: filepath.Join(top, "main"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(top, "home"), "TMPDIR=" + os.TempDir(),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@localhost", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@localhost",
	}}
	gittest.Prepared(t, b.main, fmt.Sprintf("bench %s %q", format, files), func() {
		require.NoError(t, os.MkdirAll(b.main, 0o755))
		b.gitIn(b.main, "init", "-q", "-b", "main", "--object-format="+format)
		for p, content := range files {
			writeInto(t, b.main, p, content)
		}
		b.gitIn(b.main, "add", "-A", "-f")
		b.gitIn(b.main, "commit", "-q", "--allow-empty", "-m", "first")
	})
	head, err := os.ReadFile(filepath.Join(b.main, ".git", "refs", "heads", "main"))
	require.NoError(t, err)
	b.head = strings.TrimSpace(string(head))
	dir := filepath.Join(top, "trees", "_base")
	b.gitIn(b.main, "worktree", "add", "-q", "-b", "agl/job", dir)
	b.repo, err = Open(t.Context(), Options{
		Repo: b.main, Trees: filepath.Join(top, "trees"), SalvageDir: filepath.Join(top, "salvage"), Env: b.env,
	})
	require.NoError(t, err)
	b.checkout = &checkout{
		repo: b.repo, label: "job", namespace: "_base", branch: "agl/job",
		dir: dir, gitDir: filepath.Join(b.main, ".git", "worktrees", "_base"),
	}
	return b
}

// gitIn runs plain git in a folder, as an agent or a person would.
func (b *bench) gitIn(dir string, args ...string) string {
	b.t.Helper()
	out, err := b.tryGit(dir, args...)
	require.NoError(b.t, err, "git %v: %s", args, out)
	return strings.TrimRight(out, "\n")
}

func (b *bench) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, b.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// agent runs git in the checkout.
func (b *bench) agent(args ...string) string { b.t.Helper(); return b.gitIn(b.dir, args...) }

func (b *bench) write(p, content string) { b.t.Helper(); writeInto(b.t, b.dir, p, content) }

func writeInto(t testing.TB, dir, p, content string) {
	t.Helper()
	name := filepath.Join(dir, p)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	if target, ok := strings.CutPrefix(content, "->"); ok {
		_ = os.Remove(name)
		require.NoError(t, os.Symlink(target, name))
		return
	}
	perm := fs.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		perm = 0o755
	}
	require.NoError(t, os.WriteFile(name, []byte(content), perm))
	require.NoError(t, os.Chmod(name, perm))
}

func (b *bench) remove(p string) {
	b.t.Helper()
	require.NoError(b.t, os.RemoveAll(filepath.Join(b.dir, p)))
}

// keep salvages and requires that something was kept.
func (b *bench) keep() *ports.Salvage {
	b.t.Helper()
	s, err := b.salvage(b.t.Context(), b.head, "the step failed")
	require.NoError(b.t, err)
	require.NotNil(b.t, s, "nothing was salvaged")
	return s
}

// keepNothing salvages and requires that there was nothing to keep.
func (b *bench) keepNothing() {
	b.t.Helper()
	s, err := b.salvage(b.t.Context(), b.head, "the step failed")
	require.NoError(b.t, err)
	require.Nil(b.t, s)
}

// fetched returns the files of a salvage as another repository gets them by a
// plain fetch of its ref, without any conversion.
func (b *bench) fetched(s *ports.Salvage) map[string]string {
	b.t.Helper()
	dir := b.t.TempDir()
	b.gitIn(dir, "init", "-q", "--bare")
	b.gitIn(dir, "fetch", "-q", b.main, s.Ref+":refs/heads/fetched")
	b.gitIn(dir, "fsck", "--strict", "--no-dangling")
	return b.filesOf(dir, "refs/heads/fetched")
}

// filesOf returns the files of a commit in the form of newBench.
func (b *bench) filesOf(dir, commit string) map[string]string {
	b.t.Helper()
	type entry struct{ path, mode, id string }
	var entries []entry
	var wanted strings.Builder
	for line := range strings.SplitSeq(b.gitIn(dir, "ls-tree", "-r", "-z", commit), "\x00") {
		meta, p, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		f := strings.Fields(meta)
		entries = append(entries, entry{p, f[0], f[2]})
		if f[0] != modeRepo {
			fmt.Fprintln(&wanted, f[2])
		}
	}
	cmd := exec.Command("git", "cat-file", "--batch")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, b.env, strings.NewReader(wanted.String())
	out, err := cmd.Output()
	require.NoError(b.t, err)
	files := map[string]string{}
	for _, e := range entries {
		content := []byte("commit " + e.id)
		if e.mode != modeRepo {
			var id string
			var size int
			header, rest, _ := bytes.Cut(out, []byte("\n"))
			_, err := fmt.Sscanf(string(header), "%s blob %d", &id, &size)
			require.NoError(b.t, err, "%s: %s", e.path, header)
			require.Equal(b.t, e.id, id)
			content, out = rest[:size], rest[size+1:]
		}
		files[e.path] = describe(e.mode == modeLink, e.mode == modeExec, content)
	}
	return files
}

func describe(link, exec bool, content []byte) string {
	switch {
	case link:
		return "->" + string(content)
	case exec && !strings.HasPrefix(string(content), "#!"):
		return "(executable)" + string(content)
	case !exec && strings.HasPrefix(string(content), "#!"):
		return "(not executable)" + string(content)
	}
	return string(content)
}

// written returns the files that WriteSalvage writes, in the same form.
func (b *bench) written(n int) map[string]string {
	b.t.Helper()
	dir := filepath.Join(b.t.TempDir(), "out")
	require.NoError(b.t, b.repo.WriteSalvage(b.t.Context(), b.label, n, dir))
	return filesIn(b.t, dir)
}

// filesIn returns the files below a folder, but not a .git at its top.
func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, name)
		if err != nil || relErr != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case rel == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			files[filepath.ToSlash(rel)] = describe(true, false, []byte(target))
			return err
		case d.Type().IsRegular():
			content, err := os.ReadFile(name)
			files[filepath.ToSlash(rel)] = describe(false, info.Mode()&0o100 != 0, content)
			return err
		}
		return nil
	}))
	return files
}

// roundTrip salvages, and requires that both a fetch of the ref and
// WriteSalvage give exactly the files that are in the checkout now.
func (b *bench) roundTrip() *ports.Salvage {
	b.t.Helper()
	want := filesIn(b.t, b.dir)
	s := b.keep()
	if diff := cmp.Diff(want, b.fetched(s)); diff != "" {
		b.t.Errorf("fetched from %s (-in the checkout +fetched):\n%s", s.Ref, diff)
	}
	if diff := cmp.Diff(want, b.written(s.N)); diff != "" {
		b.t.Errorf("written (-in the checkout +written):\n%s", diff)
	}
	if diff := cmp.Diff(want, filesIn(b.t, b.dir)); diff != "" {
		b.t.Errorf("the checkout changed (-before +after):\n%s", diff)
	}
	return s
}

// list returns what Salvaged says.
func (b *bench) list() []ports.Salvage {
	b.t.Helper()
	list, err := b.repo.Salvaged(context.Background(), b.label)
	require.NoError(b.t, err)
	return list
}
