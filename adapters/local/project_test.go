package local_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/local"
	"example.com/agl/internal/gittest"
	"example.com/agl/ports"
)

func ptr[T any](v T) *T { return &v }

func TestAProjectIsNamedByItsFolderAndItsCommonGitDirectory(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	home := t.TempDir()
	p, err := local.Find(t.Context(), local.Options{Repo: repo.Dir, Home: home, Env: repo.Env})
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(`^repo-[0-9a-f]{6}$`), p.Name)
	require.Equal(t, filepath.Join(repo.Dir, ".git"), p.Repo)
	require.Equal(t, filepath.Join(home, "trees", p.Name), p.Trees)
	require.Empty(t, p.Build)
	require.Equal(t, 10*time.Minute, p.BuildTimeout)

	linked := filepath.Join(t.TempDir(), "linked")
	repo.Git("worktree", "add", "--quiet", "--detach", linked)
	sub := filepath.Join(linked, "sub")
	require.NoError(t, os.Mkdir(sub, 0o700))
	alias := filepath.Join(t.TempDir(), "alias")
	require.NoError(t, os.Symlink(repo.Dir, alias))
	for _, place := range []string{linked, sub, alias, filepath.Join(repo.Dir, ".git")} {
		same, err := local.Find(t.Context(), local.Options{Repo: place, Home: home, Env: repo.Env})
		require.NoError(t, err)
		require.Equal(t, p, same, place)
	}

	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, entries, "finding a project writes nothing")
}

func TestARunStartsFromTheBranchOfTheCheckoutTheOperatorIsIn(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	linked := filepath.Join(t.TempDir(), "linked")
	repo.Git("worktree", "add", "--quiet", "-b", "side", linked)
	repo.Git("-C", linked, "commit", "--quiet", "--allow-empty", "--message", "on the side")
	for dir, want := range map[string]string{repo.Dir: "main", linked: "side", filepath.Join(repo.Dir, ".git"): "main"} {
		set, err := local.New(t.Context(), local.Options{Repo: dir, Home: t.TempDir(), Env: repo.Env})
		require.NoError(t, err)
		branch, err := set.History.Default(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, branch)
		head, err := set.History.Resolve(t.Context(), "HEAD")
		require.NoError(t, err)
		require.Equal(t, repo.Git("rev-parse", want), head)
	}
}

func TestGitMayBeToldToTakeGitDirectoriesForNobodys(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	config := filepath.Join(t.TempDir(), "gitconfig")
	require.NoError(t, os.WriteFile(config, []byte("[safe]\n\tbareRepository = explicit\n"), 0o600))
	_, err := local.New(t.Context(), local.Options{Repo: repo.Dir, Home: t.TempDir(), Env: append(repo.Env, "GIT_CONFIG_GLOBAL="+config)})
	require.NoError(t, err)
}

func TestAFolderOfAnyNameMakesAProject(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]string{
		"é b":    `^b-[0-9a-f]{6}$`,
		"...":    `^[0-9a-f]{6}$`,
		".dot.":  `^dot-[0-9a-f]{6}$`,
		"a b":    `^a-b-[0-9a-f]{6}$`,
		"x.git":  `^x\.git-[0-9a-f]{6}$`,
		"a\nb":   `^a-b-[0-9a-f]{6}$`,
		"-rf":    `^rf-[0-9a-f]{6}$`,
		"ok_1.2": `^ok_1\.2-[0-9a-f]{6}$`,
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			repo := gittest.Empty(t)
			dir := filepath.Join(filepath.Dir(repo.Dir), folder)
			require.NoError(t, os.Rename(repo.Dir, dir))
			p, err := local.Find(t.Context(), local.Options{Repo: dir, Home: t.TempDir(), Env: repo.Env})
			require.NoError(t, err)
			require.Regexp(t, want, p.Name)
		})
	}
}

func TestOptionsWinOverTheEnvironmentOverTheFileOverTheDefault(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	home, otherHome := t.TempDir(), t.TempDir()
	opts := local.Options{Repo: repo.Dir, Home: home, Env: repo.Env}
	_, err := local.Init(t.Context(), local.Options{
		Repo: repo.Dir, Home: home, Env: repo.Env,
		Build: ptr("from the file"), BuildTimeout: time.Second, Trees: "/from/the/file",
	})
	require.NoError(t, err)

	p, err := local.Find(t.Context(), opts)
	require.NoError(t, err)
	require.Equal(t, "from the file", p.Build)
	require.Equal(t, time.Second, p.BuildTimeout)
	require.Equal(t, filepath.Join("/from/the/file", p.Name), p.Trees)

	opts.Env = append(opts.Env, "AGL_HOME="+otherHome, "AGL_BUILD=from the environment", "AGL_BUILD_TIMEOUT=2s", "AGL_TREES=/from/the/environment")
	p, err = local.Find(t.Context(), opts)
	require.NoError(t, err)
	require.Equal(t, home, p.Home)
	require.Equal(t, "from the environment", p.Build)
	require.Equal(t, 2*time.Second, p.BuildTimeout)
	require.Equal(t, filepath.Join("/from/the/environment", p.Name), p.Trees)

	opts.Build, opts.BuildTimeout, opts.Trees = ptr(""), 3*time.Second, "/from/the/options"
	p, err = local.Find(t.Context(), opts)
	require.NoError(t, err)
	require.Empty(t, p.Build, "an empty build in the options says that there is none")
	require.Equal(t, 3*time.Second, p.BuildTimeout)
	require.Equal(t, filepath.Join("/from/the/options", p.Name), p.Trees)

	opts.Home = ""
	p, err = local.Find(t.Context(), opts)
	require.NoError(t, err)
	require.Equal(t, otherHome, p.Home)
}

func TestTheHomeFollowsTheXDGSpecification(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	for _, tc := range []struct {
		env  []string
		want string // of the home; an error if empty
	}{
		{[]string{"HOME=/u"}, "/u/.local/state/agl"},
		{[]string{"HOME=/u", "XDG_STATE_HOME=/state"}, "/state/agl"},
		{[]string{"HOME=/u", "XDG_STATE_HOME="}, "/u/.local/state/agl"},
		{[]string{"HOME=/u", "XDG_STATE_HOME=relative"}, "/u/.local/state/agl"},
		{[]string{"HOME=/u", "XDG_STATE_HOME=/state", "AGL_HOME=/agl/"}, "/agl"},
		{[]string{"HOME=", "USERPROFILE="}, ""},
		{[]string{"HOME=relative", "USERPROFILE="}, ""},
	} {
		p, err := local.Find(t.Context(), local.Options{Repo: repo.Dir, Env: append(repo.Env, tc.env...)})
		if tc.want == "" {
			require.ErrorIs(t, err, ports.Invalid, tc.env)
			require.ErrorContains(t, err, "AGL_HOME")
			continue
		}
		require.NoError(t, err, tc.env)
		require.Equal(t, tc.want, p.Home, tc.env)
	}
}

func TestBadSettingsAreRefusedInOneLine(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	inside := filepath.Join(repo.Dir, "trees")
	alias := filepath.Join(t.TempDir(), "alias")
	require.NoError(t, os.Symlink(repo.Dir, alias))
	linked := filepath.Join(t.TempDir(), "linked")
	repo.Git("worktree", "add", "--quiet", "--detach", linked)
	tests := map[string]struct {
		opts local.Options
		env  []string
		want string
	}{
		"an empty AGL_HOME":                    {env: []string{"AGL_HOME="}, want: "AGL_HOME is set and empty"},
		"an empty AGL_TREES":                   {env: []string{"AGL_TREES="}, want: "AGL_TREES is set and empty"},
		"an empty AGL_BUILD":                   {env: []string{"AGL_BUILD="}, want: "AGL_BUILD is set and empty"},
		"an empty AGL_BUILD_TIMEOUT":           {env: []string{"AGL_BUILD_TIMEOUT="}, want: "AGL_BUILD_TIMEOUT is set and empty"},
		"a timeout without a unit":             {env: []string{"AGL_BUILD_TIMEOUT=10"}, want: "AGL_BUILD_TIMEOUT"},
		"a timeout below nothing":              {opts: local.Options{BuildTimeout: -1}, want: "less than nothing"},
		"a relative home":                      {opts: local.Options{Home: "home"}, want: "not an absolute path"},
		"a relative home in the environment":   {env: []string{"AGL_HOME=home"}, want: "not an absolute path"},
		"relative trees":                       {opts: local.Options{Trees: "trees"}, want: "not an absolute path"},
		"trees in the repository":              {opts: local.Options{Trees: inside}, want: "inside the repository"},
		"trees that are the repository":        {opts: local.Options{Trees: repo.Dir}, want: "inside the repository"},
		"trees in the repository, by a link":   {opts: local.Options{Trees: filepath.Join(alias, "trees")}, want: "inside the repository"},
		"trees in the main checkout, not ours": {opts: local.Options{Repo: linked, Trees: inside}, want: "inside the repository"},
		"trees in a linked worktree":           {opts: local.Options{Repo: linked, Trees: linked}, want: "inside the repository"},
		"a home in the repository":             {opts: local.Options{Home: filepath.Join(repo.Dir, ".agl")}, want: "inside the repository"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.opts.Repo == "" {
				tc.opts.Repo = repo.Dir
			}
			tc.opts.Env = append(append([]string{}, repo.Env...), tc.env...)
			_, err := local.Find(t.Context(), tc.opts)
			require.ErrorIs(t, err, ports.Invalid)
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestAFolderThatIsNoRepositoryIsRefused(t *testing.T) {
	t.Parallel()
	_, err := local.Find(t.Context(), local.Options{Repo: t.TempDir(), Home: t.TempDir(), Env: gittest.Env(t)})
	require.ErrorIs(t, err, ports.Invalid)
	require.NotContains(t, err.Error(), "\n")
}

func TestInitWritesASettingsFileOnce(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	opts := local.Options{Repo: repo.Dir, Home: t.TempDir(), Env: repo.Env, Build: ptr("make check")}
	file, err := local.Init(t.Context(), opts)
	require.NoError(t, err)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(before), `build = "make check"`)
	require.Contains(t, string(before), filepath.Join(repo.Dir, ".git"))

	opts.Build = ptr("something else")
	_, err = local.Init(t.Context(), opts)
	require.ErrorIs(t, err, ports.Conflicted)
	require.ErrorContains(t, err, file)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestAnotherRepositorysSettingsAreNotUsed(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t, nil)
	opts := local.Options{Repo: repo.Dir, Home: t.TempDir(), Env: repo.Env}
	file, err := local.Init(t.Context(), opts)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("repo = \"/elsewhere/.git\"\n"), 0o600))
	_, err = local.Find(t.Context(), opts)
	require.ErrorIs(t, err, ports.Conflicted)
	require.ErrorContains(t, err, "/elsewhere/.git")
}
