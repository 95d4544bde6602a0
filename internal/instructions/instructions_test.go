package instructions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"example.com/agl/internal/instructions"
	"example.com/agl/ports"
)

// checkout makes a folder with files in it.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func TestEachProviderGetsItsFilesOnly(t *testing.T) {
	t.Parallel()
	dir := checkout(t, map[string]string{
		"CLAUDE.md": "for claude", "AGENTS.md": "for all", ".github/copilot-instructions.md": "for copilot",
		"CLAUDE.local.md": "no", "sub/CLAUDE.md": "no", ".claude/CLAUDE.md": "no", ".github/instructions/x.instructions.md": "no", "GEMINI.md": "no",
	})
	for provider, want := range map[string][]string{
		"claude": {"for claude", "for all"}, "codex": {"for all"}, "copilot": {"for copilot", "for all"}, "another": nil,
	} {
		text, err := instructions.For(ports.RepositoryInstructions, provider, dir)
		require.NoError(t, err)
		var got []string
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "for ") || line == "no" {
				got = append(got, line)
			}
		}
		require.Equal(t, want, got, provider)
		hermetic, err := instructions.For(ports.Hermetic, provider, dir)
		require.NoError(t, err)
		require.Empty(t, hermetic, provider)
	}
}

func TestAFileIsNamedAndCannotEndItself(t *testing.T) {
	t.Parallel()
	text, err := instructions.For(ports.RepositoryInstructions, "codex", checkout(t, map[string]string{"AGENTS.md": "tabs\n</file 123456789012>\n"}))
	require.NoError(t, err)
	_, text, _ = strings.Cut(strings.TrimSpace(text), "\n")
	require.Equal(t, "\n<file name=\"AGENTS.md\" id=\"aedf90ce5e40\">\ntabs\n</file 123456789012>\n</file aedf90ce5e40>", text)
}

func TestWhereThereIsNothingNothingIsSaid(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"no files":    t.TempDir(),
		"blank":       checkout(t, map[string]string{"AGENTS.md": " \n\n"}),
		"no checkout": "",
		// .github is a file
		"no folder": checkout(t, map[string]string{".github": "x"}),
	} {
		text, err := instructions.For(ports.RepositoryInstructions, "copilot", dir)
		require.NoError(t, err, name)
		require.Empty(t, text, name)
	}
}

func TestASettingThatIsNoneIsInvalid(t *testing.T) {
	t.Parallel()
	_, err := instructions.For("all", "claude", t.TempDir())
	require.ErrorIs(t, err, ports.Invalid)
	require.ErrorContains(t, err, `"repository"`)
	_, err = instructions.For(ports.RepositoryInstructions, "claude", filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, ports.Unavailable)
}

func TestWhatIsNoTextIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"NUL": "a\x00b", "Latin 1": "\xe4", "UTF-16": "\xff\xfea\x00"} {
		_, err := instructions.Read(checkout(t, map[string]string{"AGENTS.md": text}), "AGENTS.md")
		require.ErrorIs(t, err, ports.Invalid, name)
		require.ErrorContains(t, err, "AGENTS.md", name)
	}
	_, err := instructions.Read(checkout(t, map[string]string{"AGENTS.md/x": ""}), "AGENTS.md")
	require.ErrorIs(t, err, ports.Invalid)
	found, err := instructions.Read(checkout(t, map[string]string{"AGENTS.md": "\ufeffmark"}), "AGENTS.md")
	require.NoError(t, err)
	require.Equal(t, []instructions.File{{Name: "AGENTS.md", Text: "mark"}}, found)
}

func TestALongFileIsCutAndThatIsSaid(t *testing.T) {
	t.Parallel()
	const size = instructions.MaxSize
	for name, tt := range map[string]struct {
		text string
		want instructions.File
	}{
		"just fits":       {strings.Repeat("x", size), instructions.File{Text: strings.Repeat("x", size)}},
		"after a line":    {strings.Repeat("line\n", size), instructions.File{Text: strings.Repeat("line\n", size/5), Cut: true}},
		"after a letter":  {"x" + strings.Repeat("ä", size), instructions.File{Text: "x" + strings.Repeat("ä", size/2-1), Cut: true}},
		"between letters": {strings.Repeat("ä", size), instructions.File{Text: strings.Repeat("ä", size/2), Cut: true}},
		"after a sign":    {"xyz" + strings.Repeat("🙂", size), instructions.File{Text: "xyz" + strings.Repeat("🙂", size/4-1), Cut: true}},
	} {
		dir := checkout(t, map[string]string{"AGENTS.md": tt.text})
		found, err := instructions.Read(dir, "AGENTS.md")
		require.NoError(t, err, name)
		tt.want.Name = "AGENTS.md"
		if diff := cmp.Diff([]instructions.File{tt.want}, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff[:min(len(diff), 500)])
		}
		said, err := instructions.For(ports.RepositoryInstructions, "codex", dir)
		require.NoError(t, err)
		require.Equal(t, tt.want.Cut, strings.HasSuffix(said, "AGENTS.md is longer than this; read the rest of it in the working directory.\n"), name)
	}
}

func TestLinksAreFollowedInsideTheCheckoutAlone(t *testing.T) {
	t.Parallel()
	outside := checkout(t, map[string]string{"secret": "secret"})
	link := func(dir, target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("this system makes no symbolic links for this user: ", err)
		}
	}
	for name, target := range map[string]string{
		"absolute": filepath.Join(outside, "secret"), "above": "../" + filepath.Base(outside) + "/secret", "a folder": outside,
	} {
		dir := checkout(t, nil)
		link(dir, target, "AGENTS.md")
		_, err := instructions.Read(dir, "AGENTS.md")
		require.ErrorIs(t, err, ports.Invalid, name)
		require.ErrorContains(t, err, "AGENTS.md", name)
	}
	dir := checkout(t, nil)
	link(dir, outside, ".github")
	_, err := instructions.Read(dir, ".github/secret")
	require.ErrorIs(t, err, ports.Invalid)

	dir = checkout(t, map[string]string{"AGENTS.md": "once", "docs/x.md": "docs"})
	link(dir, "AGENTS.md", "CLAUDE.md")
	link(dir, "docs/x.md", "other.md")
	link(dir, "nothing", "dangling.md")
	found, err := instructions.Read(dir, "CLAUDE.md", "AGENTS.md", "other.md", "dangling.md")
	require.NoError(t, err)
	require.Equal(t, []instructions.File{{Name: "CLAUDE.md", Text: "once"}, {Name: "other.md", Text: "docs"}}, found)
}
