package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/ports"
)

func TestSettingsAreReadStrictly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want string // of the error
	}{
		"a key nobody knows":       {"biuld = \"make\"", `key "biuld" is not known`},
		"a table nobody knows":     {"[build]\nx = 1", "build"},
		"a number for the build":   {"build = 3", "build"},
		"a number for the timeout": {"build_timeout = 600", `"600" is not a duration`},
		"no time at all":           {"build_timeout = \"0s\"", "not more than nothing"},
		"a relative folder":        {"trees = \"trees\"", "not an absolute path"},
		"an empty folder":          {"trees = \"\"", "not an absolute path"},
		"no TOML":                  {"build = \nx", "line 1"},
		"a key twice":              {"build = \"a\"\nbuild = \"b\"", "line 2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "project.toml")
			require.NoError(t, os.WriteFile(file, []byte(tc.text), 0o600))
			_, err := readSettings(file)
			require.ErrorIs(t, err, ports.Invalid)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, file)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestWrittenSettingsAreReadBack(t *testing.T) {
	t.Parallel()
	build := `go test "./..." && echo 'done\'`
	for name, want := range map[string]settings{
		"all of them":         {Repo: "/srv/a \"b\"/.git", Build: &build, BuildTimeout: duration(90 * time.Second), Trees: "/trees"},
		"only the repository": {Repo: "/srv/repo/.git"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "project.toml")
			require.NoError(t, writeSettings(file, want, "/default/trees"))
			got, err := readSettings(file)
			require.NoError(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrittenSettingsShowEveryKeyInAComment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "project.toml")
	require.NoError(t, writeSettings(file, settings{Repo: "/srv/repo/.git"}, "/default/trees"))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	// With the comments' marks gone from the settings it is a file that is read.
	all := strings.NewReplacer("# build", "build", "# trees", "trees").Replace(string(data))
	got, err := parseSettings([]byte(all))
	require.NoError(t, err)
	require.Equal(t, "go test ./...", *got.Build)
	require.Equal(t, defaultTimeout, time.Duration(got.BuildTimeout))
	require.Equal(t, "/default/trees", got.Trees)
}

func TestTheRepositoryOfASettingsFileChangesAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "project.toml")
	require.NoError(t, setRepo(file, "/new/.git")) // without a file there is nothing to do
	require.NoFileExists(t, file)
	require.NoError(t, os.WriteFile(file, []byte("# mine\nrepo = \"/old/.git\"\nbuild = \"make\" # fast\n"), 0o600))
	require.NoError(t, setRepo(file, "/new/.git"))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "# mine\nrepo = \"/new/.git\"\nbuild = \"make\" # fast\n", string(data))
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte("build = \"go test ./...\"\nbuild_timeout = \"90s\"\ntrees = \"/trees\"\nrepo = \"/repo/.git\"\n"))
	f.Add([]byte("[a]\nb = 1979-05-27\n"))
	f.Add([]byte("build = [1, 2]\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSettings(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		if s.Trees != "" && !filepath.IsAbs(s.Trees) || s.BuildTimeout < 0 {
			t.Errorf("settings that cannot be: %+v", s)
		}
	})
}
