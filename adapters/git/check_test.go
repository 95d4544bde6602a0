package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

// A13.
func TestACheckNamesWhoIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	who, err := w.attach().Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Ann Author <ann@example.com>", who)
	for name, config := range map[string]string{
		"no address": "[user]\nuseConfigOnly = true\nname = x\n",
		"empty name": "[user]\nname =\nemail = x@example.com\n",
		"no one":     "[user]\nuseConfigOnly = true\n",
	} {
		w.write(filepath.Join(w.home, "gitconfig"), config)
		w.open()
		err := w.repo.Check(t.Context())
		require.ErrorIs(t, err, ports.Unavailable, name)
		require.ErrorContains(t, err, "who commits", name)
		_, err = w.attach().Identity(t.Context())
		require.ErrorIs(t, err, ports.Unavailable, name)
	}
	w.env = append(w.env, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com")
	w.open()
	require.NoError(t, w.repo.Check(t.Context()))
	who, err = w.attach().Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, "C <c@example.com>", who)
}

// A37.
func TestARepositoryWithoutACommitIsRefused(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	w.git(w.root, "init", "-q", w.dir)
	w.open()
	err := w.repo.Check(t.Context())
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorContains(t, err, "no commit yet")
	_, err = w.repo.Resolve(t.Context(), "HEAD")
	require.ErrorIs(t, err, ports.NotFound)
}

func TestEverythingThatIsWrongIsInOneError(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	w.git(w.root, "init", "-q", w.dir)
	w.write(filepath.Join(w.home, "gitconfig"), "[user]\nuseConfigOnly = true\n")
	logGit(t, w)
	fake := filepath.Join(w.root, "bin", "git")
	w.write(fake, strings.Replace(w.read(fake), "exec", "case \"$*\" in *version) echo 'git version 2.30.1 (Apple Git-130)'; exit;; esac\nexec", 1))
	w.open()
	err := w.repo.Check(t.Context())
	require.ErrorIs(t, err, ports.Invalid)
	for _, want := range []string{"git 2.30 is too old", "no commit yet", "who commits"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "\n")
}

func TestARepositoryThatCannotBeOpenedIsRefusedInOneLine(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	_, err := w.tryOpen(w.root)
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorContains(t, err, "not a git repository")
	_, err = w.tryOpen(filepath.Join(w.root, "none"))
	require.ErrorIs(t, err, ports.Invalid)

	w.git(w.root, "init", "-q", w.dir)
	fine := w.env
	w.env = append(fine[:len(fine):len(fine)], "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
	logGit(t, w) // git's own switch for this, which AGL's environment does not let through
	fake := filepath.Join(w.root, "bin", "git")
	w.write(fake, strings.Replace(w.read(fake), "exec", "GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec", 1))
	_, err = w.tryOpen(w.dir)
	require.ErrorIs(t, err, ports.Denied)
	require.ErrorContains(t, err, "safe.directory "+w.dir)
	require.NotContains(t, err.Error(), "\n")

	w.env = []string{"PATH=" + filepath.Join(w.root, "nothing")}
	_, err = w.tryOpen(w.dir)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "git is not installed")
}

func TestACheckoutCalledBareByAccidentIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.git(w.dir, "config", "core.bare", "true")
	w.open()
	err := w.repo.Check(t.Context())
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorContains(t, err, "core.bare")
}

func TestAMissingLFSFilterIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".gitattributes": "# nothing\n", "art/.gitattributes": "*.psd filter=lfs diff=lfs merge=lfs -text\n", "a.txt": "one\n"})
	require.NoError(t, w.repo.Check(t.Context()))
	_, err := w.attach().Open(t.Context(), basePlace(), w.base)
	require.ErrorIs(t, err, ports.Unavailable)
	require.ErrorContains(t, err, "git lfs install")

	w.write(filepath.Join(w.dir, ".gitattributes"), "*.bin filter=lfs\n")
	w.git(w.dir, "commit", "-q", "-am", "lfs")
	require.ErrorIs(t, w.repo.Check(t.Context()), ports.Unavailable)
	w.git(w.dir, "config", "filter.lfs.clean", "cat")
	require.NoError(t, w.repo.Check(t.Context()))
	whole(t, w, w.checkout(), w.base)
}

func TestPathsThatDifferOnlyInCaseAreRefusedWhereTheyAreOneFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README": "a\n", "readme": "b\n"})
	whole(t, w, w.checkout(), w.base)

	w = newWorld(t, map[string]string{"README": "a\n", "readme": "b\n"})
	w.git(w.dir, "config", "core.ignoreCase", "true")
	w.open()
	_, err := w.attach().Open(t.Context(), basePlace(), w.base)
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorContains(t, err, `"README" and "readme"`)
}

func TestHistoryAnswersAboutCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.git(w.dir, "commit", "-q", "--allow-empty", "-m", "second\n\nbody\n\n")
	w.git(w.dir, "tag", "-a", "-m", "tag", "v1")
	w.git(w.dir, "branch", "-q", "topic/x")
	second := w.git(w.dir, "rev-parse", "HEAD")
	ctx := t.Context()
	for _, rev := range []string{"HEAD", "main", "v1", "topic/x", second, second[:12], "@", "main@{0}"} {
		id, err := w.repo.Resolve(ctx, rev)
		require.NoError(t, err, rev)
		require.Equal(t, second, id, rev)
	}
	id, err := w.repo.Resolve(ctx, "HEAD~1")
	require.NoError(t, err)
	require.Equal(t, w.base, id)
	for _, rev := range []string{"none", "-x", "--all", "HEAD:a.txt", "HEAD^{tree}", "HEAD~7", "ab" + second[2:], "\n"} {
		_, err := w.repo.Resolve(ctx, rev)
		require.ErrorIs(t, err, ports.NotFound, rev)
	}
	_, err = w.repo.Resolve(ctx, "")
	require.ErrorIs(t, err, ports.Invalid)

	for _, c := range []struct {
		ancestor, descendant string
		want                 bool
	}{{w.base, second, true}, {second, w.base, false}, {second, second, true}} {
		got, err := w.repo.Contains(ctx, c.ancestor, c.descendant)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	gone := "ab" + second[2:]
	for _, pair := range [][2]string{{gone, second}, {second, gone}, {gone, gone}} {
		_, err := w.repo.Contains(ctx, pair[0], pair[1])
		require.ErrorIs(t, err, ports.NotFound)
	}
	message, err := w.repo.Message(ctx, second)
	require.NoError(t, err)
	require.Equal(t, "second\n\nbody", message)
	_, err = w.repo.Message(ctx, gone)
	require.ErrorIs(t, err, ports.NotFound)

	branch, err := w.repo.Default(ctx)
	require.NoError(t, err)
	require.Equal(t, "main", branch)
	w.git(w.dir, "checkout", "-q", "--detach")
	branch, err = w.repo.Default(ctx)
	require.NoError(t, err)
	require.Equal(t, "HEAD", branch)
}

func TestASHA256RepositoryWorks(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	w.git(w.root, "init", "-q", "-b", "main", "--object-format=sha256", w.dir)
	w.write(filepath.Join(w.dir, "a.txt"), "one\n")
	w.git(w.dir, "add", "-A")
	w.git(w.dir, "commit", "-q", "-m", "first")
	w.base = w.git(w.dir, "rev-parse", "HEAD")
	w.open()
	require.Len(t, w.base, 64)
	wholeStep(t, w)
}
